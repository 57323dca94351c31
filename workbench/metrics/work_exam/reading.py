"""A session's written exams, read by the fitted reader from any number of contexts. No model is asked.

The words of a session's own messages are looked up once, whatever the number of contexts that hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.compaction.prompt_template import PromptTemplate
from workbench.errors import FormatError
from workbench.metrics.index import Index
from workbench.metrics.work_exam.document import exams_of, exams_text
from workbench.metrics.work_exam.fitted_reader import QuestionSheet, ReadText, WeightedQuestion, shipped_reader
from workbench.metrics.work_exam.question import SessionExams, digest
from workbench.metrics.work_exam.word_cover import Rarity, content_words
from workbench.metrics.work_exam.word_windows import PlacedWords
from workbench.transcript.message import Message, said_text
from workbench.transcript.session import Session

NO_EXAM = "no exam of the work was written for this session; `workbench exam write` has one written"
DAMAGED = "the session's exam of the work cannot be read; `workbench exam show` says why"
NOT_HERE = "the session's exam of the work has no questions for these boundaries"
NEW = -1
"""In the place of the number of a message that the session does not have."""
_WHOLE = PromptTemplate(result_chars=10**12, argument_chars=10**12)


def context_text(messages: Sequence[Message]) -> str:
    """A context as the text that a model is shown: whole, with thoughts kept apart."""
    return _WHOLE.transcript(messages)


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message as part of a context: where its words stand, how many it has, and how many of them are small."""

    placed: PlacedWords
    words: int
    small_words: int


class WorkReading:
    """The written exams of one session, and what a real model would answer from contexts of it.

    Attributes:
        seal: tells exams with other questions apart; empty without any.
        boundaries: for which questions were written, in order.
        why: why there are none; empty where there are.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._messages: dict[int, ReadMessage] = {}
        self._lines: dict[str, ReadText] = {}
        self._chances: dict[tuple[int, tuple[int, ...]], float] = {}
        exams: SessionExams | None = None
        self.why = NO_EXAM
        try:
            exams = exams_of(session)
        except FormatError:
            self.why = DAMAGED
        self.seal = "" if exams is None else digest(exams_text([exams]))
        self._exams = {exam.at: exam for exam in exams.exams if exam.questions} if exams else {}
        self.boundaries = tuple(sorted(self._exams))
        if self.boundaries:
            self.why = ""

    @classmethod
    def of(cls, index: Index, session: Session) -> WorkReading:
        """That of the session which an index was made of, made once."""
        if not isinstance(index.work_reading, cls):
            index.work_reading = cls(session)
        return index.work_reading

    def chance(self, at: int, messages: Sequence[Message]) -> float | None:
        """The mean chance that a real model answers a question of a boundary right from a context.

        Args:
            at: the boundary.
            messages: of the context.

        Returns:
            In [0, 1]; None where the boundary has no questions.
        """
        sheet = self._sheets.get(at)
        if sheet is None:
            return None
        numbers = tuple(self._session.place.get(id(message), NEW) for message in messages)
        if NEW in numbers:
            return self._mean_chance(sheet, messages)
        if (at, numbers) not in self._chances:  # several strategies and sizes often keep the same messages
            self._chances[at, numbers] = self._mean_chance(sheet, messages)
        return self._chances[at, numbers]

    def _mean_chance(self, sheet: QuestionSheet, messages: Sequence[Message]) -> float:
        placed = []
        words = small_words = 0
        for message in messages:
            read = self._read(message)
            placed.append(read.placed)
            words += read.words
            small_words += read.small_words
        rows = sheet.features(PlacedWords.joined(placed), small_words / max(words, 1))
        reader = shipped_reader()
        return sum(map(reader.probability, rows)) / len(rows)

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        """A number for each word of the questions and answers."""
        words: dict[str, int] = {}
        for exam in self._exams.values():
            for question in exam.questions:
                for word in content_words("\n".join((question.question, question.gold, *question.points))):
                    words.setdefault(word, len(words))
        return words

    @cached_property
    def _sheets(self) -> dict[int, QuestionSheet]:
        """By boundary its questions; the words of each weigh by how rare they are in the history before it."""
        sheets: dict[int, QuestionSheet] = {}
        rarity = Rarity(())
        counted = 0
        for boundary in self.boundaries:
            for message in self._session.messages[counted:boundary]:
                rarity.add(said_text(message))
            counted = boundary
            weighted = []
            for part in self._exams[boundary].questions:
                weighted.append(WeightedQuestion.of(part.question, part.gold, part.points, rarity))
            sheets[boundary] = QuestionSheet(weighted, self._vocabulary)
        return sheets

    def _read(self, message: Message) -> ReadMessage:
        """A message as part of a context; the session's own messages are read once."""
        number = self._session.place.get(id(message))
        if number is not None and number in self._messages:
            return self._messages[number]
        read = self._newly_read(message)
        if number is not None:
            self._messages[number] = read
        return read

    def _newly_read(self, message: Message) -> ReadMessage:
        """A message, line by line: summaries and cut results repeat lines."""
        content: list[str] = []
        words = small_words = 0
        for line in context_text([message]).split("\n"):
            read = self._read_line(line)
            content += read.content
            words += read.words
            small_words += read.small_words
        return ReadMessage(PlacedWords.of(content, self._vocabulary), words, small_words)

    def _read_line(self, line: str) -> ReadText:
        if line not in self._lines:
            self._lines[line] = ReadText.of(line)
        return self._lines[line]
