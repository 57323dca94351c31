"""The scores of one metric out of a run's table, and the values that several strategies share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workbench.base.errors import UnknownName
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.metrics import NAMES, WORK
from workbench.evaluation.metrics.metric import Better


def floats(column: pd.Series) -> pd.Series[float]:
    """A column of numbers as plain floats, NaN where there is none."""
    return pd.to_numeric(column).astype("Float64").astype("float64")


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """The table with numpy's columns in the place of those that know a missing value."""
    columns = {}
    for name, column in table.items():
        if not pd.api.types.is_numeric_dtype(column.dtype):
            columns[name] = column.fillna("").astype(object)
        elif column.isna().any() or column.dtype.kind == "f":
            columns[name] = column.astype("float64")
        else:
            columns[name] = column.astype("int64")
    return pd.DataFrame(columns, columns=table.columns)


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
    sessions = sessions.drop_duplicates("session").set_index("session")
    if by == "folder":
        sessions = sessions.assign(project=[_folder(path) for path in sessions["path"]])
    project = scores["session"].map(sessions["project"])
    is_known = project.notna() & (project != "")
    return scores.assign(project=project.where(is_known, scores["session"]))


def _folder(path: object) -> str:
    """The folder of a file; empty without a file."""
    return str(Path(str(path)).parent) if path else ""


def grouped(run: Results) -> pd.DataFrame:
    """The scores of a run with the project of each session, by the run's own unit."""
    settings = run.manifest.get("settings")
    unit = "project"
    if isinstance(settings, Mapping):
        unit = str(settings.get("group_by", unit))
    return with_projects(run.scores, run.sessions, unit)


def projects_of(rows: pd.DataFrame) -> dict[str, str]:
    """The project of each session of some scores."""
    pairs = rows[["session", "project"]].drop_duplicates()
    return dict(zip(pairs["session"].map(str), pairs["project"].map(str), strict=True))


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
    of_mode = scores[scores["mode"] == mode]
    rows = of_mode[of_mode["metric"] == metric]
    if rows.empty:
        metrics = map(str, of_mode["metric"].unique())
        raise UnknownName(f"metric of mode {mode!r}", metric, metrics)
    rows = rows.assign(
        share=floats(rows["share"]).fillna(0.0),
        value=floats(rows["value"]),
        project=rows["project"] if "project" in rows else rows["session"],
    )
    if share is None:
        return rows
    at_share = rows[(rows["share"] - share).abs() < 1e-9]
    if at_share.empty:
        shares = [f"{known_share:g}" for known_share in rows["share"].unique()]
        raise UnknownName("share of this run", f"{share:g}", shares)
    return at_share


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
        modes that the table does not have; missing where the baseline cannot be cut to that size.
    """
    place = ["session", "share", "metric"]
    rows = rows.assign(share=floats(rows["share"]), value=floats(rows["value"]))
    at_used_size = at_sizes[[*place, "strategy", "baseline"]].assign(
        share=floats(at_sizes["share"]), value_at_used_size=floats(at_sizes["value"])
    )
    matched = rows.loc[rows["mode"] == "matched", [*place, "strategy", "value"]]
    at_asked_size = matched.set_axis([*place, "baseline", "value_at_asked_size"], axis="columns")
    values = rows[[*place, "strategy"]]
    values = values.merge(at_used_size, "left", [*place, "strategy"])
    values = values.merge(at_asked_size, "left", [*place, "baseline"])
    gains = values["value_at_used_size"] - values["value_at_asked_size"]
    return gains.where(values["baseline"].notna(), 0.0).set_axis(rows.index)


def at_sizes_of(theirs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """The rows of one strategy as if it had used the sizes of another's; both with their `gain`,
    see `size_gains`.

    A row without a counterpart is as it was.
    """
    our_gain = ours.set_index(["session", "share"])["gain"]
    places = pd.MultiIndex.from_frame(theirs[["session", "share"]])
    gain = pd.Series(our_gain.reindex(places).to_numpy(), theirs.index)
    gain = gain.where(places.isin(our_gain.index), theirs["gain"])
    return theirs.assign(value=theirs["value"] - theirs["gain"] + gain)


def same_baseline(at_sizes: pd.DataFrame, other_at_sizes: pd.DataFrame) -> bool:
    """Whether two runs have the same baseline at the sizes used, by their tables
    `baseline_at_sizes`.
    """
    baselines = set(at_sizes["baseline"])
    return bool(baselines) and baselines == set(other_at_sizes["baseline"])


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
    complete_rows = wide.reindex(columns=list(names)).astype(float).dropna()
    return complete_rows.groupby(level="session").mean()
