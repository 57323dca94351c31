"""Stages that drop messages: the oldest until the target is reached, all that may be dropped, or
halves of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.clip import shortened
from workbench.engine.compaction.cut import Pins
from workbench.engine.compaction.plan import Budget, Plan, Replace
from workbench.engine.transcript.context import Context, last_user, protected
from workbench.engine.transcript.message import Message, is_empty


@dataclass(frozen=True, slots=True)
class Truncate:
    """Keeps fixed messages, the newest user message, the newest summary, and the newest messages
    that fit.

    Messages are kept or dropped in steps that part no call from its result. The oldest step that
    stays, and the newest user message or a summary that alone is larger than the room, are cut in
    the middle with a marker, so that the target is used; pinned messages are never cut.

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
        messages, room = context.messages, budget.target - context.overhead
        kept_messages = _Kept(context, self.least)
        newest = last_user(messages)
        summary = next(
            (i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "summary"), None
        )
        loose = {i for i in (newest, summary) if i is not None and not messages[i].pinned}
        kept_messages.add(*self.pins.fixed(context, budget) - loose)
        remaining_room = room - kept_messages.tokens
        if newest in loose and newest is not None:
            max_tokens = remaining_room
            if context.sizes[newest] > remaining_room and summary in loose and summary is not None:
                max_tokens -= min(context.sizes[summary], max(remaining_room // 2, 0))
            if not kept_messages.cut(
                newest, max_tokens if max_tokens >= self.least else 8 * self.least
            ):
                # many short texts, of which none can be cut: it stays all the same
                kept_messages.add(newest)
        if summary in loose and summary is not None:
            kept_messages.cut(
                summary, room - kept_messages.tokens if remaining_room >= 0 else 8 * self.least
            )
        self._recent(context, kept_messages, room)
        edits = [
            Replace(i, i + 1, (kept_messages.by[i],) if i in kept_messages.by else ())
            for i, message in enumerate(messages)
            if kept_messages.by.get(i) is not message
        ]
        return Plan(tuple(edits)) if edits else None

    def _recent(self, context: Context, kept_messages: _Kept, room: int) -> None:
        """Add the newest steps that fit whole, and of the first that does not what fits of it."""
        flags = context.cut_points
        stop = len(context.messages)
        while stop > 0:
            start = next(i for i in range(stop - 1, -1, -1) if flags[i])
            step = [i for i in range(start, stop) if i not in kept_messages.by]
            size = sum(context.sizes[i] for i in step)
            if size > room - kept_messages.tokens:
                kept_messages.cut_all(step, room - kept_messages.tokens)
                break
            kept_messages.add(*step)
            stop = start


class _Kept:
    """What stays of a context so far: indices with the message to put there and its size."""

    def __init__(self, context: Context, least_tokens: int) -> None:
        self.context, self.least = context, least_tokens
        self.by: dict[int, Message] = {}
        self.tokens = 0

    def add(self, *indices: int) -> None:
        """Keep these messages whole."""
        self.by.update((i, self.context.messages[i]) for i in indices)
        self.tokens += sum(self.context.sizes[i] for i in indices)

    def cut(self, i: int, room: int) -> bool:
        """Keep message i, cut to the room if it is larger; not at all if the room is less than
        the least.
        """
        return self.cut_all([i], room)

    def cut_all(self, step: list[int], room: int) -> bool:
        """Keep these messages, the larger ones cut to a fair share of the room; nothing where
        that is too little.
        """
        cut_messages: dict[int, Message] = {}
        remaining_room = room
        for n, i in enumerate(sorted(step, key=lambda i: self.context.sizes[i])):
            short, size = self._short(i, remaining_room // (len(step) - n))
            if short is None:
                return False
            cut_messages[i] = short
            remaining_room -= size
        self.by.update(cut_messages)
        self.tokens += room - remaining_room
        return True

    def _short(self, i: int, room: int) -> tuple[Message | None, int]:
        """Message i in at most so many tokens, with its size; None where that is less than the
        least or impossible.
        """
        message, size = self.context.messages[i], self.context.sizes[i]
        if size <= room:
            return message, size
        cut = not message.pinned and room >= self.least
        short = shortened(message, room, size, self.context.count) if cut else None
        return short, 0 if short is None else self.context.count(short)


@dataclass(frozen=True, slots=True)
class KeepFloor:
    """Keeps system messages, pinned messages and the newest user message, whatever the target.

    Where no person said anything, the newest message that a client wrote as the user stays instead.
    """

    name: ClassVar[str] = "keep_floor"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Drop all the rest."""
        messages = context.messages
        kept_indices = protected(messages)
        kept_indices.update([i for i, message in enumerate(messages) if message.role == "system"])
        if last_user(messages) is None:
            kept_indices.update(
                [i for i, message in enumerate(messages) if message.role == "user"][-1:]
            )
        edits = [Replace(i, i + 1) for i in range(len(messages)) if i not in kept_indices]
        return Plan(tuple(edits)) if edits else None


@dataclass(frozen=True, slots=True)
class RepairPairs:
    """Drops results that answer no call or answer it again, and calls without a result.

    The calls of a last message that still waits for results are left open. Pinned messages are left
    as they are.

    Source:
        Opal, `agent/repair.ex`, restated.
    """

    name: ClassVar[str] = "repair_pairs"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The repair, or None where all pairs are whole."""
        messages = context.messages
        caller_of, waiting = context.callers, _waiting(messages)
        answered_calls: set[tuple[int, str]] = set()
        edits = []
        for i, message in enumerate(messages):
            if message.role == "tool":
                pair = (caller_of.get(i, -1), message.call_id)
                if pair[0] >= 0 and pair not in answered_calls:
                    answered_calls.add(pair)
                elif not message.pinned:
                    edits.append(Replace(i, i + 1))
        for i, message in enumerate(messages):
            if message.role == "assistant" and i != waiting and not message.pinned:
                missing = [call for call in message.calls if (i, call.id) not in answered_calls]
                if missing:
                    short = replace(
                        message,
                        blocks=tuple(block for block in message.blocks if block not in missing),
                    )
                    edits.append(Replace(i, i + 1, () if is_empty(short) else (short,)))
        return Plan(tuple(sorted(edits, key=lambda edit: edit.start))) if edits else None


def _waiting(messages: Sequence[Message]) -> int | None:
    """The index of the last message that has calls, if only results come after it."""
    for i in range(len(messages) - 1, -1, -1):
        message = messages[i]
        if message.role != "tool":
            return i if message.role == "assistant" and message.calls else None
    return None
