"""The scores of one metric out of a run's table, and the values that several strategies share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workbench.base.errors import UnknownName
from workbench.evaluation.experiment.store import Results
from workbench.evaluation.metrics import NAMES, WORK
from workbench.evaluation.metrics.metric import Better


def floats(column: pd.Series) -> pd.Series[float]:
    """A column of numbers as plain floats, NaN where there is none."""
    return pd.to_numeric(column).astype("Float64").astype("float64")


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """The table with numpy's columns in the place of those that know a missing value."""
    found = {}
    for name, column in table.items():
        if pd.api.types.is_numeric_dtype(column.dtype):
            found[name] = column.astype(
                "float64" if column.isna().any() or column.dtype.kind == "f" else "int64"
            )
        else:
            found[name] = column.fillna("").astype(object)
    return pd.DataFrame(found, columns=table.columns)


def with_projects(
    scores: pd.DataFrame, sessions: pd.DataFrame, by: str = "project"
) -> pd.DataFrame:
    """The scores of a run with the project of each session, which is the unit of all intervals and
    tests.

    Sessions of one project resemble each other, so that ten of them say less than ten of ten
    projects.

    Args:
        scores: the table of that name.
        sessions: likewise.
        by: `project` as the recording names it, `folder` of the file, or `session`, where each
            counts for itself.

    Returns:
        The scores with a column `project`; a session without a known project counts as a project.
    """
    if by == "session":
        return scores.assign(project=scores["session"])
    known = sessions.drop_duplicates("session").set_index("session")
    if by == "folder":
        known = known.assign(
            project=[str(Path(str(path)).parent) if path else "" for path in known["path"]]
        )
    found = scores["session"].map(known["project"])
    return scores.assign(project=found.where(found.notna() & (found != ""), scores["session"]))


def grouped(run: Results) -> pd.DataFrame:
    """The scores of a run with the project of each session, by the unit that the run was made
    with.
    """
    settings = run.manifest.get("settings")
    by = settings.get("group_by", "project") if isinstance(settings, Mapping) else "project"
    return with_projects(run.scores, run.sessions, str(by))


def projects_of(rows: pd.DataFrame) -> dict[str, str]:
    """The project of each session of some scores."""
    once = rows[["session", "project"]].drop_duplicates()
    return dict(zip(once["session"].map(str), once["project"].map(str), strict=True))


def select(
    scores: pd.DataFrame, metric: str, mode: str, share: float | None = None
) -> pd.DataFrame:
    """The scores of one metric out of a run's table, with plain numbers, at one share or (None) at
    all.

    The share is 0 in natural mode. Without a column `project` (`with_projects`) each session counts
    as a project.

    Raises:
        UnknownName: the table has no such metric or share; the message names those that it has.
    """
    known = scores[scores["mode"] == mode]
    rows = known[known["metric"] == metric]
    if rows.empty:
        raise UnknownName(f"metric of mode {mode!r}", metric, map(str, known["metric"].unique()))
    project = rows["project"] if "project" in rows else rows["session"]
    rows = rows.assign(
        share=floats(rows["share"]).fillna(0.0), value=floats(rows["value"]), project=project
    )
    at = rows if share is None else rows[(rows["share"] - share).abs() < 1e-9]
    if at.empty:
        raise UnknownName(
            "share of this run", f"{share:g}", (f"{one:g}" for one in rows["share"].unique())
        )
    return at


def leading_metric(*runs: pd.DataFrame, mode: str) -> str:
    """By which half of the headline strategies are ranked: the work, or names where too few
    sessions have the work.

    Args:
        *runs: tables `scores`; each has to have the work in at least half of the sessions that have
            a value.
        mode: `natural` or `matched`.
    """
    for scores in runs:
        rows = scores[
            (scores["mode"] == mode)
            & scores["metric"].isin([WORK, NAMES])
            & scores["value"].notna()
        ]
        with_work = rows.loc[rows["metric"] == WORK, "session"].nunique()
        if not with_work or 2 * with_work < rows["session"].nunique():
            return NAMES
    return WORK


def size_gains(rows: pd.DataFrame, at_sizes: pd.DataFrame) -> pd.Series[float]:
    """What the baseline gains where it is cut to the very size that a strategy used, not to the
    size asked for.

    Less this gain, the values of two strategies differ as they do at one size: from the baseline,
    exactly as from the baseline at that size.

    Args:
        rows: of the table `scores`, the baseline's among them.
        at_sizes: the table `baseline_at_sizes`, with one baseline.

    Returns:
        A number a row of `rows`; 0 for the baseline itself, for references, and for metrics and
            modes that the table
        does not have; missing where the baseline cannot be cut to that size.
    """
    place, names = ["session", "share", "metric"], ["strategy", "baseline"]
    rows, known = (
        table.assign(share=floats(table["share"]), value=floats(table["value"]))
        for table in (rows, at_sizes)
    )
    known = known[[*place, *names, "value"]].rename(columns={"value": "there"})
    asked = rows.loc[rows["mode"] == "matched", [*place, "strategy", "value"]]
    asked = asked.set_axis([*place, "baseline", "asked"], axis="columns")
    found = (
        rows[[*place, "strategy"]]
        .merge(known, "left", [*place, "strategy"])
        .merge(asked, "left", [*place, "baseline"])
    )
    return (
        (found["there"] - found["asked"]).where(found["baseline"].notna(), 0.0).set_axis(rows.index)
    )


def at_sizes_of(theirs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """The rows of one strategy as if it had used the sizes of another's; both with their `gain`,
    see `size_gains`.

    A row without a counterpart is as it was.
    """
    known = ours.set_index(["session", "share"])["gain"]
    places = pd.MultiIndex.from_frame(theirs[["session", "share"]])
    gain = pd.Series(known.reindex(places).to_numpy(), theirs.index).where(
        places.isin(known.index), theirs["gain"]
    )
    return theirs.assign(value=theirs["value"] - theirs["gain"] + gain)


def same_baseline(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether two runs have the same baseline at the sizes used, by their tables
    `baseline_at_sizes`.
    """
    return set(one["baseline"]) == set(other["baseline"]) != set()


def direction(rows: pd.DataFrame) -> Better:
    """Which way the metric of some scores is better."""
    return "lower" if (rows["better"] == "lower").any() else "higher"


def by_session(rows: pd.DataFrame) -> pd.DataFrame:
    """The values of `select`: (session, share) rows, a column a strategy."""
    return rows.pivot_table(
        index=["session", "share"], columns="strategy", values="value", observed=True
    )


def shared(wide: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Some strategies' values by session, a column each: the mean over the shares at which all
    of them have one.
    """
    return wide.reindex(columns=list(names)).astype(float).dropna().groupby(level="session").mean()
