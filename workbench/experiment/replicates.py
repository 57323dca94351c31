"""The same run several times, where a model answers otherwise each time: means, and how much of it is the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.experiment.combined import Part, combined
from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import COLUMNS
from workbench.models import find_model
from workbench.models.litellm import LiteLLM
from workbench.models.local import Local
from workbench.models.model import Model
from workbench.models.provider_options import provider_options
from workbench.palette import REFERENCES

if TYPE_CHECKING:
    import pandas as pd

STEADY = ("", "extractive")
"""Who answers the same each time: nobody, and the model that picks lines."""

_PLACE = ["session", "strategy", "mode", "share", "metric"]


def replicated(once: Callable[[int, Sequence[str], Path], Results], replicates: int, folder: RunFolder) -> Results:
    """Run once, repeat the strategies that asked a model which may answer otherwise, and write one run of all.

    `scores` holds the means over the replicates, `replicates` each one's values; all other tables are of the first.

    Args:
        once: makes the run of that replicate under these strategies (none named: all) in that folder.
        replicates: >= 2.
        folder: of the run that is written.
    """
    import pandas as pd

    first = once(0, (), folder.path / "replicates" / "0")
    replays = first.replays
    varying = replays.loc[~replays["model"].fillna("").isin(STEADY), "strategy"].unique()
    names = [str(name) for name in varying if name not in REFERENCES]
    runs = [first]
    if names:
        runs += [once(place, names, folder.path / "replicates" / str(place)) for place in range(1, replicates)]
    every = pd.concat(
        [run.scores[run.scores["strategy"].isin(names)].assign(replicate=place) for place, run in enumerate(runs)]
    )
    tables = {"replicates": every[list(COLUMNS["replicates"])], "scores": _means(first.scores, every)}
    everything = {str(name): str(name) for name in replays["strategy"].unique()} | dict(
        zip(REFERENCES, REFERENCES, strict=True)
    )
    about = {
        "settings": {**_settings(first), "replicates": len(runs)},
        "seconds": round(sum(float(str(run.manifest["seconds"])) for run in runs), 1),
    }
    return combined([Part(first, everything)], folder, tables, about)


def steady(models: Sequence[str | Model]) -> tuple[str, ...]:
    """The models that are asked at temperature 0, where most give the same answer each time."""
    found = [find_model(one) if isinstance(one, str) else one for one in models]
    return tuple(one.name for one in found if isinstance(one, Local) or _is_cold(one))


def _is_cold(model: Model) -> bool:
    return isinstance(model, LiteLLM) and (model.options or provider_options(model.model)).temperature == 0


def _means(scores: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """The scores with the means of the values that there are."""
    means = every.groupby(_PLACE, dropna=False)[["value", "scaled"]].mean().reset_index()
    both = scores.merge(means, on=_PLACE, how="left", suffixes=("", "_mean"))
    for column in ("value", "scaled"):
        both[column] = both[f"{column}_mean"].fillna(both[column])
    return both[list(scores.columns)]


def _settings(results: Results) -> dict[str, object]:
    found = results.manifest["settings"]
    return dict(found) if isinstance(found, dict) else {}
