"""Token counts: the counter's interface, an estimate that needs no tokenizer, and a session's scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from workbench.transcript.message import Message, counted_text, image_tokens

PER_MESSAGE = 4
"""Tokens that a provider adds for a message's frame (role and separators)."""


class TokenCounter(Protocol):
    """Says how many tokens a message takes in a context. The same message always gives the same number."""

    def __call__(self, message: Message, /) -> int:
        """Tokens, >= 0."""
        ...


def chars_per_token(message: Message) -> int:
    """The estimate that most agents use: a quarter of the characters, rounded up, and the message's frame."""
    return -(-len(counted_text(message)) // 4) + image_tokens(message) + PER_MESSAGE


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
