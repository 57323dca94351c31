"""What a written question must pass before it is asked. Each check is words against words; no model
is asked.

`IN_REQUEST` was set on 48 graded answers of readers that saw nothing but the request (2026-11): of
the 11 questions above it they earned .91, of the 37 below it .03.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.engine.transcript.context import last_user
from workbench.engine.transcript.message import Message, said_text
from workbench.evaluation.metrics.work_exam.question import (
    Evidence,
    QuestionKind,
    WorkQuestion,
    plain,
)
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.word_cover import (
    WINDOW,
    WordPlaces,
    content_words,
    word_share,
)

IN_QUESTION = 0.7
"""The share of a point's words that its own question may not have."""
IN_OTHER = 0.75
"""The share of a point's words that another question may not have; for points of two words and
more.
"""
IN_REQUEST = 0.6
"""The share of its points' words that the newest request alone may not have, as a mean over the
points.
"""
REQUEST_WINDOW = 20
"""Words of the request in which a point must stand: a long request has any words somewhere."""
IN_HISTORY = 0.3
"""The share of its points' words that the whole history must have, as a mean over the points."""
SHORTEST_QUOTE = 12
"""Characters of a quote."""
MOST_POINTS = 6
_ARGUMENT = re.compile(r"(?:^|[(,;\s])\w+=|\w+\(\w+=")


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question as a writer gave it, not yet checked; `quote` is copied from the history."""

    kind: QuestionKind
    question: str
    gold: str
    points: tuple[str, ...]
    quote: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A question that is not asked, and why."""

    question: str
    reason: str


class CheckedHistory:
    """A history as the checks see it: `messages[:at]` of a session."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._texts = [plain(said_text(message)) for message in messages]
        newest_request = last_user(messages)
        self._request = "" if newest_request is None else self._texts[newest_request]

    @cached_property
    def rarity(self) -> Rarity:
        """The weights of the history's words."""
        return Rarity(self._texts)

    @cached_property
    def whole(self) -> WordPlaces:
        """The words of all messages."""
        return WordPlaces.of("\n".join(self._texts))

    @cached_property
    def request(self) -> WordPlaces:
        """The words of the newest message that a person wrote."""
        return WordPlaces.of(self._request)

    def evidence(self, quote: str) -> Evidence | None:
        """The newest place where the quote stands, white space aside; None where it stands nowhere.

        A writer sees a call as `tool(argument=text)`: of such a quote the longest text of an
        argument counts.
        """
        plain_quote = plain(quote)
        evidence = self._place(plain_quote)
        if evidence is not None:
            return evidence
        arguments = [text.strip(" ,;)") for text in _ARGUMENT.split(plain_quote)]
        return self._place(max(arguments, key=len))

    def _place(self, quote: str) -> Evidence | None:
        if len(quote) < SHORTEST_QUOTE:
            return None
        for number in range(len(self._texts) - 1, -1, -1):
            start = self._texts[number].find(quote)
            if start >= 0:
                return Evidence.of(number, start, quote)
        return None

    def mean_share(self, points: Sequence[str], places: WordPlaces, window: int = WINDOW) -> float:
        """The best weighted share of a point's words in one stretch of a text, as a mean over
        the points.
        """
        shares = [places.best_share(self.rarity.weights(point), window) for point in points]
        return sum(shares) / len(shares)


def checked(
    questions: Iterable[WrittenQuestion], messages: Sequence[Message]
) -> tuple[list[WorkQuestion], list[Refusal]]:
    """The questions that may be asked about a history, and those that may not.

    Args:
        questions: as a writer gave them; of two that give each other away the later one is refused.
        messages: the history.
    """
    history = CheckedHistory(messages)
    accepted: list[WorkQuestion] = []
    refusals: list[Refusal] = []
    for question in questions:
        reason = _fault(question, history) or _given_away(question, accepted)
        evidence = history.evidence(question.quote)
        if reason or evidence is None:
            refusals.append(Refusal(question.question, reason))
            continue
        accepted.append(
            WorkQuestion(question.kind, question.question, question.gold, question.points, evidence)
        )
    return accepted, refusals


def _fault(question: WrittenQuestion, history: CheckedHistory) -> str:
    """What is wrong with a question by itself; empty if nothing is."""
    if not question.question or not question.gold:
        return "it has no question or no answer"
    if not 1 <= len(question.points) <= MOST_POINTS:
        return f"it has {len(question.points)} points; 1 to {MOST_POINTS} are accepted"
    for point in question.points:
        if not content_words(point):
            return f"its point {point!r} says nothing"
        if word_share(point, question.question) >= IN_QUESTION:
            return f"its point {point!r} stands in the question"
    if history.evidence(question.quote) is None:
        return f"the history does not have its quote {question.quote[:80]!r}"
    if history.mean_share(question.points, history.request, REQUEST_WINDOW) >= IN_REQUEST:
        return "the newest request alone answers it"
    if history.mean_share(question.points, history.whole) < IN_HISTORY:
        return "the history hardly has a word of its points"
    return ""


def _given_away(question: WrittenQuestion, accepted: Sequence[WorkQuestion]) -> str:
    """Why a question and an accepted one may not stand on one sheet; empty if they may."""
    for earlier in accepted:
        if plain(earlier.question).lower() == plain(question.question).lower():
            return "it is asked twice"
        if _tells(earlier.question, question.points):
            return f"the question {earlier.question!r} gives its answer away"
        if _tells(question.question, earlier.points):
            return f"it gives away the answer to {earlier.question!r}"
    return ""


def _tells(question: str, points: Sequence[str]) -> bool:
    """Whether a question has a point of another one."""
    for point in points:
        distinct_words = set(content_words(point))
        if len(distinct_words) >= 2 and word_share(point, question) >= IN_OTHER:
            return True
    return False
