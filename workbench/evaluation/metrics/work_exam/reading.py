"""A session's exams of the work, read by the fitted reader from any number of contexts. No model is
asked.

The words of a session's own messages are looked up once, whatever the number of contexts that hold
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from workbench.base.errors import FormatError
from workbench.base.ragged import integers
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.transcript.message import Message, said_text
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.work_exam.document import exams_of, exams_text
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.message_words import (
    NEW,
    MessageWords,
    PlacedMessages,
)
from workbench.evaluation.metrics.work_exam.question import WorkExam, digest
from workbench.evaluation.metrics.work_exam.question_sheet import QuestionSheet, WeightedQuestion
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.read_context import PlacedContext, ReadContext
from workbench.evaluation.metrics.work_exam.recorded_statements import RecordedExams
from workbench.evaluation.metrics.work_exam.word_cover import content_words

NO_EXAM = (
    "no exam of the work was written for this session; `workbench lab exam write` has one written"
)
DAMAGED = "the session's exam of the work cannot be read; `workbench lab exam show` says why"
NOT_HERE = "the session's exam of the work has no questions for these boundaries"
NO_STATEMENTS = (
    "the recording says nothing about the work before these boundaries that can be asked for"
)
_WHOLE = PromptTemplate(result_chars="whole", argument_chars="whole")


def context_text(messages: Sequence[Message]) -> str:
    """A context as the text that a model is shown: whole, with thoughts kept apart."""
    return _WHOLE.transcript(messages)


@dataclass(frozen=True, slots=True)
class _ReadPart:
    """A part of a context, and the same without its jumbled lines."""

    complete: PlacedContext
    orderly: PlacedContext

    @classmethod
    def of(cls, complete: PlacedContext) -> Self:
        """A part without a jumbled line."""
        return cls(complete, complete)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several parts, one behind the other."""
        complete_parts = [part.complete for part in parts]
        complete = PlacedContext.joined(complete_parts)
        if not any(part.has_jumbled for part in parts):
            return cls.of(complete)
        orderly_parts = [part.orderly for part in parts]
        orderly = PlacedContext.joined(orderly_parts)
        return cls(complete, orderly)

    @property
    def has_jumbled(self) -> bool:
        """Whether a line of it is jumbled."""
        return self.orderly is not self.complete


