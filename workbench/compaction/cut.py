"""The cut rule of the workbench's own presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.pins import Pins
from workbench.compaction.span_selection import Span
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, is_real_user
from workbench.transcript.pairing import cut_points


@dataclass(frozen=True, slots=True)
class KeepRecent:
    """Keeps the newest messages that fit.

    Walks back from the newest message until the kept part is used up, then forward to the next place that parts no
    pair, and on to the start of a turn if one is near.

    Attributes:
        share: the part of the room that the newest messages get; the rest is for the summary. The room is what the
            target leaves after overhead and fixed messages. `Budget.keep_recent` takes precedence.
        summary: tokens that a summary takes at most; what the share leaves beyond that is kept as well.
        near: the part of the kept tokens that may be given up to start at a turn.
        split: a turn's start of at least this many messages is summarised apart.
        pins: what stays anyway, and does not count as newest messages.

    Source:
        Algorithm after pi, `core/compaction/compaction.ts::findCutPoint` (83378aad), and Opal's
        `session/compaction.ex`, restated; unlike both it never keeps more than it was granted.
    """

    share: float = 0.5
    summary: int = 16_000
    near: float = 0.25
    split: int = 5
    pins: Pins = Pins()

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """The span before the newest messages; None if everything fits and nobody forces it."""
        fixed, held = self.pins.fixed(context, budget), self.pins.held(context, budget)
        room = max(budget.target - context.overhead - sum(context.sizes[i] for i in fixed), 0)
        granted = max(int(self.share * room), room - self.summary) if budget.keep_recent is None else budget.keep_recent
        start = _reach(context, fixed, granted)
        flags = cut_points(context.messages)
        at = self._landing(context, fixed, flags, start, granted, room) if start else _forced(flags, budget)
        if at is None:
            return None
        return Span(tuple(i for i in range(at) if i not in held), self._turn(context.messages, at))

    def _landing(
        self, context: Context, fixed: set[int], flags: list[bool], start: int, granted: int, room: int
    ) -> int:
        end = len(context.messages)
        at = next(i for i in range(start, end + 1) if flags[i])
        if at == end:
            return self._newest(context, fixed, flags, room)
        given_up = 0
        for i in range(at, end):
            if given_up > self.near * granted:
                break
            if flags[i] and is_real_user(context.messages[i]):
                return i
            given_up += 0 if i in fixed else context.sizes[i]
        return at

    def _newest(self, context: Context, fixed: set[int], flags: list[bool], room: int) -> int:
        """The start of the newest step, though it is more than was granted, if a summary still fits beside it."""
        end = len(context.messages)
        begin = next(i for i in range(end - 1, -1, -1) if flags[i])
        size = sum(context.sizes[i] for i in range(begin, end) if i not in fixed)
        return begin if begin > 0 and size <= 0.8 * room else end

    def _turn(self, messages: Sequence[Message], at: int) -> int:
        """Where the turn begins that a cut parts, if that is far enough back; else where the cut is."""
        if at < len(messages) and not is_real_user(messages[at]):
            turn = next((i for i in range(at - 1, -1, -1) if is_real_user(messages[i])), at)
            return turn if at - turn >= self.split else at
        return at


def _reach(context: Context, fixed: set[int], granted: int) -> int:
    """The smallest index from which on the messages that are not fixed take at most `granted` tokens."""
    at = len(context.messages)
    while at > 0:
        granted -= 0 if at - 1 in fixed else context.sizes[at - 1]
        if granted < 0:
            break
        at -= 1
    return at


def _forced(flags: list[bool], budget: Budget) -> int | None:
    """Where a compaction is forced: before the last two messages, or as few more as pairs need."""
    last = len(flags) - 1
    places = [i for i in range(1, last) if flags[i] and budget.force]
    return next((i for i in places if i >= last - 2), places[-1] if places else None)
