"""When restated systems are due: their own numbers, as far as the window leaves room for them."""

from __future__ import annotations

from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation

LARGEST_OUTPUT = 0.25
"""The part of the window that a model's longest answer is taken to need, where no recording says it."""

LEAST_ROOM = 0.25
LEAST_TOKENS = 20_000
"""What messages get before any system is due: a quarter of what the overhead leaves free, at most so many tokens.

The systems were made for windows of 100,000 tokens and more. In a small one their reserves leave nothing, and they
would compact at every request.
"""


def measured(situation: Situation) -> int:
    """The provider's last count and an estimate of what came after it; an estimate of everything without a report."""
    if situation.reported is not None and situation.reported.prompt > 0:
        return situation.reported.prompt + situation.since
    return situation.tokens


def output(window: int, own: int) -> int:
    """Tokens that a system sets aside for an answer: its own number, less where the window is small."""
    return min(own, int(LARGEST_OUTPUT * window))


def threshold(situation: Situation, own: int) -> int:
    """The system's own threshold in tokens, or the least that messages get where that is more."""
    room = max(situation.window - situation.overhead, 0)
    return max(own, situation.overhead + min(int(LEAST_ROOM * room), LEAST_TOKENS))


def above(situation: Situation, own: int) -> Budget | None:
    """A budget of the threshold where more than that is measured, or where somebody asked."""
    limit = threshold(situation, own)
    return granted(situation, limit) if situation.requested or measured(situation) > limit else None


def reached(situation: Situation, own: int) -> Budget | None:
    """The same for systems that are due at exactly the threshold."""
    limit = threshold(situation, own)
    return granted(situation, limit - 1) if situation.requested or measured(situation) >= limit else None


def granted(situation: Situation, most: int, reason: str = "threshold") -> Budget:
    """A budget of `most` tokens as the provider counts, scaled to the estimate in which contexts are measured."""
    estimated = most * situation.tokens // max(measured(situation), 1)
    return Budget(
        target=min(max(estimated, 0), max(situation.tokens - 1, 0)),
        window=situation.window,
        reason="requested" if situation.requested else reason,
    )
