"""Keeps what a function of yours gives a high score."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias

from workbench.base.errors import SettingError
from workbench.engine.compaction.clip import NewResult, middle_out, rewritten
from workbench.engine.compaction.plan import Budget, Plan, Replace, in_order, saved_tokens
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.context_lookup import cut_point_from
from workbench.engine.transcript.message import Message, is_real_user, plain_text, said_text

ScoreFunction: TypeAlias = Callable[[Sequence[Message], Sequence[Message]], float]
"""Scores a span from 0 to 1, by its messages and by the newest messages, which stay anyway."""

_NAME = re.compile(r"\w[\w./-]*[._/\d-][\w./-]*\w")


def repeated_names(
    span: Sequence[Message],
    newest: Sequence[Message],
) -> float:
    """The share of a span's names (paths, identifiers, numbers) that the newest messages say
    again; 1 for what a person said, 0 without names.
    """
    span_names: set[str] = set()
    for message in span:
        if is_real_user(message):
            return 1.0
        span_names |= _names(said_text(message))
    newest_names: set[str] = set()
    for message in newest:
        newest_names |= _names(said_text(message))
    repeated_count = len(span_names & newest_names)
    return repeated_count / max(len(span_names), 1)


@lru_cache(maxsize=256)
def _names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


@dataclass(frozen=True, slots=True)
class Span:
    """Messages that stay or go together: an answer with the results of its calls, or one
    message.
    """

    start: int
    stop: int
    score: float

    @property
    def indices(self) -> range:
        """Of its messages."""
        return range(self.start, self.stop)


@dataclass(frozen=True, slots=True)
class Scored:
    """Keeps spans with a high score, shortens the results of the others, and drops those with a
    low score where room is still short.

    A span is an answer with the results of its calls, or any other message. Pinned messages, the
    newest user message, summaries and the newest spans stay.

    Attributes:
        score: from 0 to 1; a function of yours.
        keep: the score from which a span stays as it is.
        drop: the score below which a span may go.
        result_chars: characters that are left of a result of any other span.
        newest: how many of the newest spans stay.
        least_saving: the part of all messages' tokens below which nothing is done, so that the
            stages behind this one do it.

    Source:
        The numbers are those of fast-jev-compaction (tamaratran/fast-jev-compaction, README, as
        told at 2026-11-26), which scores pairs of calls and results by a service of its own.
    """

    score: ScoreFunction = repeated_names
    keep: float = 0.5
    drop: float = 0.25
    result_chars: int = 300
    newest: int = 6
    least_saving: float = 0.25
    name: ClassVar[str] = "scored"

    def plan(
        self,
        context: Context,
        budget: Budget,
        /,
    ) -> Plan | None:
        """The shortened results and the spans that go; None where that saves too little.

        Raises:
            SettingError: the score of a span is no number from 0 to 1.
        """
        low_spans = [span for span in self._spans(context) if span.score < self.keep]
        edits = self._shortened(context, low_spans)
        saved = sum(saved_tokens(context, [edit]) for edit in edits.values())
        for span in sorted(low_spans, key=_lowest_first):
            if context.tokens - saved <= budget.target or span.score >= self.drop:
                break
            for i in span.indices:
                saved += context.sizes[i]
                if i in edits:
                    saved -= saved_tokens(context, [edits[i]])
                edits[i] = Replace.removal(i)
        message_tokens = context.tokens - context.overhead
        if not edits or saved < self.least_saving * message_tokens:
            return None
        return Plan(in_order(edits.values()))

    def _shortened(
        self,
        context: Context,
        spans: Sequence[Span],
    ) -> dict[int, Replace]:
        """By index the results of these spans in a shorter form."""
        results: list[NewResult] = []
        for span in spans:
            for i in span.indices:
                message = context.messages[i]
                if message.role == "tool":
                    short = middle_out(plain_text(message), self.result_chars)
                    results.append(NewResult(i, short))
        plan = rewritten(context, results)
        if plan is None:
            return {}
        return {edit.start: edit for edit in plan.edits}

    def _spans(
        self,
        context: Context,
    ) -> list[Span]:
        """The spans that may change, with their scores."""
        ranges = _ranges(context)
        newest_ranges = ranges[max(len(ranges) - self.newest, 0) :]
        newest_messages: list[Message] = []
        for indices in newest_ranges:
            newest_messages += context.messages[indices.start : indices.stop]
        protected_indices = protected(context.messages)
        spans: list[Span] = []
        for indices in ranges[: len(ranges) - len(newest_ranges)]:
            messages = context.messages[indices.start : indices.stop]
            is_protected = not protected_indices.isdisjoint(indices)
            if is_protected or messages[0].role in ("system", "summary"):
                continue
            score = self._checked(self.score(messages, newest_messages), indices)
            spans.append(Span(indices.start, indices.stop, score))
        return spans

    def _checked(
        self,
        score: object,
        indices: range,
    ) -> float:
        """A score of the user's function.

        Raises:
            SettingError: it is no number from 0 to 1.
        """
        if isinstance(score, int | float) and 0 <= score <= 1:
            return float(score)
        raise SettingError(
            f"the score of messages {indices.start} to {indices.stop - 1} is {score!r:.80}; a number"
            " from 0 to 1 would be accepted"
        )


def _ranges(context: Context) -> list[range]:
    """The indices of each span of a context, oldest first."""
    ranges: list[range] = []
    start = 0
    while start < len(context.messages):
        stop = cut_point_from(context.cut_points, start + 1)
        ranges.append(range(start, stop))
        start = stop
    return ranges


def _lowest_first(span: Span) -> tuple[float, int]:
    return span.score, span.start
