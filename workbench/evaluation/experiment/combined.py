"""Several runs over the same sessions as one: replicates of a run, or the points of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from workbench.base.palette import REFERENCES
from workbench.engine.models import find_model
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import provider_options
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.table_columns import COLUMNS

if TYPE_CHECKING:
    import pandas as pd

STEADY = ("", "bundled", "extractive")
"""Models that answer the same each time: none, recorded answers, and the rule-based writer."""

_REPLAY = ["session", "strategy"]
_PLACE = ["session", "strategy", "mode", "share", "metric"]


def replicated(
    once: Callable[[int, Sequence[str], Path], Results], replicates: int, folder: RunFolder
) -> Results:
    """Run once, repeat the strategies that asked a model which may vary, and write one run of all.

    `scores` holds the means over the replicates, `replicates` each one's values, and `replays` what
    all of them asked and paid; all other tables are of the first. A strategy is pending in a
    session while one of its replicates is.

    Args:
        once: makes the run of that replicate under these strategies (none named: all) in that
            folder.
        replicates: >= 2.
        folder: of the combined run.
    """
    replicate_folder = folder.path / "replicates"
    first_run = once(0, (), replicate_folder / "0")
    names = _varying(first_run.replays)
    runs = [first_run]
    if names:
        for place in range(1, replicates):
            run = once(place, names, replicate_folder / str(place))
            runs.append(run)
    every_score = _every_score(runs, names)
    replays = _all_replays(runs)
    is_pending = replays["status"] == "pending"
    pending = replays.loc[is_pending, _REPLAY]
    tables: dict[str, pd.DataFrame] = {}
    for name, columns in COLUMNS.items():
        if "strategy" in columns and name != "variants":
            table = first_run.table(name)
            tables[name] = _without(table, pending)
    scores = _mean_scores(first_run.scores, every_score)
    tables["replays"] = replays
    tables["replicates"] = every_score[list(COLUMNS["replicates"])]
    tables["scores"] = _without(scores, pending)
    settings = dict(first_run.manifest["settings"])
    settings["replicates"] = len(runs)
    seconds = sum(run.manifest["seconds"] for run in runs)
    about = {"settings": settings, "seconds": round(seconds, 1)}
    strategies = first_run.replays["strategy"].unique()
    return combined([(first_run, [*strategies, *REFERENCES])], folder, tables, about)


def _varying(replays: pd.DataFrame) -> list[str]:
    """The strategies that asked a model which may vary."""
    models = replays["model"].fillna("")
    is_steady = models.isin(STEADY)
    strategies = replays.loc[~is_steady, "strategy"].unique()
    return [str(name) for name in strategies if name not in REFERENCES]


def _every_score(runs: Sequence[Results], strategies: Sequence[str]) -> pd.DataFrame:
    """The scores of these strategies in each replicate."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    for place, run in enumerate(runs):
        is_varying = run.scores["strategy"].isin(strategies)
        scores = run.scores[is_varying]
        parts.append(scores.assign(replicate=place))
    return pd.concat(parts)


def _mean_scores(first_scores: pd.DataFrame, every_score: pd.DataFrame) -> pd.DataFrame:
    """The scores of the first run, with means where there are several replicates."""
    values = ["value", "scaled"]
    places = every_score.groupby(_PLACE, dropna=False)
    means = places[values].mean()
    scores = first_scores.set_index(_PLACE)
    means_of_first = means.reindex(scores.index)
    scores[values] = means_of_first.combine_first(scores[values])
    scores = scores.reset_index()
    return scores[list(COLUMNS["scores"])]


def _all_replays(runs: Sequence[Results]) -> pd.DataFrame:
    """The replays of the first run, with what all replicates asked and paid, and pending where
    one of them is.
    """
    replays = runs[0].replays.set_index(_REPLAY)
    every_replay = _every_replay(runs)
    by_replay = every_replay.groupby(level=_REPLAY)
    for column in ("summaries", "written", "useless", "usd"):
        sums = by_replay[column].sum(min_count=1)
        replays[column] = sums.reindex(replays.index)
    is_pending = every_replay["status"] == "pending"
    pending = every_replay[is_pending]
    is_repeated = pending.index.duplicated()
    pending = pending[~is_repeated]
    if len(runs) > 1:
        number = pending["replicate"].astype("string")
        reason = "replicate " + number + ": " + pending["reason"]
        pending = pending.assign(reason=reason)
    columns = ["status", "reason"]
    replays.loc[pending.index, columns] = pending[columns]
    replays = replays.reset_index()
    return replays[list(COLUMNS["replays"])]


def _every_replay(runs: Sequence[Results]) -> pd.DataFrame:
    """The replays of each replicate, by session and strategy."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    for place, run in enumerate(runs):
        numbered = run.replays.assign(replicate=place)
        parts.append(numbered)
    every_replay = pd.concat(parts)
    return every_replay.set_index(_REPLAY)


def _without(table: pd.DataFrame, replays: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that are of none of these replays."""
    if replays.empty or "session" not in table:
        return table
    places = list(replays.itertuples(index=False, name=None))
    by_replay = table.set_index(_REPLAY)
    is_left_out = by_replay.index.isin(places)
    return table[~is_left_out]


def steady(models: Sequence[object]) -> tuple[str, ...]:
    """The models that are asked at temperature 0, where most give the same answer each time."""
    names: list[str] = []
    for model in models:
        if isinstance(model, str):
            model = find_model(model)
        if not isinstance(model, LiteLLM):
            continue
        options = model.options
        if not options:
            options = provider_options(model.model)
        if options.temperature == 0:
            names.append(model.name)
    return tuple(names)


def combined(
    parts: Sequence[tuple[Results, Sequence[str]]],
    folder: RunFolder,
    own_tables: Mapping[str, pd.DataFrame],
    about: Mapping[str, object],
) -> Results:
    """Write one run of several.

    Tables without a strategy are those of the first part, since the sessions are the same; where
    the windows in use differ, `window_used` is missing.

    Args:
        parts: finished runs, each with the strategies to take from it.
        folder: of the combined run.
        own_tables: tables that are not those of the parts, by name.
        about: fields of the manifest that differ from those of the first part.
    """
    import pandas as pd

    first_results, _ = parts[0]
    tables: dict[str, pd.DataFrame] = {}
    for name in COLUMNS.keys() - own_tables.keys():
        table = first_results.table(name)
        if "strategy" in table:
            rows_by_part: list[pd.DataFrame] = []
            for results, names in parts:
                rows_of_part = results.table(name)
                is_taken = rows_of_part["strategy"].isin(names)
                rows_by_part.append(rows_of_part[is_taken])
            table = pd.concat(rows_by_part, ignore_index=True)
        tables[name] = table
    sessions = tables["sessions"]
    has_several_windows = sessions["session"].isin(_with_several_windows(parts))
    sessions.loc[has_several_windows, "window_used"] = None
    tables.update(own_tables)
    manifest = dict(first_results.manifest)
    manifest.update(about)
    manifest["created"] = round(time())
    folder.write(tables, manifest)
    return Results.open(folder.local)


def _with_several_windows(parts: Sequence[tuple[Results, Sequence[str]]]) -> list[str]:
    """The sessions whose window differs between the parts."""
    import pandas as pd

    columns: list[pd.DataFrame] = []
    for results, _ in parts:
        columns.append(results.sessions[["session", "window_used"]])
    sessions = pd.concat(columns).groupby("session")
    window_counts = sessions["window_used"].nunique()
    return [str(name) for name, count in window_counts.items() if count > 1]
