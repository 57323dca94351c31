"""What each stage of a strategy is good for: the same strategy without it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workbench.analysis.paired import interval, pairs
from workbench.analysis.power import reporting_floor
from workbench.analysis.scores import by_session, select, shared
from workbench.compaction.presets import preset
from workbench.compaction.stage import Stage
from workbench.compaction.strategy import Preset
from workbench.errors import SettingError
from workbench.experiment.compare import compare
from workbench.experiment.sources import Unreadable
from workbench.experiment.spec import RunSpec
from workbench.experiment.store import Results
from workbench.transcript.session import Session

METRICS = (("recall", "matched"), ("recall", "natural"), ("tokens_saved", "natural"), ("cost", "natural"))
"""What is looked at: what is kept at equal size and on the strategy's own trigger, and what is saved and paid."""


def leave_one_out(
    what: Iterable[str | Path | Session] | str | Path | Session = (),
    strategy: str | Preset = "pipeline",
    *,
    spec: RunSpec | None = None,
    **settings: Any,  # noqa: ANN401 - see RunSpec
) -> pd.DataFrame:
    """Compare the strategy with itself without each of its stages, on the same sessions (ablation).

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        strategy: a name, or a preset of your own, with at least two stages (those of its view count).
        spec: a specification made before; further settings change it.
        **settings: fields of `RunSpec`.

    Returns:
        A row a stage and metric: `stage`, `metric`, `mode`, `unit`, `with_it` and `without_it` (means over sessions),
        `effect` (with less without: what the stage adds), `low` and `high` (95 %; missing where sessions are too few or
        all alike), `sessions`. In matched mode a session's value is its mean over the budgets to which
        both can be cut; there is no row where there are none.

    Raises:
        SettingError: the strategy has fewer than two stages, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    whole = preset(strategy) if isinstance(strategy, str) else strategy
    parts = dict(_without_each(whole))
    if len(parts) < 2:
        raise SettingError(f"the strategy {whole.name} has fewer than two stages, so that none can be left out")
    with tempfile.TemporaryDirectory() as folder:
        run = compare(what, spec=RunSpec.of(spec, settings).changed(strategies=[whole, *parts.values()], out=folder))
        rows = run.sessions
        if rows.empty or not (rows["status"] == "ok").any():
            bad = [Unreadable(row.path, row.reason).told for row in rows.itertuples()]
            raise SettingError(": ".join(("no session could be replayed", *bad[:1])))
        return stage_effects(run, whole.name, {stage: part.name for stage, part in parts.items()})


def _without_each(whole: Preset) -> Iterator[tuple[str, Preset]]:
    """Each stage's name with the preset that lacks it; a stage that stands there twice is left out twice."""
    strategy = whole.strategy
    for stage in dict.fromkeys(one.name for one in (*strategy.stages, *strategy.view)):
        less = replace(strategy, stages=_but(strategy.stages, stage), view=_but(strategy.view, stage))
        yield stage, replace(whole, name=f"{whole.name} without {stage}", strategy=less)


def _but(stages: Sequence[Stage], name: str) -> tuple[Stage, ...]:
    return tuple(stage for stage in stages if stage.name != name)


def stage_effects(run: Results, whole: str, without: Mapping[str, str]) -> pd.DataFrame:
    """The table of `leave_one_out`, from a run that holds the strategies.

    Args:
        run: with all of them.
        whole: the name of the strategy with all its stages.
        without: by stage, the name of the strategy without it.
    """
    rows = []
    for stage, name in without.items():
        for metric, mode in METRICS:
            known = run.scores[(run.scores["metric"] == metric) & (run.scores["mode"] == mode)]
            if known.empty:
                continue
            values = shared(by_session(select(run.scores, metric, mode)), whole, name)
            if values.empty:
                continue
            both = pairs(values[whole].to_dict(), values[name].to_dict())
            place = {"stage": stage, "metric": metric, "mode": mode, "unit": str(known["unit"].iloc[0])}
            means = {"with_it": values[whole].mean(), "without_it": values[name].mean()}
            effect = {"effect": float(np.mean(both.differences)), **_ends(both.differences), "sessions": both.n}
            rows.append(place | means | effect)
    columns = ["stage", "metric", "mode", "unit", "with_it", "without_it", "effect", "low", "high", "sessions"]
    return pd.DataFrame(rows, columns=columns)


def _ends(differences: Sequence[float]) -> dict[str, float | None]:
    if len(differences) < reporting_floor() or len(set(differences)) == 1:
        return {"low": None, "high": None}
    low, high = interval(differences)
    return {"low": float(low), "high": float(high)}
