"""What each strategy with recall shows, keeps within reach and loses, and what fetching it costs."""

from __future__ import annotations

import pandas as pd

from workbench.report.html import Html, empty, part
from workbench.report.tables import Tables


def within_reach(run: Tables) -> pd.DataFrame:
    """One row a strategy with recall, on its own trigger; docs/tables.md has the columns."""
    mine = run.paging[run.paging["mode"] == "natural"]
    known = (name for name in run.strategies if (mine["strategy"] == name).any())
    return pd.DataFrame([_row(run, name, mine[mine["strategy"] == name]) for name in known])


def _row(run: Tables, name: str, mine: pd.DataFrame) -> dict[str, object]:
    means = {
        column: run.mean_over_projects(mine.set_index("session")[column])
        for column in ("visible", "recoverable", "lost")
    }
    costs = run.costs[(run.costs["strategy"] == name) & run.costs["session"].isin(mine["session"])]
    priced = mine[mine["session"].isin(costs["session"])]
    whole, requests = costs["usd_uncompacted"].sum(), mine["requests"].sum()
    return {
        "strategy": name, "sessions": len(mine),
        **{column: None if mean is None else mean.mean for column, mean in means.items()},
        "fault_rate": mine["asked"].sum() / mine["items"].sum(),
        "calls": 100 * mine["calls"].sum() / requests if requests else None,
        "usd_recall": priced["usd_recall"].mean(),
        "saved": priced["net_saving"].sum() / whole if whole else None,
        "saved_without": costs["net_saving"].sum() / whole if whole else None,
    }  # fmt: skip


def paging_html(run: Tables) -> Html:
    """The strategies with recall; nothing where there is none."""
    rows = within_reach(run)
    return empty(data=rows) if rows.empty else part("paging", rows)
