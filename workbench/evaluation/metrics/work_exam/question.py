"""The exam of the work: questions about how the work stands, and where the history shows each
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from workbench.engine.transcript.message import Message, said_text
from workbench.engine.transcript.session import Session

QuestionKind: TypeAlias = Literal[
    "goal", "state", "decision", "finding", "rule", "next", "failure", "unverified", "dead_end"
]
QUESTION_KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)
DIGEST_CHARS = 16


def plain(text: str) -> str:
    """A text with each run of white space as one blank: the form in which evidence is placed."""
    return " ".join(text.split())


def digest(text: str) -> str:
    """The first `DIGEST_CHARS` characters of the SHA-256 of a text."""
    encoded = text.encode("utf-8", "surrogatepass")
    digits = sha256(encoded).hexdigest()
    return digits[:DIGEST_CHARS]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place in the history that shows an answer. It names the place and repeats none of its
    text.

    Attributes:
        message: the index of the message in its session.
        start, length: characters in the message's `plain` text.
        digest: of that stretch of text, so that a changed session is noticed.
    """

    message: int
    start: int
    length: int
    digest: str

    @classmethod
    def of(cls, message: int, start: int, quote: str) -> Evidence:
        """The evidence that a quote is, from character `start` of a message's plain text."""
        return cls(message, start, len(quote), digest(quote))

    def quote(self, messages: Sequence[Message]) -> str:
        """The quoted text; empty where the session does not have it at this place."""
        if not 0 <= self.message < len(messages):
            return ""
        text = plain(said_text(messages[self.message]))
        end = self.start + self.length
        quote = text[self.start : end]
        if digest(quote) != self.digest:
            return ""
        return quote


@dataclass(frozen=True, slots=True)
class WorkQuestion:
    """One question about how the work stands at a boundary.

    Attributes:
        gold: a full answer, in the writer's own words.
        points: what an answer must have, each a few words; the answer is right if it has all of
            them.
        evidence: where the history shows the answer.
    """

    kind: QuestionKind
    question: str
    gold: str
    points: tuple[str, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class WorkExam:
    """The questions of one boundary.

    Attributes:
        at: the boundary: the history is `messages[:at]`.
        writer: who wrote the questions, for readers: a model's name, or what it was.
        written: the month, as `2026-11`; empty if unknown.
        refused: how many questions of the writer the checks left out.
    """

    at: int
    questions: tuple[WorkQuestion, ...]
    writer: str
    written: str = ""
    refused: int = 0


@dataclass(frozen=True, slots=True)
class SessionExams:
    """The written exams of one session.

    Attributes:
        session: the session's id.
        opening: tells sessions with the same id apart, see `opening_digest`.
        exams: in the order of their boundaries, one a boundary.
    """

    session: str
    opening: str
    exams: tuple[WorkExam, ...]

    def belongs_to(self, session: Session) -> bool:
        """Whether these exams were written for this session, which may have grown since."""
        if self.session != session.id:
            return False
        return self.opening == opening_digest(session)

    def at(self, boundary: int) -> WorkExam | None:
        """The exam of a boundary; None if none was written."""
        for exam in self.exams:
            if exam.at == boundary:
                return exam
        return None

    def with_exam(self, exam: WorkExam) -> SessionExams:
        """The same with one more exam, which replaces an earlier one of its boundary."""
        exams = [earlier for earlier in self.exams if earlier.at != exam.at]
        exams.append(exam)
        exams.sort(key=lambda exam: exam.at)
        return SessionExams(self.session, self.opening, tuple(exams))


def opening_digest(session: Session) -> str:
    """The digest of a session's first message with text; of nothing where no message has any."""
    for message in session.messages:
        text = plain(said_text(message))
        if text:
            return digest(text)
    return digest("")


def verified(exam: WorkExam, session: Session) -> WorkExam:
    """The exam with the questions whose evidence stands in the session's history; the others
    count as refused.
    """
    history = session.messages[: exam.at]
    standing: list[WorkQuestion] = []
    for question in exam.questions:
        if question.evidence.quote(history):
            standing.append(question)
    missing = len(exam.questions) - len(standing)
    return WorkExam(
        at=exam.at,
        questions=tuple(standing),
        writer=exam.writer,
        written=exam.written,
        refused=exam.refused + missing,
    )
