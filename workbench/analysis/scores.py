"""The scores of one metric out of a run's table, and the values that several strategies share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workbench.errors import UnknownName
from workbench.experiment.store import Results
from workbench.metrics.metric import Better


def floats(column: pd.Series) -> pd.Series[float]:
    """A column of numbers as plain floats, NaN where there is none."""
    return pd.to_numeric(column).astype("Float64").astype("float64")


def with_projects(scores: pd.DataFrame, sessions: pd.DataFrame, by: str = "project") -> pd.DataFrame:
    """The scores of a run with the project of each session, which is the unit of all intervals and tests.

    Sessions of one project resemble each other, so that ten of them say less than ten of ten projects.

    Args:
        scores: the table of that name.
        sessions: likewise.
        by: `project` as the recording names it, `folder` of the file, or `session`, where each counts for itself.

    Returns:
        The scores with a column `project`; a session without a known project counts as a project.
    """
    if by == "session":
        return scores.assign(project=scores["session"])
    known = sessions.drop_duplicates("session").set_index("session")
    if by == "folder":
        known = known.assign(project=[str(Path(str(path)).parent) if path else "" for path in known["path"]])
    found = scores["session"].map(known["project"])
    return scores.assign(project=found.where(found.notna() & (found != ""), scores["session"]))


def grouped(run: Results) -> pd.DataFrame:
    """The scores of a run with the project of each session, by the unit that the run was made with."""
    settings = run.manifest.get("settings")
    by = settings.get("group_by", "project") if isinstance(settings, Mapping) else "project"
    return with_projects(run.scores, run.sessions, str(by))


def projects_of(rows: pd.DataFrame) -> dict[str, str]:
    """The project of each session of some scores."""
    once = rows[["session", "project"]].drop_duplicates()
    return dict(zip(once["session"].map(str), once["project"].map(str), strict=True))


def select(scores: pd.DataFrame, metric: str, mode: str, share: float | None = None) -> pd.DataFrame:
    """The scores of one metric out of a run's table, with plain numbers, at one share or (None) at all.

    The share is 0 in natural mode. Without a column `project` (`with_projects`) each session counts as a project.

    Raises:
        UnknownName: the table has no such metric or share; the message names those that it has.
    """
    known = scores[scores["mode"] == mode]
    rows = known[known["metric"] == metric]
    if rows.empty:
        raise UnknownName(f"metric of mode {mode!r}", metric, map(str, known["metric"].unique()))
    project = rows["project"] if "project" in rows else rows["session"]
    rows = rows.assign(share=floats(rows["share"]).fillna(0.0), value=floats(rows["value"]), project=project)
    at = rows if share is None else rows[(rows["share"] - share).abs() < 1e-9]
    if at.empty:
        raise UnknownName("share of this run", f"{share:g}", (f"{one:g}" for one in rows["share"].unique()))
    return at


def baseline_values(at_sizes: pd.DataFrame, metric: str) -> pd.DataFrame:
    """What the baseline scores at the sizes that the others used, shaped as `by_session`; from `baseline_at_sizes`."""
    rows = at_sizes[at_sizes["metric"] == metric]
    rows = rows.assign(share=floats(rows["share"]), value=floats(rows["value"]))
    return rows.set_index(["session", "share", "strategy"])["value"].unstack("strategy")


def direction(rows: pd.DataFrame) -> Better:
    """Which way the metric of some scores is better."""
    return "lower" if (rows["better"] == "lower").any() else "higher"


def by_session(rows: pd.DataFrame) -> pd.DataFrame:
    """The values of `select`: (session, share) rows, a column a strategy."""
    return rows.pivot_table(index=["session", "share"], columns="strategy", values="value", observed=True)


def shared(wide: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Some strategies' values by session, a column each: the mean over the shares at which all of them have one."""
    return wide.reindex(columns=list(names)).astype(float).dropna().groupby(level="session").mean()
