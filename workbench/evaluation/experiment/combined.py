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
    first_run = once(0, (), folder.path / "replicates" / "0")
    first_replays = first_run.replays
    is_steady = first_replays["model"].fillna("").isin(STEADY)
    varying = first_replays.loc[~is_steady, "strategy"].unique()
    names = [str(name) for name in varying if name not in REFERENCES]
    runs = [first_run]
    if names:
        for place in range(1, replicates):
            runs.append(once(place, names, folder.path / "replicates" / str(place)))
    every_score = _every_score(runs, names)
    replays = _all_replays(runs)
    pending = replays.loc[replays["status"] == "pending", _REPLAY]
    tables = {}
    for name, columns in COLUMNS.items():
        if "strategy" in columns and name != "variants":
            tables[name] = _without(first_run.table(name), pending)
    tables["replays"] = replays
    tables["replicates"] = every_score[list(COLUMNS["replicates"])]
    tables["scores"] = _without(_mean_scores(first_run.scores, every_score), pending)
    about = {
        "settings": {**first_run.manifest["settings"], "replicates": len(runs)},
        "seconds": round(sum(run.manifest["seconds"] for run in runs), 1),
    }
    strategies = [*first_replays["strategy"].unique(), *REFERENCES]
    return combined([(first_run, strategies)], folder, tables, about)


def _every_score(runs: Sequence[Results], strategies: Sequence[str]) -> pd.DataFrame:
    """The scores of these strategies in each replicate."""
    import pandas as pd

    parts = []
    for place, run in enumerate(runs):
        scores = run.scores[run.scores["strategy"].isin(strategies)]
        parts.append(scores.assign(replicate=place))
    return pd.concat(parts)


def _mean_scores(first_scores: pd.DataFrame, every_score: pd.DataFrame) -> pd.DataFrame:
    """The scores of the first run, with means where there are several replicates."""
    values = ["value", "scaled"]
    means = every_score.groupby(_PLACE, dropna=False)[values].mean()
    scores = first_scores.set_index(_PLACE)
    scores[values] = means.reindex(scores.index).combine_first(scores[values])
    return scores.reset_index()[list(COLUMNS["scores"])]


def _all_replays(runs: Sequence[Results]) -> pd.DataFrame:
    """The replays of the first run, with what all replicates asked and paid, and pending where
    one of them is.
    """
    import pandas as pd

    replays = runs[0].replays.set_index(_REPLAY)
    every_replay = pd.concat(
        [run.replays.assign(replicate=place) for place, run in enumerate(runs)]
    ).set_index(_REPLAY)
    for column in ("summaries", "written", "useless", "usd"):
        sums = every_replay.groupby(level=_REPLAY)[column].sum(min_count=1)
        replays[column] = sums.reindex(replays.index)
    pending = every_replay[every_replay["status"] == "pending"]
    pending = pending[~pending.index.duplicated()]
    if len(runs) > 1:
        where = "replicate " + pending["replicate"].astype("string") + ": "
        pending = pending.assign(reason=where + pending["reason"])
    columns = ["status", "reason"]
    replays.loc[pending.index, columns] = pending[columns]
    return replays.reset_index()[list(COLUMNS["replays"])]


def _without(table: pd.DataFrame, replays: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that are of none of these replays."""
    if replays.empty or "session" not in table:
        return table
    places = list(replays.itertuples(index=False, name=None))
    return table[~table.set_index(_REPLAY).index.isin(places)]


def steady(models: Sequence[object]) -> tuple[str, ...]:
    """The models that are asked at temperature 0, where most give the same answer each time."""
    known_models = [find_model(model) if isinstance(model, str) else model for model in models]
    language_models = [model for model in known_models if isinstance(model, LiteLLM)]
    return tuple(
        model.name
        for model in language_models
        if (model.options or provider_options(model.model)).temperature == 0
    )


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

    first_results = parts[0][0]
    tables: dict[str, pd.DataFrame] = {}
    for name in COLUMNS.keys() - own_tables.keys():
        tables[name] = first_results.table(name)
        if "strategy" in tables[name]:
            rows_by_part = [
                results.table(name).query("strategy in @names") for results, names in parts
            ]
            tables[name] = pd.concat(rows_by_part, ignore_index=True)
    windows = pd.concat([results.sessions[["session", "window_used"]] for results, _ in parts])
    differs = windows.groupby("session")["window_used"].nunique() > 1
    sessions = tables["sessions"]
    sessions.loc[sessions["session"].map(differs).fillna(False).astype(bool), "window_used"] = None
    folder.write(
        {**tables, **own_tables}, {**first_results.manifest, **about, "created": round(time())}
    )
    return Results.open(folder.local)
