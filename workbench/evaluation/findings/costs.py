"""What each strategy costs: the bill by part, and recall with its calls."""

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.findings.tables import Tables

PARTS = ("usd_input", "usd_read", "usd_write", "usd_output", "usd_summaries", "usd_fetching")


def by_cost(run: Tables) -> list[str]:
    """Contenders by what they cost, cheapest first, then the references."""
    means = run.costs.groupby("strategy", sort=True)["usd"].mean().sort_values(kind="stable").index
    contenders = [name for name in means if name not in REFERENCES]
    return [*contenders, *(name for name in REFERENCES if name in set(means))]


def bills(run: Tables) -> pd.DataFrame:
    """One row a strategy, means over sessions in USD; docs/reference/tables.md has the columns."""
    return pd.DataFrame([_bill(run, name) for name in by_cost(run)])


def _bill(run: Tables, name: str) -> dict[str, object]:
    strategy_costs = run.costs[run.costs["strategy"] == name]
    prompts = strategy_costs[["tokens_input", "tokens_read", "tokens_written"]].sum(axis=1)
    requests_to_even = (strategy_costs["even_at"] - strategy_costs["parted_at"]).dropna()
    return {
        "strategy": name,
        "reference": name in REFERENCES,
        "sessions": len(strategy_costs),
        **strategy_costs[["usd", *PARTS, "usd_uncompacted", "net_saving", "breaks"]]
        .mean()
        .to_dict(),
        **interval_columns("saved", run.net_saving(name)),
        "cache_read": float((strategy_costs["tokens_read"] / prompts.where(prompts > 0)).mean()),
        "compacted": int(strategy_costs["parted_at"].notna().sum()),
        "paid": len(requests_to_even),
        "even_after": float(requests_to_even.median()) if len(requests_to_even) else None,
    }


def typical(run: Tables) -> str | None:
    """The session in the middle by what it costs uncompacted, of those that some strategy
    compacted.
    """
    costs = run.costs
    cut = set(
        costs.loc[costs["parted_at"].notna() & ~costs["strategy"].isin(REFERENCES), "session"]
    )
    uncompacted_usd = costs.drop_duplicates("session").set_index("session")["usd_uncompacted"]
    candidates = sorted(
        (float(usd), str(session))
        for session, usd in uncompacted_usd.items()
        if session in cut or not cut
    )
    return candidates[len(candidates) // 2][1] if candidates else None


def within_reach(run: Tables) -> pd.DataFrame:
    """One row a strategy with recall, on its own trigger; docs/reference/tables.md has the
    columns.
    """
    mine = run.paging[run.paging["mode"] == "natural"]
    names = (name for name in run.strategies if (mine["strategy"] == name).any())
    return pd.DataFrame([_row(run, name, mine[mine["strategy"] == name]) for name in names])


def _row(run: Tables, name: str, mine: pd.DataFrame) -> dict[str, object]:
    means = {
        column: run.mean_over_projects(mine.set_index("session")[column])
        for column in ("visible", "recoverable", "lost")
    }
    costs = run.costs[(run.costs["strategy"] == name) & run.costs["session"].isin(mine["session"])]
    priced = mine[mine["session"].isin(costs["session"])]
    uncompacted_usd, requests = costs["usd_uncompacted"].sum(), mine["requests"].sum()
    return {
        "strategy": name,
        "sessions": len(mine),
        **{column: None if mean is None else mean.mean for column, mean in means.items()},
        "fault_rate": mine["asked"].sum() / mine["items"].sum(),
        "calls": 100 * mine["calls"].sum() / requests if requests else None,
        "usd_recall": priced["usd_recall"].mean(),
        "saved": priced["net_saving"].sum() / uncompacted_usd if uncompacted_usd else None,
        "saved_without": costs["net_saving"].sum() / uncompacted_usd if uncompacted_usd else None,
    }
