"""How long things are: amounts with a unit, and the counters that need no tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from workbench.transcript.message import Message, Summary, Text, counted_chars, image_tokens

PER_MESSAGE = 4
"""Tokens that a provider adds for a message's frame (role and separators)."""
ITEM = "\n- "
"""Stands between the items of a summary."""


class TokenCounter(Protocol):
    """Says how many tokens a message takes in a context. The same message always gives the same number."""

    def __call__(self, message: Message, /) -> int:
        """Tokens, >= 0."""
        ...


@dataclass(frozen=True, slots=True)
class Tokens:
    """An amount in tokens."""

    value: int

    def of(self, whole: int) -> int:
        """The amount itself, whatever the whole."""
        return self.value


@dataclass(frozen=True, slots=True)
class Share:
    """An amount as a share of a whole, in [0, 1]."""

    value: float

    def of(self, whole: int) -> int:
        """That share of the whole, rounded down."""
        return int(self.value * whole)


Amount: TypeAlias = Tokens | Share


def chars_per_token(message: Message) -> int:
    """The estimate that most agents use: a quarter of the characters, rounded up, and the message's frame."""
    blocks = message.blocks
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return -(-len(blocks[0].text) // 4) + PER_MESSAGE
    return -(-counted_chars(message) // 4) + image_tokens(message) + PER_MESSAGE


@dataclass(frozen=True, slots=True)
class Scaled:
    """A counter multiplied by a session's own factor: how its provider counts, against how we do."""

    count: TokenCounter
    scale: float

    def __call__(self, message: Message, /) -> int:
        """Tokens as the provider would count them."""
        return scaled(self.count(message), self.scale)

    def of_items(self, items: Sequence[str]) -> int:
        """As `items_size` says, on this scale."""
        return scaled(items_size(self.count, items), self.scale)


def items_size(count: TokenCounter, items: Sequence[str]) -> int:
    """Tokens of a summary whose text is these items with `ITEM` between them.

    A counter that knows items from summary to summary says so with a method `of_items`, and need not cut the text.
    """
    of_items = getattr(count, "of_items", None)
    return count(Summary(id="", text=ITEM.join(items))) if of_items is None else int(of_items(items))


def scaled(size: int, scale: float) -> int:
    """A size in the provider's tokens; at least 1 where there is anything at all."""
    return max(1, round(size * scale)) if size else 0
