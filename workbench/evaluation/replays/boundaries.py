"""Where contexts are scored: boundaries that are the same for every strategy."""

from collections.abc import Iterable
from typing import TypeAlias

from workbench.base.errors import SettingError
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.sizing import Sizing

FEWEST_BEFORE = 20
"""Messages of history that a boundary needs before it is worth scoring."""
FEWEST_AFTER = 10
"""Messages after a boundary, so that something can be needed."""
FIRST, THEN, MOST = 0.8, 0.2, 24
"""Of `by_fill`, see there."""
LEAST_OFFERED = 2_000
"""Tokens of the smallest window that is offered."""

Boundaries: TypeAlias = tuple[float, ...] | tuple[int, ...] | str
"""Where to compact: shares of the messages in (0, 1), indices of messages from 1 on, `fill`, or
`recorded`.
"""

WORDS = ("fill", "recorded")


def checked(boundaries: Boundaries) -> Boundaries:
    """The same, if it is one of the ways of naming boundaries.

    Raises:
        SettingError: it is none.
    """
    if isinstance(boundaries, str):
        if boundaries not in WORDS:
            raise SettingError(
                f"boundaries {boundaries!r} are unknown; there are {', '.join(WORDS)}, shares and"
                " indices"
            )
        return boundaries
    for value in boundaries:
        if not (0 < value < 1 or (isinstance(value, int) and value >= 1)):
            raise SettingError(
                f"the boundary {value} is neither a share between 0 and 1 nor the index of a"
                " message"
            )
    return boundaries


def at_boundaries(
    session: Session, sizing: Sizing, window: int, boundaries: Boundaries
) -> tuple[int, ...]:
    """The requests before which every strategy compacts; only `fill` needs the window."""
    if boundaries == "fill":
        return by_fill(session, sizing, window)
    if boundaries == "recorded":  # the first request after each compaction of the recorded agent
        places: list[int] = []
        for compaction in session.recorded:
            places.append(compaction.at)
        return at_shares(session, places)
    assert not isinstance(boundaries, str)
    return at_shares(session, boundaries)


def worth(session: Session, boundary: int) -> bool:
    """Whether there is enough before and after this boundary to score."""
    messages_behind = len(session.messages) - boundary
    return boundary >= FEWEST_BEFORE and messages_behind >= FEWEST_AFTER


def at_shares(
    session: Session, shares: Iterable[float] = (0.35, 0.5, 0.65, 0.8)
) -> tuple[int, ...]:
    """The first request worth scoring at or after each of these shares or indices."""
    boundaries: dict[int, None] = {}
    for share in shares:
        index = share if isinstance(share, int) else int(len(session.messages) * share)
        boundary = next((request for request in session.requests if request >= index), None)
        if boundary is not None and worth(session, boundary):
            boundaries[boundary] = None
    return tuple(boundaries)


def by_fill(session: Session, sizing: Sizing, window: int) -> tuple[int, ...]:
    """The requests where the whole history would first fill 80 % of the window, and each further
    stretch of it.

    A stretch is 20 % of the room (the window less the overhead); of more than `MOST` requests an
    even choice is taken. They are the same for every strategy, so that contexts are compared at the
    same moments of the same history whatever each strategy did before.
    """
    boundaries: list[int] = []
    for request in filling(session, sizing, window):
        if worth(session, request):
            boundaries.append(request)
    if len(boundaries) > MOST:
        last_index = len(boundaries) - 1
        boundaries = [boundaries[round(i * last_index / (MOST - 1))] for i in range(MOST)]
    return tuple(boundaries)


def filling(session: Session, sizing: Sizing, window: int) -> tuple[int, ...]:
    """The requests of `by_fill`, also those that have too little before or behind them."""
    due = FIRST * window
    history_tokens = sizing.history_tokens(session.messages)
    requests: list[int] = []
    for request in session.requests:
        if history_tokens[request] >= due:
            due = history_tokens[request] + THEN * max(window - sizing.overhead, 1)
            requests.append(request)
    return tuple(requests)


def filled_twice(tokens: int) -> int | None:
    """A window that so many tokens fill twice, in thousands; None where there are too few."""
    window = tokens // 2000 * 1000
    if window < LEAST_OFFERED:
        return None
    return window
