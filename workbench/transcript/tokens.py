"""How long things are: amounts with a unit, and the counters that need no tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from workbench.transcript.message import Message, Text, counted_chars, image_tokens

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


def scaled(size: int, scale: float) -> int:
    """A size in the provider's tokens; at least 1 where there is anything at all."""
    return max(1, round(size * scale)) if size else 0
