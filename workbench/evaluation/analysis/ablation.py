"""The contribution of each stage of a strategy: the same strategy without it."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import pandas as pd

from workbench.base.errors import SettingError, Unanswered
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.compared import compare_table
from workbench.evaluation.analysis.scores import at_sizes_of, grouped, select, size_gains
from workbench.evaluation.experiment.compare import compare
from workbench.evaluation.experiment.prepared import Unreadable
from workbench.evaluation.experiment.settings import RunSettings
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.store import Results
from workbench.evaluation.metrics import NAMES

METRICS = ((NAMES, "matched"), (NAMES, "natural"), ("tokens_saved", "natural"), ("cost", "natural"))
"""What is kept at equal size and on the strategy's own trigger, and what is saved and paid."""
COLUMNS = [
    "stage",
    "metric",
    "mode",
    "unit",
    "with_it",
    "without_it",
    "effect",
    "low",
    "high",
    "sessions",
]


def leave_one_out(
    what: Iterable[str | Path | Session] | str | Path | Session = (),
    strategy: str | Preset = "pipeline",
    *,
    spec: RunSpec | None = None,
    **settings: Unpack[RunSettings],
) -> pd.DataFrame:
    """Compare the strategy with itself without each of its stages, on the same sessions (ablation).

    Args:
        what: files, folders, patterns or sessions; by default the bundled sessions.
        strategy: a name, or a preset of your own, with at least two stages (those of its view
            count).
        spec: a specification made before; further settings change it.
        **settings: fields of `RunSpec`.

    Returns:
        A row a stage and metric: `stage`, `metric`, `mode`, `unit`, `with_it` and `without_it`
            (means over projects),
        `effect` (with less without: what the stage adds), `low` and `high` (95 %; missing where
            sessions are too few or
        all alike), `sessions`. In matched mode a session's value is its mean over the budgets that
            both can reach, with
        the whole strategy cut to the very size that it comes to without the stage; no row where
            there are none.

    Raises:
        Unanswered: a model gave no answer, so that some effect cannot be measured yet.
        SettingError: the strategy has fewer than two stages, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    whole = preset(strategy)
    parts = dict(_without_each(whole))
    if len(parts) < 2:
        raise SettingError(
            f"the strategy {whole.name} has fewer than two stages, so that none can be left out"
        )
    with tempfile.TemporaryDirectory() as folder:
        run = compare(
            what,
            spec=RunSpec.of(spec, settings)
            .with_default_model()
            .changed(strategies=[whole, *parts.values()], baseline=whole.name, out=folder),
        )
        rows = run.sessions
        if rows.empty or not (rows["status"] == "ok").any():
            bad = [str(Unreadable(row.path, row.reason)) for row in rows.itertuples()]
            raise SettingError(": ".join(("no session could be replayed", *bad[:1])))
        if pending := sorted(set(run.replays.loc[run.replays["status"] == "pending", "reason"])):
            raise Unanswered(f"no stage can be measured without its model: {pending[0]}")
        found = _stage_effects(run, whole.name, {stage: part.name for stage, part in parts.items()})
        return pd.DataFrame(found, columns=COLUMNS)


def _without_each(whole: Preset) -> Iterator[tuple[str, Preset]]:
    """Each stage's name with the preset that lacks every stage of that name."""
    strategy = whole.strategy
    for name in dict.fromkeys(stage.name for stage in (*strategy.stages, *strategy.view)):
        stages, view = (
            tuple(stage for stage in part if stage.name != name)
            for part in (strategy.stages, strategy.view)
        )
        less = replace(strategy, stages=stages, view=view)
        yield name, replace(whole, name=f"{whole.name} without {name}", strategy=less)


def _stage_effects(
    run: Results, whole: str, without: Mapping[str, str]
) -> Iterator[dict[str, object]]:
    """The rows of `leave_one_out`; `without` names the strategy that lacks each stage."""
    scores = grouped(run)
    known = {
        (str(metric), str(mode))
        for metric, mode in zip(scores["metric"], scores["mode"], strict=True)
    }
    for stage, name in without.items():
        for metric, mode in (one for one in METRICS if one in known):
            rows = select(scores, metric, mode)
            rows = rows.assign(gain=size_gains(rows, run.baseline_at_sizes))
            one, other = (rows[rows["strategy"] == which] for which in (whole, name))
            (found,) = compare_table(
                pd.concat([at_sizes_of(one, other), other]), metric, name, mode
            ).to_dict("records")
            if found["sessions"]:
                yield {
                    "stage": stage,
                    "metric": metric,
                    "mode": mode,
                    "unit": str(rows["unit"].iloc[0]),
                    "with_it": found["mean"],
                    "without_it": found["baseline"],
                    "effect": found["difference"],
                    "low": found["low"],
                    "high": found["high"],
                    "sessions": found["sessions"],
                }
