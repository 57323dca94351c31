"""Where two contexts differ: the same message, or the summaries, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, TypeAlias

from workbench.base.markup import clipped
from workbench.report.explorer.outcomes import MessageOutcome, sent_message
from workbench.report.explorer.panels import summaries_of, texts_of
from workbench.report.explorer.view import SessionView

LONGEST = 12_000
"""Characters of each of two texts that are compared."""
MOST_WORDS = 600
"""Words of two passages that are compared word by word; longer ones differ as a whole."""
MOST_TEXTS = 20
"""Differing texts that a page shows."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
Side: TypeAlias = Literal["both", "left", "right"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of two texts, and which of them has it."""

    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class DifferingText:
    """A text that both contexts have, in other words.

    Attributes:
        title: what it is.
        message: its index; None for a summary.
        pieces: both texts.
    """

    title: str
    message: int | None
    pieces: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class TextPair:
    """A text as both contexts have it."""

    title: str
    message: int | None
    left_text: str
    right_text: str

    def difference(self) -> DifferingText:
        """Both texts in pieces."""
        text_pieces = pieces(self.left_text, self.right_text)
        return DifferingText(self.title, self.message, tuple(text_pieces))


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """Where two contexts differ.

    Attributes:
        left_only, right_only: messages that only one of them has, whole or rewritten.
        texts: at most `MOST_TEXTS` that differ.
        count: how many texts differ.
    """

    left_only: int
    right_only: int
    texts: Sequence[DifferingText]
    count: int

    @property
    def is_empty(self) -> bool:
        """Whether both are the same."""
        return not (self.left_only or self.right_only or self.count)


def context_difference(
    left: SessionView,
    right: SessionView,
    outcomes_of: Sequence[tuple[MessageOutcome, ...]],
) -> ContextDifference:
    """Where the contexts of two strategies differ at their selected places."""
    left_only = 0
    right_only = 0
    pairs: list[TextPair] = []
    for number, (left_text, right_text) in enumerate(_summaries(left, right), 1):
        pair = TextPair(f"Summary {number}", None, left_text, right_text)
        pairs.append(pair)
    by_message = zip(*outcomes_of, strict=True)
    for message, (left_outcome, right_outcome) in enumerate(by_message):
        is_left = _is_sent(left_outcome)
        is_right = _is_sent(right_outcome)
        left_only += is_left and not is_right
        right_only += is_right and not is_left
        is_rewritten = "rewritten" in (left_outcome, right_outcome)
        if is_left and is_right and is_rewritten:
            pair = TextPair(
                title=f"Message {message}",
                message=message,
                left_text=_sent_text(left, message, left_outcome),
                right_text=_sent_text(right, message, right_outcome),
            )
            pairs.append(pair)
    differing = [pair for pair in pairs if pair.left_text != pair.right_text]
    texts = [pair.difference() for pair in differing[:MOST_TEXTS]]
    return ContextDifference(left_only, right_only, texts, len(differing))


def _is_sent(outcome: MessageOutcome) -> bool:
    return outcome in ("pinned", "kept", "rewritten")


def _summaries(left: SessionView, right: SessionView) -> Iterator[tuple[str, str]]:
    """The summaries of both contexts side by side; empty where one has fewer."""
    texts_by_side = []
    for view in (left, right):
        texts = []
        if view.event:
            texts = [summary.text for summary in summaries_of(view.event)]
        texts_by_side.append(texts)
    yield from zip_longest(*texts_by_side, fillvalue="")


def _sent_text(view: SessionView, index: int, outcome: MessageOutcome) -> str:
    """A message as a context has it."""
    message = view.ready.session.messages[index]
    if outcome == "rewritten" and view.event is not None:
        message = sent_message(view.event, message.id) or message
    return "\n".join(texts_of(message))


def pieces(left_text: str, right_text: str) -> Iterator[Piece]:
    """Two texts as pieces that both have and pieces of one of them, in order. Of long texts the
    beginnings are compared.
    """
    left_lines = clipped(left_text, LONGEST).splitlines(keepends=True)
    right_lines = clipped(right_text, LONGEST).splitlines(keepends=True)
    for block in _blocks(left_lines, right_lines):
        if block.is_equal:
            yield Piece("both", block.left_text)
        else:
            yield from _word_pieces(block.left_text, block.right_text)


def _word_pieces(left_passage: str, right_passage: str) -> Iterator[Piece]:
    left_words = _WORDS.findall(left_passage)
    right_words = _WORDS.findall(right_passage)
    if max(len(left_words), len(right_words)) > MOST_WORDS:
        yield from _one_sided(left_passage, right_passage)
        return
    for block in _blocks(left_words, right_words):
        if block.is_equal:
            yield Piece("both", block.left_text)
        else:
            yield from _one_sided(block.left_text, block.right_text)


def _one_sided(left_part: str, right_part: str) -> Iterator[Piece]:
    if left_part:
        yield Piece("left", left_part)
    if right_part:
        yield Piece("right", right_part)


@dataclass(frozen=True, slots=True)
class _Block:
    """A stretch of two texts in which they agree, or do not."""

    is_equal: bool
    left_text: str
    right_text: str


def _blocks(left_parts: Sequence[str], right_parts: Sequence[str]) -> Iterator[_Block]:
    """Where two lists of lines or words agree and where they do not, as `difflib` has it."""
    matcher = SequenceMatcher(None, left_parts, right_parts, autojunk=False)
    for opcode in matcher.get_opcodes():
        tag, left_start, left_end, right_start, right_end = opcode
        left_text = "".join(left_parts[left_start:left_end])
        right_text = "".join(right_parts[right_start:right_end])
        yield _Block(tag == "equal", left_text, right_text)
