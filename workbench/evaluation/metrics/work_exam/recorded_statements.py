"""Questions about how the work stands without any model: from what the recording itself says about
it.

A person's demands, what the agent reported when it ended a turn, the summaries that the agent's own
compaction wrote, its lists of tasks and failed tests are statements that somebody thought worth
telling. Each is a question whose answer is the statement. docs/reference/fitted-reader.md says how
far they can stand in for questions that a model wrote.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from workbench.engine.extraction.statements import (
    is_constraint,
    is_decision,
    is_pending,
    sentences,
    task_items,
)
from workbench.engine.transcript.context import last_user
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    ToolResult,
    is_real_user,
    said_text,
)
from workbench.evaluation.metrics.work_exam.checks import IN_REQUEST
from workbench.evaluation.metrics.work_exam.question import (
    Evidence,
    QuestionKind,
    WorkExam,
    WorkQuestion,
    plain,
)
from workbench.evaluation.metrics.work_exam.word_cover import content_words

WRITER = "the recording's own statements"
FEWEST_WORDS, MOST_WORDS = 4, 45
"""Content words of a statement."""
FEWEST_OF_POINT, MOST_OF_POINT = 2, 8
"""Content words of a point."""
MOST_POINTS = 4
MOST_OF_KIND = 5
"""Statements of a kind that are asked for, from all over the history."""
OPENING_SENTENCES = 2
"""Sentences of a person's message that say what is wanted, where they set no rule."""
NEWEST_FAILURES = 2
"""Lines of a tool's result that say what fails."""
QUESTIONS: dict[QuestionKind, str] = {
    "goal": "What does the user want?",
    "rule": "What did the user demand?",
    "state": "How does the work stand?",
    "decision": "What was decided?",
    "finding": "What was found out?",
    "next": "What is to be done next?",
    "failure": "What fails?",
    "unverified": "What was not checked?",
}
_UNVERIFIED = re.compile(
    r"\b(?:not (?:yet )?(?:tested|verified|checked|run)|untested|unverified|assum\w+)\b",
    re.IGNORECASE,
)
_FINDING = re.compile(
    r"\b(?:because|cause[sd]?|turns out|found|problem|issue|reason|bug)\b", re.IGNORECASE
)
_CLAUSE_END = re.compile(r"[,;:()]\s|\s[-\u2013\u2014]\s|\s(?:and|but|because|so that|which)\s")
_FAILED_TEST = re.compile(
    r"^.*(?:\bFAILED\b|\bFAIL:|\b\d+ failed\b|^E\s{2,}\w*Error).*$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What a recording says about the work.

    Attributes:
        message: the index of the message that says it.
        text: as it stands there, without marks of lists.
    """

    kind: QuestionKind
    message: int
    text: str


@dataclass(frozen=True, slots=True)
class _Wording:
    """A statement with its content words."""

    statement: Statement
    words: tuple[str, ...]


class RecordedExams:
    """The questions about a session that the recording's own statements make.

    What a message says is taken apart once, whatever the number of boundaries.

    Args:
        messages: of the session.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._wordings = cache(self._wordings_of)
        self._question = cache(self._question_of)

    def at(self, boundary: int) -> WorkExam:
        """The questions about `messages[:boundary]`; maybe none.

        What the newest request says, and what was said twice, is not asked for.
        """
        newest_request = last_user(self._messages[:boundary])
        request = ""
        if newest_request is not None:
            request = plain(said_text(self._messages[newest_request]))
        request_words = set(content_words(request))
        by_kind: dict[QuestionKind, list[WorkQuestion]] = defaultdict(list)
        words_of_questions: set[tuple[str, ...]] = set()
        for wording in self._newest_first(boundary):
            words = wording.words
            if words in words_of_questions or _share_in(request_words, words) >= IN_REQUEST:
                continue
            question = self._question(wording.statement)
            if question is not None:
                words_of_questions.add(words)
                by_kind[question.kind].append(question)
        questions: list[WorkQuestion] = []
        for of_kind in by_kind.values():
            questions += _spread(of_kind, MOST_OF_KIND)
        return WorkExam(boundary, tuple(questions), WRITER)

    def _newest_first(self, boundary: int) -> Iterator[_Wording]:
        """The statements of `messages[:boundary]` that are neither short nor long."""
        ends_turn = True
        for number in range(boundary - 1, -1, -1):
            yield from self._wordings(number, ends_turn)
            message = self._messages[number]
            if is_real_user(message):
                ends_turn = True
            elif isinstance(message, AssistantMessage):
                ends_turn = False

    def _wordings_of(self, number: int, ends_turn: bool) -> tuple[_Wording, ...]:
        wordings: list[_Wording] = []
        for statement in _statements_of(number, self._messages[number], ends_turn):
            words = tuple(content_words(statement.text))
            if FEWEST_WORDS <= len(words) <= MOST_WORDS:
                wordings.append(_Wording(statement, words))
        return tuple(wordings)

    def _question_of(self, statement: Statement) -> WorkQuestion | None:
        """The question that a statement answers; None where it has no point."""
        points = tuple(_points(statement.text))[:MOST_POINTS]
        message = self._messages[statement.message]
        start = plain(said_text(message)).find(statement.text)
        if not points or start < 0:
            return None
        evidence = Evidence.of(statement.message, start, statement.text)
        return WorkQuestion(
            statement.kind,
            QUESTIONS[statement.kind],
            statement.text,
            points,
            evidence,
        )


def _share_in(text_words: set[str], words: Sequence[str]) -> float:
    """The share of some words that a text has, each counted once."""
    distinct_words = set(words)
    shared = distinct_words & text_words
    return len(shared) / len(distinct_words)


def _spread(questions: Sequence[WorkQuestion], limit: int) -> list[WorkQuestion]:
    """At most so many of some questions, from all over the history."""
    if len(questions) <= limit:
        return list(questions)
    last_index = len(questions) - 1
    spread: list[WorkQuestion] = []
    for place in range(limit):
        index = round(place * last_index / (limit - 1))
        spread.append(questions[index])
    return spread


def _points(text: str) -> Iterator[str]:
    """A statement's clauses, long ones in stretches."""
    for clause in _CLAUSE_END.split(text):
        stretch: list[str] = []
        word_count = 0
        for word in clause.split():
            stretch.append(word)
            word_count += len(content_words(word))
            if word_count >= MOST_OF_POINT:
                yield " ".join(stretch)
                stretch = []
                word_count = 0
        if word_count >= FEWEST_OF_POINT:
            yield " ".join(stretch)


def _statements_of(number: int, message: Message, ends_turn: bool) -> Iterator[Statement]:
    """What a message says of the work; `ends_turn`: whether no answer follows it in its turn."""
    if is_real_user(message):
        yield from _of_user(number, said_text(message))
    elif isinstance(message, Summary):
        yield from _of_agent(number, message.text, is_report=True)
    elif isinstance(message, AssistantMessage):
        is_report = ends_turn and not message.calls
        texts = [block.text for block in message.blocks if block.type == "text"]
        yield from _of_agent(number, "\n".join(texts), is_report=is_report)
        yield from _open_tasks(number, message)
    elif isinstance(message, ToolResult):
        yield from _failures(number, message)


def _open_tasks(number: int, message: AssistantMessage) -> Iterator[Statement]:
    """What an agent's lists of tasks say is still to do."""
    for call in message.calls:
        for task, status in task_items(call.arguments):
            if status not in ("completed", "done"):
                yield Statement("next", number, plain(task))


def _failures(number: int, message: ToolResult) -> Iterator[Statement]:
    """The last tests that a result calls failed."""
    text = said_text(message)
    may_tell = "FAIL" in text or " failed" in text or "Error" in text
    if not may_tell:  # most results have nothing of what `_FAILED_TEST` finds
        return
    lines = _FAILED_TEST.findall(text)
    for line in lines[-NEWEST_FAILURES:]:
        yield Statement("failure", number, plain(line))


def _of_user(number: int, text: str) -> Iterator[Statement]:
    for place, sentence in enumerate(sentences(text)):
        if is_constraint(sentence):
            yield Statement("rule", number, plain(sentence))
        elif place < OPENING_SENTENCES:
            yield Statement("goal", number, plain(sentence))


def _of_agent(number: int, text: str, *, is_report: bool) -> Iterator[Statement]:
    """What an agent says: all of a report, and elsewhere what it decided, found out or left
    unchecked.
    """
    for sentence in sentences(text):
        kind = _kind(sentence)
        if is_report or kind in ("decision", "finding", "unverified"):
            yield Statement(kind, number, plain(sentence))


def _kind(sentence: str) -> QuestionKind:
    """What an agent's sentence tells."""
    if _UNVERIFIED.search(sentence):
        return "unverified"
    if is_decision(sentence):
        return "decision"
    if _FINDING.search(sentence):
        return "finding"
    return "next" if is_pending(sentence) else "state"
