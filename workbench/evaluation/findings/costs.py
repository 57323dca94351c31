"""What each strategy costs: the bill by part, and recall with its calls."""

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.analysis.table_rows import rows_of_contenders, rows_with
from workbench.evaluation.findings.tables import Tables

PARTS = (
    "usd_input",
    "usd_read",
    "usd_write",
    "usd_output",
    "usd_summaries",
    "usd_fetching",
)
"""The parts of a bill."""
MEANS = [
    "usd",
    *PARTS,
    "usd_uncompacted",
    "net_saving",
    "breaks",
]
"""What a bill has as means over sessions."""


def by_cost(run: Tables) -> list[str]:
    """Contenders by what they cost, cheapest first, then the references."""
    costs = run.costs.groupby("strategy", sort=True)
    mean_bills = costs["usd"].mean()
    names = mean_bills.sort_values(kind="stable").index
    contenders = [name for name in names if name not in REFERENCES]
    references = [name for name in REFERENCES if name in names]
    return contenders + references


def bills(run: Tables) -> pd.DataFrame:
    """One row a strategy, means over sessions in USD; docs/reference/tables.md has the columns."""
    rows = [_bill(run, name) for name in by_cost(run)]
    return pd.DataFrame(rows)


def _bill(run: Tables, name: str) -> dict[str, object]:
    costs = rows_with(run.costs, strategy=name)
    prompt_columns = costs[["tokens_input", "tokens_read", "tokens_written"]]
    prompts = prompt_columns.sum(axis=1)
    share_read = costs["tokens_read"] / prompts.where(prompts > 0)
    requests_to_even = costs["even_at"] - costs["parted_at"]
    requests_to_even = requests_to_even.dropna()
    row: dict[str, object] = {
        "strategy": name,
        "reference": name in REFERENCES,
        "sessions": len(costs),
    }
    row |= costs[MEANS].mean().to_dict()
    row |= interval_columns("saved", run.net_saving(name))
    row["cache_read"] = float(share_read.mean())
    row["compacted"] = int(costs["parted_at"].notna().sum())
    row["paid"] = len(requests_to_even)
    row["even_after"] = None
    if len(requests_to_even):
        row["even_after"] = float(requests_to_even.median())
    return row


def typical(run: Tables) -> str | None:
    """The session in the middle by what it costs uncompacted, of those that some strategy
    compacted.
    """
    contenders = rows_of_contenders(run.costs)
    is_compacted = contenders["parted_at"].notna()
    compacted = set(contenders.loc[is_compacted, "session"])
    sessions = run.costs.drop_duplicates("session")
    sessions = sessions.set_index("session")
    candidates: list[tuple[float, str]] = []
    for session, usd in sessions["usd_uncompacted"].items():
        if session in compacted or not compacted:
            candidates.append((float(usd), str(session)))
    if not candidates:
        return None
    candidates.sort()
    middle = len(candidates) // 2
    _, session_in_the_middle = candidates[middle]
    return session_in_the_middle


def within_reach(run: Tables) -> pd.DataFrame:
    """One row a strategy with recall, on its own trigger; docs/reference/tables.md has the
    columns.
    """
    rows = []
    for name in run.strategies:
        paging = rows_with(run.paging, mode="natural", strategy=name)
        if not paging.empty:
            rows.append(_row_within_reach(run, name, paging))
    return pd.DataFrame(rows)


def _row_within_reach(
    run: Tables,
    name: str,
    paging: pd.DataFrame,
) -> dict[str, object]:
    """The row of one strategy, from what recall was asked for in its sessions."""
    costs = rows_with(run.costs, strategy=name)
    is_paged = costs["session"].isin(paging["session"])
    costs = costs[is_paged]
    is_priced = paging["session"].isin(costs["session"])
    priced = paging[is_priced]
    counts = paging[["asked", "items", "calls", "requests"]]
    totals = counts.sum()
    bill = costs["usd_uncompacted"].sum()
    saved = priced["net_saving"].sum()
    saved_without = costs["estimated_saving"].sum()
    row: dict[str, object] = {
        "strategy": name,
        "sessions": len(paging),
    }
    by_session = paging.set_index("session")
    for column in ("visible", "recoverable", "lost"):
        estimate = run.mean_over_projects(by_session[column])
        row[column] = None if estimate is None else estimate.mean
    row["fault_rate"] = totals["asked"] / totals["items"]
    row["calls"] = _quotient(100 * totals["calls"], totals["requests"])
    row["usd_recall"] = priced["usd_recall"].mean()
    row["saved"] = _quotient(saved, bill)
    row["saved_without"] = _quotient(saved_without, bill)
    return row


def _quotient(amount: float, total: float) -> float | None:
    """The amount over the total; None where the total is 0."""
    if not total:
        return None
    return amount / total
