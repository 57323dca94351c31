"""The contribution of each stage of a strategy: the same strategy without it."""

import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from workbench.base.errors import SettingError, Unanswered
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.compared import compare_table
from workbench.evaluation.analysis.scores import at_sizes_of, grouped, select, size_gains
from workbench.evaluation.experiment.compare import compare
from workbench.evaluation.experiment.prepared import Unreadable
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.settings import RunSettings
from workbench.evaluation.experiment.spec import RunSpec
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
        (means over projects), `effect` (with less without: what the stage adds), `low` and `high`
        (95 %; missing where sessions are too few or all alike), `sessions`. In matched mode a
        session's value is its mean over the budgets that both can reach, with the whole strategy
        cut to the very size that it comes to without the stage; no row where there are none.

    Raises:
        Unanswered: a model gave no answer, so that some effect cannot be measured yet.
        SettingError: the strategy has fewer than two stages, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    complete = preset(strategy)
    reduced = dict(_without_each(complete))
    if len(reduced) < 2:
        raise SettingError(
            f"the strategy {complete.name} has fewer than two stages, so that none can be left out"
        )
    reduced_names: dict[str, str] = {}
    for stage, without_it in reduced.items():
        reduced_names[stage] = without_it.name
    with tempfile.TemporaryDirectory() as folder:
        run_spec = RunSpec.of(spec, settings).with_default_model()
        run_spec = run_spec.changed(
            strategies=[complete, *reduced.values()],
            baseline=complete.name,
            out=folder,
        )
        run = compare(what, spec=run_spec, simulate=False)
        _check_measured(run)
        rows = _stage_effects(run, complete.name, reduced_names)
        return pd.DataFrame(rows, columns=COLUMNS)


def _check_measured(run: Results) -> None:
    """Raise an error where a run has no session, or lacks answers of a model."""
    sessions = run.sessions
    is_replayed = sessions["status"] == "ok"
    if not is_replayed.any():
        reason = "no session could be replayed"
        session = next(sessions.itertuples(), None)
        if session is not None:
            unreadable = Unreadable(session.path, session.reason)
            reason += f": {unreadable}"
        raise SettingError(reason)
    is_pending = run.replays["status"] == "pending"
    reasons = set(run.replays.loc[is_pending, "reason"])
    if reasons:
        raise Unanswered(f"no stage can be measured without its model: {min(reasons)}")


def _without_each(complete: Preset) -> Iterator[tuple[str, Preset]]:
    """Each stage's name with the preset that lacks every stage of that name."""
    strategy = complete.strategy
    all_stages = (*strategy.stages, *strategy.view)
    names = [stage.name for stage in all_stages]
    for name in dict.fromkeys(names):
        reduced = replace(
            strategy,
            stages=_without(strategy.stages, name),
            view=_without(strategy.view, name),
        )
        reduced_name = f"{complete.name} without {name}"
        yield name, replace(complete, name=reduced_name, strategy=reduced)


def _without(stages: Sequence[Stage], name: str) -> tuple[Stage, ...]:
    """The stages that do not have this name."""
    return tuple(stage for stage in stages if stage.name != name)


def _stage_effects(
    run: Results, complete: str, reduced: Mapping[str, str]
) -> Iterator[dict[str, object]]:
    """The rows of `leave_one_out`; `reduced` names the strategy that lacks each stage."""
    scores = grouped(run)
    columns = scores[["metric", "mode"]].astype(str)
    measured = set(columns.itertuples(index=False, name=None))
    for stage, name in reduced.items():
        for metric, mode in METRICS:
            if (metric, mode) not in measured:
                continue
            rows = select(scores, metric, mode)
            gains = size_gains(rows, run.baseline_at_sizes)
            rows = rows.assign(gain=gains)
            comparison = _comparison(rows, metric, mode, complete, name)
            if not comparison["sessions"]:
                continue
            yield {
                "stage": stage,
                "metric": metric,
                "mode": mode,
                "unit": str(rows["unit"].iloc[0]),
                "with_it": comparison["mean"],
                "without_it": comparison["baseline"],
                "effect": comparison["difference"],
                "low": comparison["low"],
                "high": comparison["high"],
                "sessions": comparison["sessions"],
            }


def _comparison(
    rows: pd.DataFrame, metric: str, mode: str, complete: str, reduced: str
) -> dict[Hashable, Any]:
    """The whole strategy against a reduced one at the sizes of the latter: a row of
    `compare_table`.
    """
    of_complete = rows[rows["strategy"] == complete]
    of_reduced = rows[rows["strategy"] == reduced]
    at_sizes = at_sizes_of(of_complete, of_reduced)
    pair = pd.concat([at_sizes, of_reduced])
    table = compare_table(pair, metric, reduced, mode)
    comparison: dict[Hashable, Any]
    (comparison,) = table.to_dict("records")
    return comparison
