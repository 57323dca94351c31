"""What metrics and judges say of contexts, and what came of these: on tasks that run, and on
recordings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.base.errors import Unanswered
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.transcript.context import Context
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.spec import DEFAULT_MODEL
from workbench.evaluation.experiment.store import typed
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.item import mean_score
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.natural import natural
from workbench.lab.judge.contexts import even_choice
from workbench.lab.judge.exam.admission import admission
from workbench.lab.judge.exam.readers import ModelReader
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.simulate import BLIND, SimulationSpec, simulated_row
from workbench.lab.trials.agents import ReaderAgent
from workbench.lab.trials.loop import work
from workbench.lab.trials.run import UNBOUNDED, TrialSpec, opened
from workbench.lab.trials.task import TrialTask
from workbench.lab.validation.judges import JUDGES, Judged
from workbench.recordings.importers.importer import load

METRICS = (
    "exam",
    "presence",
    "bound",
    *(name for name in JUDGES if name not in ("exam", "presence", "bound")),
)
READ = "read"
"""The exam, read by a model."""
COLUMNS = {
    "session": "string", "family": "string", "strategy": "string", "over": "Float64",
    **dict.fromkeys((*METRICS, READ), "Float64"), "reader": "string",
    "look_ups": "Float64", "blind": "Float64", "saved": "Float64",
}  # fmt: skip
"""The columns of what is measured, see docs/reference/tables.md."""
ITEMS = 4
"""Items that a model reads from one context at most."""
Windows: TypeAlias = Mapping[tuple[str, int], int]
"""Tokens by family and seed of a task."""


@dataclass(frozen=True)
class Judge:
    """A model that sits the exam, and whether it passed the test of readers.

    Attributes:
        name: of the model, and that it is not admitted where it is not.
    """

    reader: ModelReader
    name: str

    @classmethod
    def tested(cls, reader: ModelReader) -> Judge:
        """After its test; one that fails is asked all the same, and its name says so.

        Raises:
            Unanswered: its provider gave no answer.
        """
        outcome = admission(reader)
        if reader.outage:
            raise Unanswered(f"the test of {reader.name} is not done: {reader.outage}")
        return cls(reader, f"{reader.name}, not admitted" if outcome.why_not else reader.name)

    def require_answers(self) -> None:
        """Nothing, if the reader answered whenever it was asked.

        Raises:
            Unanswered: it did not.
        """
        if self.reader.outage:
            raise Unanswered(f"{self.reader.name} has not read all contexts: {self.reader.outage}")

    def score(self, prepared_session: Prepared, boundary: int, context: Context) -> float | None:
        """The mean score of an even choice of a boundary's items; None without an answer."""
        items = even_choice(Exams.of(prepared_session.index).at(boundary).items, ITEMS)
        credit = (
            self.reader.read(items, [context_text(context.messages)]) if items else np.array([])
        )
        answered_numbers = [number for number, value in enumerate(credit) if not math.isnan(value)]
        return (
            mean_score([items[number] for number in answered_numbers], credit[answered_numbers])
            if answered_numbers
            else None
        )


def on_tasks(
    tasks: Iterable[TrialTask],
    strategies: Sequence[str],
    windows: Windows | None = None,
    judge: Judge | None = None,
) -> pd.DataFrame:
    """What metrics say of contexts where the tasks' values are needed, and the detours that are
    simulated there.

    The uncompacted conversation of each task is replayed and simulated under each strategy.

    Args:
        tasks: of families; they may have few questions, so figures are means over tasks.
        strategies: names of presets.
        windows: of the trials; by default the share of a task's largest request that trials have by
            default.
        judge: a model that is asked as well, where a task has most questions.

    Returns:
        A row a task and strategy, with `COLUMNS`; `session` is the task.
    """
    return typed(
        (row for task in tasks for row in _on_task(task, strategies, windows or {}, judge)), COLUMNS
    )


