"""What metrics and judges say of contexts, and what came of these: on tasks that run, and on
recordings.
"""

from __future__ import annotations

import json
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
from workbench.engine.transcript.message import Message
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.spec import DEFAULT_MODEL
from workbench.evaluation.experiment.table_columns import typed
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.item import mean_score
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.step import Snapshot
from workbench.lab.judge.contexts import even_choice
from workbench.lab.judge.exam.admission import admission
from workbench.lab.judge.exam.readers import ModelReader
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.simulated_rows import BLIND, simulated_row
from workbench.lab.simulation.simulation_spec import SimulationSpec
from workbench.lab.trials.agents import ReaderAgent
from workbench.lab.trials.attempt import opened
from workbench.lab.trials.loop import work
from workbench.lab.trials.run import UNBOUNDED
from workbench.lab.trials.spec import TrialSpec
from workbench.lab.trials.task import TrialTask
from workbench.lab.validation.judges import JUDGES, Judged
from workbench.recordings.importers.importer import load

METRICS = tuple(dict.fromkeys(("exam", "presence", "bound", *JUDGES)))
READ = "read"
"""The exam, read by a model."""
COLUMNS = {
    "session": "string",
    "family": "string",
    "strategy": "string",
    "over": "Float64",
    **dict.fromkeys((*METRICS, READ), "Float64"),
    "reader": "string",
    "look_ups": "Float64",
    "blind": "Float64",
    "saved": "Float64",
}
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
        name = reader.name
        if outcome.why_not:
            name += ", not admitted"
        return cls(reader, name)

    def require_answers(self) -> None:
        """Nothing, if the reader answered whenever it was asked.

        Raises:
            Unanswered: it did not.
        """
        if self.reader.outage:
            raise Unanswered(f"{self.reader.name} has not read all contexts: {self.reader.outage}")

    def score(
        self,
        prepared_session: Prepared,
        boundary: int,
        context: Context,
    ) -> float | None:
        """The mean score of an even choice of a boundary's items; None without an answer."""
        exam = Exams.of(prepared_session.index).at(boundary)
        items = even_choice(exam.items, ITEMS)
        if not items:
            return None
        credit = self.reader.read(items, [context_text(context.messages)])
        is_answered = ~np.isnan(credit)
        if not is_answered.any():
            return None
        answered = [items[number] for number in np.flatnonzero(is_answered).tolist()]
        return mean_score(answered, credit[is_answered])

    def score_of_most_asked(
        self, prepared_session: Prepared, shots: Sequence[Snapshot]
    ) -> float | None:
        """The score of the context at the boundary with most items."""
        exams = Exams.of(prepared_session.index)

        def item_count(shot: Snapshot) -> int:
            return len(exams.at(shot.at).items)

        shot = max(shots, key=item_count)
        return self.score(prepared_session, shot.at, shot.context)


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
    rows: list[dict[str, object]] = []
    for task in tasks:
        rows += _on_task(task, strategies, windows or {}, judge)
    return typed(rows, COLUMNS)


def _on_task(
    task: TrialTask,
    strategies: Sequence[str],
    windows: Windows,
    judge: Judge | None,
) -> Iterator[dict[str, object]]:
    prepared_session = _uncompacted(task, windows)
    presets = _presets(strategies)
    needs = Needs(prepared_session)
    spec = SimulationSpec(price_model=ASSUMED, model=DEFAULT_MODEL)
    simulated_rows = []
    for strategy_preset in presets.values():
        row = simulated_row(prepared_session, strategy_preset, needs, spec)
        simulated_rows.append(row)
    yield from _measured(
        prepared_session,
        _boundaries_of_questions(task, prepared_session.session.messages),
        presets,
        pd.DataFrame(simulated_rows),
        {"session": task.name, "family": task.family},
        judge,
        fewest=1,
    )


def _uncompacted(task: TrialTask, windows: Windows) -> Prepared:
    """The conversation of a task whose agent never compacts."""
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
        window = windows.get((task.family, task.seed))
        if not window:
            window = int(TrialSpec().share * plain.peak)
        [session] = load(file)
        return prepared(session, window)


def _boundaries_of_questions(task: TrialTask, messages: Sequence[Message]) -> list[int]:
    """Behind each message of the user that asks for values of the task."""
    users = [place for place, message in enumerate(messages) if message.role == "user"]
    boundaries = []
    for number, turn in enumerate(task.turns):
        if any(step.holes for step in turn.steps):
            boundaries.append(users[number] + 1)
    return boundaries


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
        session = prepared_session.session
        boundaries = at_shares(session)
        session_rows = simulated[simulated["session"] == session.id]
        if not boundaries or session_rows.empty:
            continue
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
    by_name = {}
    for strategy in strategies:
        strategy_preset = preset(strategy)
        by_name[strategy_preset.name] = strategy_preset
    return by_name


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
    judged = {place: Judged(prepared_session, place, **fewest) for place in places}
    for row in simulated.to_dict("records"):
        name = str(row["strategy"])
        replay = natural(
            prepared_session.session,
            presets[name],
            Extractive(),
            prepared_session.sizing,
            window=prepared_session.window,
            boundaries=places,
        )
        shots = replay.snapshots
        scores = []
        is_over = []
        for shot in shots:
            scores.append(judged[shot.at].scores(shot.context))
            is_over.append(shot.context.tokens > prepared_session.window)
        means = pd.DataFrame(scores, columns=list(METRICS)).mean()
        measured: dict[str, object] = {
            **names,
            "strategy": name,
            "over": np.mean(is_over),
            **means.to_dict(),
            "reader": None,
            READ: None,
        }
        if judge is not None:
            measured["reader"] = judge.name
            measured[READ] = judge.score_of_most_asked(prepared_session, shots)
        measured |= detours(row)
        yield measured
