"""Keeps the newest messages that fit and forgets the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.clip import shortened
from workbench.compaction.pins import Pins
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary
from workbench.transcript.pairing import cut_points, last_user


@dataclass(frozen=True, slots=True)
class Truncate:
    """Keeps fixed messages, the newest user message, the newest summary, and the newest messages that fit.

    Messages are kept or dropped in steps that part no call from its result. The oldest step that stays, and the newest
    user message or a summary that alone is larger than the room, are cut in the middle with a marker, so that the
    target is used; pinned messages are never cut.

    Attributes:
        least: tokens below which nothing is cut: a shorter rest says too little.
        pins: what stays besides.
    """

    least: int = 32
    pins: Pins = Pins()
    name: ClassVar[str] = "truncate"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Drop the oldest messages until the target is reached; None if it is."""
        if context.tokens <= budget.target:
            return None
        kept = _Kept(context, self.least)
        newest, summary = last_user(context.messages), _last_summary(context.messages)
        fixed = self.pins.fixed(context, budget)
        loose = {i for i in (newest, summary) if i is not None and not context.messages[i].pinned}
        for i in fixed - loose:
            kept.whole(i)
        room = budget.target - context.overhead - kept.tokens
        told = context.sizes[summary] if summary in loose and summary is not None else 0
        if newest in loose and newest is not None:
            spare = min(told, max(room // 2, 0)) if context.sizes[newest] > room else 0
            if not kept.cut(newest, room - spare if room - spare >= self.least else 8 * self.least):
                kept.whole(newest)  # many short texts, of which none can be cut: it stays all the same
        if summary in loose and summary is not None:
            left = budget.target - context.overhead - kept.tokens
            kept.cut(summary, left if room >= 0 else 8 * self.least)
        self._recent(context, kept, budget.target - context.overhead)
        return kept.plan()

    def _recent(self, context: Context, kept: _Kept, room: int) -> None:
        """Add the newest steps that fit whole, and of the first that does not what fits of it."""
        flags = cut_points(context.messages)
        stop = len(context.messages)
        while stop > 0:
            start = next(i for i in range(stop - 1, -1, -1) if flags[i])
            step = [i for i in range(start, stop) if i not in kept]
            size = sum(context.sizes[i] for i in step)
            if size > room - kept.tokens:
                kept.cut_all(step, room - kept.tokens)
                break
            for i in step:
                kept.whole(i)
            stop = start


class _Kept:
    """What stays of a context so far: indices with the message to put there and its size."""

    def __init__(self, context: Context, least: int) -> None:
        self.context, self.least = context, least
        self.by: dict[int, Message] = {}
        self.tokens = 0

    def __contains__(self, i: int) -> bool:
        return i in self.by

    def whole(self, i: int) -> None:
        self.by[i] = self.context.messages[i]
        self.tokens += self.context.sizes[i]

    def cut(self, i: int, room: int) -> bool:
        """Keep message i, cut to the room if it is larger; not at all if the room is less than the least."""
        if self.context.sizes[i] <= room:
            self.whole(i)
            return True
        short = self._short(i, room)
        if short is None:
            return False
        self.by[i] = short
        self.tokens += self.context.count(short)
        return True

    def cut_all(self, step: list[int], room: int) -> None:
        """Keep a step whose messages together exceed the room, the larger ones cut to a fair share; or nothing."""
        left, short = room, dict[int, Message]()
        for n, i in enumerate(sorted(step, key=lambda i: self.context.sizes[i])):
            share = left // (len(step) - n)
            if self.context.sizes[i] <= share:
                short[i], size = self.context.messages[i], self.context.sizes[i]
            else:
                cut = self._short(i, share)
                if cut is None:
                    return
                short[i], size = cut, self.context.count(cut)
            left -= size
        self.by.update(short)
        self.tokens += room - left

    def plan(self) -> Plan | None:
        """The edits that leave just what is kept."""
        edits = [
            Replace(i, i + 1, (self.by[i],) if i in self.by else ())
            for i, message in enumerate(self.context.messages)
            if self.by.get(i) is not message
        ]
        return Plan(tuple(edits)) if edits else None

    def _short(self, i: int, room: int) -> Message | None:
        """Message i in at most so many tokens; None where that is less than the least, or cannot be done."""
        message = self.context.messages[i]
        if message.pinned or room < self.least:
            return None
        return shortened(message, room, self.context.sizes[i], self.context.count)


def _last_summary(messages: tuple[Message, ...]) -> int | None:
    return next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], Summary)), None)
