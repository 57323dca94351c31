"""One reader with one context and the questions of its boundary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.engine.models.model import SummaryRequest
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.name_recall import name_questions
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.lab.judge.contexts import Compacted
from workbench.lab.judge.work_exam.contexts import reference_context
from workbench.lab.judge.work_exam.sheet import SheetQuestion, reading_request
from workbench.lab.judge.work_exam.spec import WorkSpec


class Boundary(NamedTuple):
    """A session, by its id, and the number of messages before the boundary."""

    session: str
    at: int


@dataclass(slots=True)
class Sitting:
    """One reader with one context.

    Attributes:
        replies: one a question, None for a question that was passed over; empty where no answer
            came.
        scores: of the replies, in [0, 1]; None where a reply has not been graded.
        why: why no answer came; `pending` where the same call asks again.
    """

    context: Compacted
    sheet: tuple[SheetQuestion, ...]
    reading: int
    replies: list[str | None] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)
    why: str = ""
    pending: bool = False

    @property
    def boundary(self) -> Boundary:
        """Where its context was compacted."""
        return boundary_of(self.context)

    @property
    def request(self) -> SummaryRequest:
        """What its reader is asked."""
        text = context_text(self.context.context.messages)
        return reading_request(text, self.sheet)


def boundary_of(context: Compacted) -> Boundary:
    """Where a context was compacted."""
    return Boundary(context.ready.session.id, context.at)


def sittings_of(contexts: Iterable[Compacted], spec: WorkSpec) -> list[Sitting]:
    """Each context and each reference beside it once a reading; none where a boundary has no exam.

    Args:
        contexts: of strategies.
        spec: names the references and says how often each context is read.
    """
    all_contexts = list(contexts)
    all_contexts += _references(all_contexts, spec)
    sheets = _sheets(all_contexts, spec)
    sittings = []
    for context in all_contexts:
        sheet = sheets[boundary_of(context)]
        if not sheet:
            continue
        for reading in range(spec.readings):
            sittings.append(Sitting(context, sheet, reading))
    return sittings


def _references(contexts: Iterable[Compacted], spec: WorkSpec) -> list[Compacted]:
    """The reference contexts at each boundary and share at which there is another one."""
    sessions: dict[tuple[Boundary, float], Prepared] = {}
    for context in contexts:
        sessions[boundary_of(context), context.share] = context.ready
    references = []
    for name in spec.references:
        for (boundary, share), prepared_session in sessions.items():
            reference = reference_context(name, prepared_session, boundary.at, share)
            references.append(reference)
    return references


def _sheets(
    contexts: Iterable[Compacted], spec: WorkSpec
) -> Mapping[Boundary, tuple[SheetQuestion, ...]]:
    """The sheet of each boundary."""
    sheets: dict[Boundary, tuple[SheetQuestion, ...]] = {}
    for context in contexts:
        boundary = boundary_of(context)
        if boundary not in sheets:
            sheets[boundary] = _sheet(context.ready, boundary.at, spec)
    return sheets


def _sheet(prepared_session: Prepared, boundary: int, spec: WorkSpec) -> tuple[SheetQuestion, ...]:
    """The questions of one boundary: the written ones, then those for names."""
    exams = spec.exams_for(prepared_session)
    if exams is None:
        return ()
    exam = exams.at(boundary)
    if exam is None:
        return ()
    sheet = [SheetQuestion.about_work(question) for question in exam.questions]
    if spec.names:
        items = Exams.of(prepared_session.index).at(boundary).items
        for question in name_questions(items, spec.names):
            sheet.append(SheetQuestion.about_name(question))
    return tuple(sheet)
