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
    if column.dtype == "float64":
        return column
    numbers = pd.to_numeric(column)
    known_numbers = numbers.astype("Float64")
    return known_numbers.astype("float64")


def shares_of(rows: pd.DataFrame) -> pd.Series[float]:
    """The column `share` as plain floats; 0 in natural mode."""
    shares = floats(rows["share"])
    return shares.fillna(0.0)


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """The table with numpy's columns in the place of those that know a missing value."""
    columns = {}
    for name, column in table.items():
        columns[name] = _plain_column(column)
    return pd.DataFrame(columns, columns=table.columns)


def _plain_column(column: pd.Series) -> pd.Series:
    if not pd.api.types.is_numeric_dtype(column.dtype):
        texts = column.fillna("")
        return texts.astype(object)
    is_float = column.dtype.kind == "f"
    if is_float or column.isna().any():
        return column.astype("float64")
    return column.astype("int64")


def with_projects(
    scores: pd.DataFrame,
    sessions: pd.DataFrame,
    by: str = "project",
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
    sessions = sessions.drop_duplicates("session")
    sessions = sessions.set_index("session")
    projects = sessions["project"]
    if by == "folder":
        folders = [_folder(path) for path in sessions["path"]]
        projects = pd.Series(folders, sessions.index)
    project = scores["session"].map(projects)
    is_known = project.notna() & (project != "")
    project = project.where(is_known, scores["session"])
    return scores.assign(project=project)


def _folder(path: object) -> str:
    """The folder of a file; empty without a file."""
    if not path:
        return ""
    file = Path(str(path))
    return str(file.parent)


def grouped(run: Results) -> pd.DataFrame:
    """The scores of a run with the project of each session, by the run's own unit."""
    settings = run.manifest.get("settings")
    unit = "project"
    if isinstance(settings, Mapping):
        unit = str(settings.get("group_by", unit))
    return with_projects(run.scores, run.sessions, unit)


def projects_of(rows: pd.DataFrame) -> dict[str, str]:
    """The project of each session of some scores."""
    columns = rows[["session", "project"]]
    pairs = columns.drop_duplicates()
    projects: dict[str, str] = {}
    for session, project in pairs.itertuples(index=False, name=None):
        projects[str(session)] = str(project)
    return projects


def select(
    scores: pd.DataFrame,
    metric: str,
    mode: str,
    share: float | None = None,
) -> pd.DataFrame:
    """The scores of one metric out of a run's table, with plain numbers, at one share or (None) at
    all.

    The share is 0 in natural mode. Without a column `project` (`with_projects`) each session counts
    as a project.

    Raises:
        UnknownName: the table has no such metric or share; the message names those that it has.
    """
    is_of_mode = scores["mode"] == mode
    of_mode = scores[is_of_mode]
    is_of_metric = of_mode["metric"] == metric
    rows = of_mode[is_of_metric]
    if rows.empty:
        metrics = map(str, of_mode["metric"].unique())
        raise UnknownName(f"metric of mode {mode!r}", metric, metrics)
    unit = "project" if "project" in rows else "session"
    rows = rows.assign(
        share=shares_of(rows),
        value=floats(rows["value"]),
        project=rows[unit],
    )
    if share is None:
        return rows
    return _at_share(rows, share)


def _at_share(rows: pd.DataFrame, share: float) -> pd.DataFrame:
    """The rows at one share."""
    distances = (rows["share"] - share).abs()
    at_share = rows[distances < 1e-9]
    if at_share.empty:
        shares = rows["share"].unique()
        names = [f"{known_share:g}" for known_share in shares]
        raise UnknownName("share of this run", f"{share:g}", names)
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
        if not _has_the_work(scores, mode):
            return NAMES
    return WORK


def _has_the_work(scores: pd.DataFrame, mode: str) -> bool:
    """Whether at least half of the sessions that have a value have the work."""
    is_of_mode = scores["mode"] == mode
    is_of_headline = scores["metric"].isin([WORK, NAMES])
    is_scored = scores["value"].notna()
    rows = scores[is_of_mode & is_of_headline & is_scored]
    is_work = rows["metric"] == WORK
    sessions_with_work = rows.loc[is_work, "session"]
    with_work = int(sessions_with_work.nunique())
    session_count = int(rows["session"].nunique())
    if not with_work:
        return False
    return 2 * with_work >= session_count


def size_gains(
    rows: pd.DataFrame,
    at_sizes: pd.DataFrame,
) -> pd.Series[float]:
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
    place_and_strategy = [*place, "strategy"]
    place_and_baseline = [*place, "baseline"]
    rows = rows.assign(
        share=floats(rows["share"]),
        value=floats(rows["value"]),
    )
    at_used_size = at_sizes[[*place_and_strategy, "baseline"]]
    at_used_size = at_used_size.assign(
        share=floats(at_sizes["share"]),
        value_at_used_size=floats(at_sizes["value"]),
    )
    is_matched = rows["mode"] == "matched"
    at_asked_size = rows.loc[is_matched, [*place_and_strategy, "value"]]
    at_asked_size = at_asked_size.set_axis(
        [*place_and_baseline, "value_at_asked_size"], axis="columns"
    )
    values = rows[place_and_strategy]
    values = values.merge(at_used_size, "left", place_and_strategy)
    values = values.merge(at_asked_size, "left", place_and_baseline)
    gains = values["value_at_used_size"] - values["value_at_asked_size"]
    has_baseline = values["baseline"].notna()
    gains = gains.where(has_baseline, 0.0)
    return gains.set_axis(rows.index)


def at_sizes_of(theirs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """The rows of one strategy as if it had used the sizes of another's; both with their `gain`,
    see `size_gains`.

    A row without a counterpart is as it was.
    """
    place = ["session", "share"]
    by_place = ours.set_index(place)
    our_gain = by_place["gain"]
    their_gain = theirs["gain"]
    places = pd.MultiIndex.from_frame(theirs[place])
    has_counterpart = places.isin(our_gain.index)
    gain_there = our_gain.reindex(places)
    gain = pd.Series(gain_there.to_numpy(), theirs.index)
    gain = gain.where(has_counterpart, their_gain)
    value = theirs["value"] - their_gain + gain
    return theirs.assign(value=value)


def same_baseline(at_sizes: pd.DataFrame, other_at_sizes: pd.DataFrame) -> bool:
    """Whether two runs have the same baseline at the sizes used, by their tables
    `baseline_at_sizes`.
    """
    baselines = set(at_sizes["baseline"])
    other_baselines = set(other_at_sizes["baseline"])
    return bool(baselines) and baselines == other_baselines


def direction(rows: pd.DataFrame) -> Better:
    """Which way the metric of some scores is better."""
    is_lower = rows["better"] == "lower"
    if is_lower.any():
        return "lower"
    return "higher"


def by_session(rows: pd.DataFrame) -> pd.DataFrame:
    """The values of `select`: (session, share) rows, a column a strategy."""
    place = ["session", "share", "strategy"]
    places = rows.groupby(place, observed=True)
    means = places["value"].mean()
    known_means = means.dropna()
    return known_means.unstack("strategy")


def shared(wide: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Some strategies' values by session, a column each: the mean over the shares at which all
    of them have one.
    """
    columns = wide.reindex(columns=list(names))
    values = columns.astype(float)
    complete_rows = values.dropna()
    sessions = complete_rows.groupby(level="session")
    return sessions.mean()