def _on_task(
    task: TrialTask, strategies: Sequence[str], windows: Windows, judge: Judge | None
) -> Iterator[dict[str, object]]:
    with opened(task, sandbox=False) as workspace, TemporaryDirectory() as folder:
        plain = work(
            task,
            ReaderAgent(),
            preset("none"),
            workspace,
            window=UNBOUNDED,
            tariff=known_tariff(ASSUMED),
        )
        file = Path(folder) / f"{task.name}.json"
        file.write_text(json.dumps({"messages": plain.messages}), encoding="utf-8")
        window = windows.get((task.family, task.seed)) or int(TrialSpec().share * plain.peak)
        prepared_session = prepared(load(file)[0], window)
    users = [
        place
        for place, message in enumerate(prepared_session.session.messages)
        if message.role == "user"
    ]
    asks = [
        users[n] + 1 for n, turn in enumerate(task.turns) if any(step.holes for step in turn.steps)
    ]
    needs, spec = Needs(prepared_session), SimulationSpec(price_model=ASSUMED, model=DEFAULT_MODEL)
    presets = _presets(strategies)
    simulated = pd.DataFrame(
        [
            simulated_row(prepared_session, strategy_preset, needs, spec)
            for strategy_preset in presets.values()
        ]
    )
    names = {"session": task.name, "family": task.family}
    yield from _measured(prepared_session, asks, presets, simulated, names, judge, fewest=1)


def on_recordings(
    sessions: Iterable[Prepared],
    simulated: pd.DataFrame,
    strategies: Sequence[str | Preset],
    judge: Judge | None = None,
) -> pd.DataFrame:
    """The same of recordings that were simulated, at even shares of their messages.

    Args:
        sessions: as they were simulated, with the same window; those without a row are left out.
        simulated: the table of that name.
        strategies: those that were simulated: names, or presets of your own.
        judge: a model that is asked as well, where a session has most questions.

    Returns:
        A row a session and strategy, with `COLUMNS`; `family` is the project.
    """
    rows: list[dict[str, object]] = []
    presets = _presets(strategies)
    for prepared_session in sessions:
        session, boundaries = prepared_session.session, at_shares(prepared_session.session)
        session_rows = simulated[simulated["session"] == session.id]
        if boundaries and len(session_rows):
            names = {"session": session.id, "family": session.project or session.id}
            rows += _measured(prepared_session, boundaries, presets, session_rows, names, judge)
    return typed(rows, COLUMNS)


def detours(simulated: Mapping[Hashable, Any]) -> dict[str, float | None]:
    """Look-ups with recalls, blind actions and what is saved with all of it, of a row of the
    table `simulated`.
    """
    return {
        "look_ups": simulated["look_ups"] + simulated["recalls"],
        "blind": sum(simulated[f"blind_{who}"] for who in BLIND),
        "saved": simulated["saved_usd_net"],
    }


def _presets(strategies: Iterable[str | Preset]) -> Mapping[str, Preset]:
    return {strategy_preset.name: strategy_preset for strategy_preset in map(preset, strategies)}


def _measured(
    prepared_session: Prepared,
    places: Sequence[int],
    presets: Mapping[str, Preset],
    simulated: pd.DataFrame,
    names: Mapping[str, object],
    judge: Judge | None,
    **fewest: int,
) -> Iterator[dict[str, object]]:
    """A row a strategy: the means over some places of a session, and what its simulation says."""
    judged = {boundary: Judged(prepared_session, boundary, **fewest) for boundary in places}
    for row in simulated.to_dict("records"):
        name = str(row["strategy"])
        shots = natural(
            prepared_session.session,
            presets[name],
            Extractive(),
            prepared_session.sizing,
            window=prepared_session.window,
            score_at=places,
        ).snapshots
        scores = pd.DataFrame(
            [judged[shot.at].scores(shot.context) for shot in shots], columns=list(METRICS)
        ).mean()
        asked_shot = (
            max(shots, key=lambda shot: len(Exams.of(prepared_session.index).at(shot.at).items))
            if judge
            else None
        )
        yield {
            **names,
            "strategy": name,
            "over": np.mean([shot.context.tokens > prepared_session.window for shot in shots]),
            **scores.to_dict(),
            "reader": judge and judge.name,
            READ: judge.score(prepared_session, asked_shot.at, asked_shot.context)
            if judge and asked_shot
            else None,
            **detours(row),
        }
