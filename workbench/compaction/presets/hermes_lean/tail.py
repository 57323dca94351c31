"""How much of the newest messages Hermes keeps."""

from __future__ import annotations

from workbench.compaction.span_selection import Movable

TAIL_SHARE = 0.025
LEAST_TAIL, MOST_TAIL = 10_000, 25_000


def tail_tokens(window: int) -> int:
    """A fortieth of the window, at least 10,000 and at most 25,000 tokens."""
    return min(max(int(TAIL_SHARE * window), LEAST_TAIL), MOST_TAIL)


def tail_start(movable: Movable, window: int) -> int:
    """The first of the movable messages that belongs to the tail; behind pairs that it would part."""
    return movable.after(movable.fitting(movable.kept(tail_tokens(window))))
