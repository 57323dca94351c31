"""The scores of one metric out of a run's table, and the values that several strategies share."""

from __future__ import annotations

import pandas as pd

from workbench.errors import UnknownName
from workbench.metrics.metric import Better


def floats(column: pd.Series) -> pd.Series[float]:
    """A column of numbers as plain floats, NaN where there is none."""
    return pd.to_numeric(column).astype("Float64").astype("float64")


def select(scores: pd.DataFrame, metric: str, mode: str, share: float | None = None) -> pd.DataFrame:
    """The scores of one metric out of a run's table, with plain numbers, at one share or (None) at all.

    The share is 0 in natural mode.

    Raises:
        UnknownName: the table has no such metric or share; the message names those that it has.
    """
    known = scores[scores["mode"] == mode]
    rows = known[known["metric"] == metric]
    if rows.empty:
        raise UnknownName(f"metric of mode {mode!r}", metric, map(str, known["metric"].unique()))
    rows = rows.assign(share=floats(rows["share"]).fillna(0.0), value=floats(rows["value"]))
    at = rows if share is None else rows[(rows["share"] - share).abs() < 1e-9]
    if at.empty:
        raise UnknownName("share of this run", f"{share:g}", (f"{one:g}" for one in rows["share"].unique()))
    return at


def direction(rows: pd.DataFrame) -> Better:
    """Which way the metric of some scores is better."""
    return "lower" if (rows["better"] == "lower").any() else "higher"


def by_session(rows: pd.DataFrame) -> pd.DataFrame:
    """The values of `select`: (session, share) rows, a column a strategy."""
    return rows.pivot_table(index=["session", "share"], columns="strategy", values="value", observed=True)


def shared(wide: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Some strategies' values by session, a column each: the mean over the shares at which all of them have one."""
    return wide.reindex(columns=list(names)).astype(float).dropna().groupby(level="session").mean()
