"""What each strategy costs: the bill by part, and recall with its calls."""

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.findings.tables import Tables

PARTS = ("usd_input", "usd_read", "usd_write", "usd_output", "usd_summaries", "usd_fetching")


def by_cost(run: Tables) -> list[str]:
    """Contenders by what they cost, cheapest first, then the references."""
    means = run.costs.groupby("strategy", sort=True)["usd"].mean()
    names = means.sort_values(kind="stable").index
    contenders = [name for name in names if name not in REFERENCES]
    references = [name for name in REFERENCES if name in set(names)]
    return contenders + references


def bills(run: Tables) -> pd.DataFrame:
    """One row a strategy, means over sessions in USD; docs/reference/tables.md has the columns."""
    return pd.DataFrame([_bill(run, name) for name in by_cost(run)])


def _bill(run: Tables, name: str) -> dict[str, object]:
    costs = run.costs[run.costs["strategy"] == name]
    prompts = costs[["tokens_input", "tokens_read", "tokens_written"]].sum(axis=1)
    share_read = costs["tokens_read"] / prompts.where(prompts > 0)
    requests_to_even = (costs["even_at"] - costs["parted_at"]).dropna()
    row: dict[str, object] = {
        "strategy": name,
        "reference": name in REFERENCES,
        "sessions": len(costs),
    }
    columns = ["usd", *PARTS, "usd_uncompacted", "net_saving", "breaks"]
    row |= costs[columns].mean().to_dict()
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
    costs = run.costs
    is_compacted = costs["parted_at"].notna() & ~costs["strategy"].isin(REFERENCES)
    compacted = set(costs.loc[is_compacted, "session"])
    uncompacted_usd = costs.drop_duplicates("session").set_index("session")["usd_uncompacted"]
    candidates = []
    for session, usd in uncompacted_usd.items():
        if session in compacted or not compacted:
            candidates.append((float(usd), str(session)))
    if not candidates:
        return None
    _, session_in_the_middle = sorted(candidates)[len(candidates) // 2]
    return session_in_the_middle


def within_reach(run: Tables) -> pd.DataFrame:
    """One row a strategy with recall, on its own trigger; docs/reference/tables.md has the
    columns.
    """
    natural = run.paging[run.paging["mode"] == "natural"]
    rows = []
    for name in run.strategies:
        paging = natural[natural["strategy"] == name]
        if not paging.empty:
            rows.append(_row(run, name, paging))
    return pd.DataFrame(rows)


def _row(run: Tables, name: str, paging: pd.DataFrame) -> dict[str, object]:
    costs = run.costs[run.costs["strategy"] == name]
    costs = costs[costs["session"].isin(paging["session"])]
    priced = paging[paging["session"].isin(costs["session"])]
    uncompacted_usd = costs["usd_uncompacted"].sum()
    row: dict[str, object] = {"strategy": name, "sessions": len(paging)}
    by_session = paging.set_index("session")
    for column in ("visible", "recoverable", "lost"):
        estimate = run.mean_over_projects(by_session[column])
        row[column] = None if estimate is None else estimate.mean
    row["fault_rate"] = paging["asked"].sum() / paging["items"].sum()
    row["calls"] = _quotient(100 * paging["calls"].sum(), paging["requests"].sum())
    row["usd_recall"] = priced["usd_recall"].mean()
    row["saved"] = _quotient(priced["net_saving"].sum(), uncompacted_usd)
    row["saved_without"] = _quotient(costs["net_saving"].sum(), uncompacted_usd)
    return row


def _quotient(amount: float, total: float) -> float | None:
    """The amount over the total; None where the total is 0."""
    return amount / total if total else None