class WorkReading:
    """Questions about how the work stands at boundaries of a session, and what a real model would
    answer from contexts.

    Args:
        session: of which the contexts are.
        exams: the questions.
        reason: why there are none.
        recorded: what the session's readings share; None makes it anew.

    Attributes:
        seal: tells exams with other questions apart; empty without any.
        boundaries: for which there are questions, in order.
        why: why there are none; empty where there are.
    """

    def __init__(
        self,
        session: Session,
        exams: Iterable[WorkExam],
        reason: str = "",
        recorded: RecordedWork | None = None,
    ) -> None:
        self._session = session
        self._recorded = recorded or RecordedWork(session)
        self._texts: dict[str, _ReadPart] = {}
        self._lines: dict[str, _ReadPart] = {}
        # of all that stands before a boundary
        self._rarity = Rarity(())
        self._chances: dict[tuple[int, tuple[int, ...]], float] = {}
        self._exams: dict[int, WorkExam] = {}
        for exam in exams:
            if exam.questions:
                self._exams[exam.at] = exam
        self.boundaries = tuple(sorted(self._exams))
        self.why = ""
        if not self.boundaries:
            self.why = reason
        self.seal = ""

    @classmethod
    def of(cls, index: Index, session: Session) -> WorkReading:
        """That of the written exams of the session which an index was made of, made once."""
        if not isinstance(index.work_reading, cls):
            index.work_reading = cls.of_written(session)
        return index.work_reading

    @classmethod
    def of_written(cls, session: Session) -> WorkReading:
        """That of a session's written exams."""
        try:
            exams = exams_of(session)
        except FormatError:
            return cls(session, (), DAMAGED)
        if exams is None:
            return cls(session, (), NO_EXAM)
        reading = cls(session, exams.exams, NO_EXAM)
        text = exams_text([exams])
        reading.seal = digest(text)
        return reading

    @classmethod
    def of_statements(
        cls, index: Index, session: Session, boundaries: tuple[int, ...]
    ) -> WorkReading:
        """That of what the recording itself says before some boundaries, made once."""
        recorded = RecordedWork.of(index, session)
        reading = recorded.readings.get(boundaries)
        if reading is None:
            exams = map(recorded.exams.at, boundaries)
            reading = cls(session, exams, NO_STATEMENTS, recorded)
            recorded.readings[boundaries] = reading
        return reading

    def chance(self, boundary: int, messages: Sequence[Message]) -> float | None:
        """The mean chance that a real model answers a question of a boundary right from a context.

        Args:
            boundary: of the session.
            messages: of the context.

        Returns:
            In [0, 1]; None where the boundary has no questions.
        """
        sheet = self._sheets.get(boundary)
        if sheet is None:
            return None
        place = self._session.place
        numbers = tuple(place.get(id(message), NEW) for message in messages)
        if NEW in numbers:
            return self._mean_chance(sheet, messages, numbers)
        # several strategies and sizes often keep the same messages
        key = (boundary, numbers)
        if key not in self._chances:
            self._chances[key] = self._mean_chance(sheet, messages, numbers)
        return self._chances[key]

    def _mean_chance(
        self, sheet: QuestionSheet, messages: Sequence[Message], numbers: Sequence[int]
    ) -> float:
        new_parts: list[_ReadPart] = []
        for message, number in zip(messages, numbers, strict=True):
            if number == NEW:
                text = context_text([message])
                new_parts.append(self._read_text(text))
        own_messages = self._own_messages
        numbers_of_messages = integers(numbers)
        complete_parts = [part.complete for part in new_parts]
        complete = own_messages.context(numbers_of_messages, complete_parts)
        orderly: PlacedContext | None = None
        if any(part.has_jumbled for part in new_parts):
            orderly_parts = [part.orderly for part in new_parts]
            orderly = own_messages.context(numbers_of_messages, orderly_parts)
        rows = sheet.features(complete, orderly)
        reader = shipped_reader()
        chances = map(reader.probability, rows)
        return sum(chances) / len(rows)

    @cached_property
    def _own_messages(self) -> PlacedMessages:
        """Where the words of the questions stand in the session's own messages.

        What was said there is in its own order: no line of them is jumbled.
        """
        return self._recorded.words.placed(self._vocabulary)

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        """A number for each word of the questions and answers."""
        numbers: dict[str, int] = {}
        for exam in self._exams.values():
            for question in exam.questions:
                texts = (question.question, question.gold, *question.points)
                text = "\n".join(texts)
                for word in content_words(text):
                    if word not in numbers:
                        numbers[word] = len(numbers)
        return numbers

    @cached_property
    def _sheets(self) -> dict[int, QuestionSheet]:
        """By boundary its questions, their words weighted by rarity in the history before it."""
        sheets: dict[int, QuestionSheet] = {}
        earlier_boundary = 0
        for boundary in self.boundaries:
            new_messages = self._session.messages[earlier_boundary:boundary]
            for message in new_messages:
                text = said_text(message)
                self._rarity.add(text)
            earlier_boundary = boundary
            questions = self._weighted_questions(boundary)
            sheets[boundary] = QuestionSheet(questions, self._vocabulary)
        return sheets

    def _weighted_questions(self, boundary: int) -> list[WeightedQuestion]:
        """The questions of a boundary, their words weighted by what was read so far."""
        rarity = self._rarity
        weighted_questions: list[WeightedQuestion] = []
        for question in self._exams[boundary].questions:
            weighted = WeightedQuestion.of(
                question.question,
                question.gold,
                question.points,
                rarity,
            )
            weighted_questions.append(weighted)
        return weighted_questions

    def _read_text(self, text: str) -> _ReadPart:
        """The text of a message that a strategy wrote or cut; many are equal."""
        if text not in self._texts:
            # summaries and cut results repeat lines: each is read once
            lines = text.split("\n")
            parts = list(map(self._read_line, lines))
            self._texts[text] = _ReadPart.joined(parts)
        return self._texts[text]

    def _read_line(self, line: str) -> _ReadPart:
        if line not in self._lines:
            self._lines[line] = self._new_line(line)
        return self._lines[line]

    def _new_line(self, line: str) -> _ReadPart:
        context = ReadContext.of(line)
        complete = PlacedContext.of(context, self._vocabulary)
        if not self._rarity.order.is_jumbled(line):
            return _ReadPart.of(complete)
        nothing = PlacedContext.of(ReadContext(), self._vocabulary)
        return _ReadPart(complete, nothing)


class RecordedWork:
    """What belongs to a session, whatever the boundaries that are asked about.

    Attributes:
        exams: those of its own statements.
        readings: of these, by boundaries.
    """

    def __init__(self, session: Session) -> None:
        self._messages = session.messages
        self.exams = RecordedExams(session.messages)
        self.readings: dict[tuple[int, ...], WorkReading] = {}

    @classmethod
    def of(cls, index: Index, session: Session) -> RecordedWork:
        """That of the session which an index was made of, made once."""
        if not isinstance(index.recorded_work, cls):
            index.recorded_work = cls(session)
        return index.recorded_work

    @cached_property
    def words(self) -> MessageWords:
        """The words of its messages, as contexts show them."""
        return MessageWords.of(context_text([message]) for message in self._messages)
