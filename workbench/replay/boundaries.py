"""Where contexts are scored: boundaries that are the same for every strategy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.replay.sizing import Sizing
from workbench.transcript.session import Session

FEWEST_BEFORE = 20
"""Messages of history that a boundary needs before it is worth scoring."""
FEWEST_AFTER = 10
"""Messages after a boundary, so that something can be needed."""


def worth(session: Session, at: int) -> bool:
    """Whether there is enough before and after this boundary to score."""
    return at >= FEWEST_BEFORE and len(session.messages) - at >= FEWEST_AFTER


def at_shares(session: Session, shares: Iterable[float] = (0.35, 0.5, 0.65, 0.8)) -> tuple[int, ...]:
    """The first request at or after each of these shares of the messages, where it is worth scoring."""
    n = len(session.messages)
    found: list[int] = []
    for share in shares:
        at = next((i for i in session.requests if i >= int(n * share)), None)
        if at is not None and worth(session, at) and at not in found:
            found.append(at)
    return tuple(found)


def at_recorded(session: Session) -> tuple[int, ...]:
    """Where the recorded agent compacted for real: the first request after each, where it is worth scoring."""
    found: list[int] = []
    for recorded in session.recorded:
        at = next((i for i in session.requests if i >= recorded.at), None)
        if at is not None and worth(session, at) and at not in found:
            found.append(at)
    return tuple(found)


def by_fill(
    session: Session, sizing: Sizing, window: int, *, first: float = 0.8, then: float = 0.2, most: int = 24
) -> tuple[int, ...]:
    """The requests where the whole history would first fill the window, and each further stretch of it.

    The same for every strategy, so that contexts are compared at the same moments of the same history whatever each
    strategy did before.

    Args:
        session: n messages.
        sizing: their sizes.
        window: tokens.
        first: share of the window that the history must reach.
        then: share of the room (window less overhead) by which it grows to the next boundary.
        most: boundaries at most; of more, an even choice.
    """
    room = max(window - sizing.overhead, 1)
    due, total, done = first * window, sizing.overhead, 0
    found: list[int] = []
    for at in session.requests:
        total += sum(sizing.sizes[done:at])
        done = at
        if total >= due:
            due = total + then * room
            if worth(session, at):
                found.append(at)
    return _evenly(found, most)


def _evenly(found: Sequence[int], most: int) -> tuple[int, ...]:
    if len(found) <= most:
        return tuple(found)
    return tuple(found[round(i * (len(found) - 1) / (most - 1))] for i in range(most))
