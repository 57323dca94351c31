"""Simulation held against what recorded agents did after their own compactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from workbench.engine.transcript.message import AssistantMessage, ToolResult
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.exam.exams import BoundaryExam, Exams
from workbench.evaluation.metrics.exam.facts import facts
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.view import View, view
from workbench.evaluation.replays.matched import recorded_contexts
from workbench.lab.simulation.needs import TOLD
from workbench.lab.validation.used_things import COLUMNS, Looks

HELD = {**COLUMNS, "simulated": "Float64", "looked_up": "boolean"}


def held_things(sessions: Sequence[Prepared], rows: pd.DataFrame) -> pd.DataFrame:
    """The table `used_things` of the contexts that agents really went on with, with what a
    simulation says.

    The simulated agent has the context that the recorded one went on with and what came since, but
    not what that one looked up: its calls that only look, or were made before, and their results
    are left out.

    Args:
        sessions: those with a recorded compaction, see `compacted`.
        rows: their `used_things`.

    Returns:
        Two more columns: `simulated`, the reader's credit in [0, 1] for the thing at the moment of
        its use, and `looked_up`, whether that is too little, so that the simulated agent looks.
        Missing where the thing makes no question.
    """
    is_recorded = rows["context"] == "recorded"
    recorded_rows = rows[is_recorded].set_index(["session", "at"]).sort_index()
    tables: list[pd.DataFrame] = []
    for prepared in sessions:
        tables += _of_session(prepared, recorded_rows)
    table = pd.concat(tables).reset_index()
    return table[list(HELD)].astype(HELD)


def _of_session(prepared: Prepared, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    session = prepared.session
    history = Exams.of(prepared.index).history
    all_contexts = recorded_contexts(session, prepared.sizing)
    for boundary, contexts in all_contexts.items():
        if (session.id, boundary) not in rows.index:
            continue
        boundary_rows = rows.loc[[(session.id, boundary)]]
        items = facts(history, boundary, every=True)
        exam = BoundaryExam(history, boundary, tuple(items))
        item_numbers: dict[str, int] = {}
        for number, item in enumerate(exam.items):
            item_numbers[item.answer.lower()] = number
        context = view(session, contexts.after)
        looks = set(looked_again(session, boundary))
        things = boundary_rows["thing"].str.lower()
        credits: list[float | None] = []
        for thing, used_at in zip(things, boundary_rows["used"], strict=True):
            item_number = item_numbers.get(thing)
            if item_number is None:
                credits.append(None)
                continue
            context_at_use = _without(context, boundary, int(used_at), looks)
            credit = _credit(exam, history, item_number, context_at_use)
            credits.append(credit)
        simulated = pd.array(credits, dtype="Float64")
        yield boundary_rows.assign(
            simulated=simulated,
            looked_up=simulated <= TOLD,
        )


def _credit(
    exam: BoundaryExam,
    history: ExamHistory,
    number: int,
    context: View,
) -> float:
    """The reader's credit for an item; 1 where the context has the line that tells it."""
    evidence = exam.items[number].evidence
    evidence_line = history.number[evidence]
    if history.held(context)[evidence_line]:
        return 1.0
    credits = exam.credit(context)
    return float(credits[number])


def _without(
    context: View,
    boundary: int,
    used: int,
    looks: set[int],
) -> View:
    """What the context holds when a thing is used, without what the agent looked up."""
    messages_since = set(range(boundary, used))
    return View(
        kept=context.kept | (messages_since - looks),
        texts=context.texts,
        generated=(),
        from_message=context.from_message,
    )


def looked_again(session: Session, boundary: int) -> Iterator[int]:
    """The messages among the next `HORIZON` that look: calls, and their results."""
    looks = Looks(session)
    next_messages = session.messages[boundary : boundary + HORIZON]
    for index, message in enumerate(next_messages, boundary):
        if isinstance(message, AssistantMessage):
            if looks.of(message, boundary):
                yield index
        elif isinstance(message, ToolResult) and looks.gave(message, boundary):
            yield index
