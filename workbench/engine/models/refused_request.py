"""What is known of the request that an error answers: it says more than the words of the error."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Defect: TypeAlias = Literal[
    "orphan result",
    "missing result",
    "parted results",
    "duplicate",
    "duplicate id",
    "foreign id",
    "broken arguments",
    "empty text",
    "empty result",
    "prefill",
    "blank end",
    "role order",
    "late system",
    "unsigned thought",
    "changed thought",
    "missing thought",
    "turn without thought",
    "unsigned call",
    "lone reasoning",
    "missing reasoning",
    "stored item",
    "extra field",
    "typed content",
    "sealed compaction",
]
"""What can be broken in a history.

Calls and results: one without the other, another message between them, a second result of a call,
two calls of one id, an id in a form that the provider does not take, arguments that are no JSON.
Texts: of nothing, also as a
result; an answer at the end, or white space behind it. Turns: two of one role, a system message
behind others. Thoughts: without a signature, with another one, left out, or not at the beginning of
a turn; Gemini's calls without a signature; Responses' reasoning without what follows it, the
reverse, or known to the provider's store alone. Fields that the provider does not take, and
lists of parts where it takes one text. A
compaction that it cannot decrypt.
"""
CERTAIN: frozenset[Defect] = frozenset(
    {
        "orphan result",
        "missing result",
        "parted results",
        "duplicate",
        "empty text",
        "lone reasoning",
    }
)
"""Defects that nearly every provider refuses."""
FORMS: frozenset[Defect] = frozenset({"empty result", "typed content"})
"""Ways to write a content, which an error about calls or turns is not about."""
COMMON: frozenset[Defect] = FORMS | {"role order", "late system"}
"""Defects that most providers take, so that they explain no error that speaks of something else."""
FULL = 0.9
"""The part of the window above which a request may be too large by our own count."""
FARTHEST = 6
"""A provider counts at most so many tokens for one of ours, and at least the inverse."""
ROOMY = 0.6
"""The part of a limit that the messages have at most where the rest is the output."""
NEAR = 2
"""A number is that of our own count if neither is so many times the other."""


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """What is known of a request that was refused.

    Attributes:
        tokens: by our own count; 0 if unknown.
        window: tokens that the model takes as far as the host knows; 0 if unknown.
        accepted: tokens of the largest request that the model answered; 0 if unknown.
        media: pictures, sounds and documents; None if unknown.
        defects: what is broken in its history.
    """

    tokens: int = 0
    window: int = 0
    accepted: int = 0
    media: int | None = None
    defects: frozenset[Defect] = frozenset()

    @property
    def has_certain_defect(self) -> bool:
        """Whether its history is one that nearly every provider refuses."""
        return bool(self.defects & CERTAIN)

    @property
    def has_rare_defect(self) -> bool:
        """Whether its history has a defect that most providers refuse, or some."""
        return bool(self.defects - COMMON)

    @property
    def is_full(self) -> bool:
        """Whether it may be too large, by our own count."""
        is_larger_than_accepted = self.tokens > self.accepted
        return is_larger_than_accepted and 0 < FULL * self.window <= self.tokens

    def is_far_smaller(self, tokens: int) -> bool:
        """Whether a number of tokens is far above those of its messages, so that it also counts the
        output that was asked for.
        """
        return 0 < self.tokens * FARTHEST < tokens

    def fits_easily(self, limit: int) -> bool:
        """Whether its messages are far below a limit, so that what is above it is the output that
        was asked for.
        """
        return self.media == 0 and 0 < self.tokens * FARTHEST < limit

    def leaves_room(self, limit: int) -> bool:
        """Whether its messages are well below a limit that a total of prompt and output is above."""
        return 0 < self.tokens <= ROOMY * limit

    def leaves_some_room(self, limit: int) -> bool:
        """Whether its messages are below a limit that, by its name, prompt and output share."""
        return 0 < self.tokens < FULL * limit

    def is_never_taken(self, tokens_a_minute: int) -> bool:
        """Whether it alone is above the tokens of a minute, and nothing larger was ever answered:
        a cached prefix may not count.
        """
        return self.accepted <= tokens_a_minute < self.tokens

    def is_near(self, tokens: int) -> bool:
        """Whether a number may be that of its tokens."""
        return self.tokens / NEAR <= tokens <= self.tokens * NEAR

    def is_of_another_size(self, numbers: Iterable[int]) -> bool:
        """Whether an error with these numbers speaks of something that is far smaller, or of a
        limit that is far above.
        """
        numbers = list(numbers)
        if not self.tokens or not numbers:
            return False
        has_pair = len(numbers) > 1
        is_far_smaller = has_pair and max(numbers) * FARTHEST < self.tokens
        is_far_above = min(numbers) > self.tokens * FARTHEST
        return is_far_smaller or is_far_above
