"""Stages that drop messages: the oldest until the target is reached, all that may be dropped, or
halves of pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.clip import shortened_together
from workbench.engine.compaction.cut import Pins
from workbench.engine.compaction.plan import LARGEST_OUTPUT, Budget, Plan, Replace, in_order
from workbench.engine.transcript.context import Context, last_user, protected
from workbench.engine.transcript.context_lookup import cut_point_until, indices_but, tokens_of
from workbench.engine.transcript.message import Message, ToolCall, is_empty

BESIDE = 4
"""Beside a newest user message that is larger than the target, the rest gets this part of it: one
in four.
"""


@dataclass(frozen=True, slots=True)
class Truncate:
    """Keeps fixed messages, the newest user message, the newest summary, and the newest messages
    that fit.

    Messages are kept or dropped in steps that part no call from its result. The oldest step that
    stays, and a summary that alone is larger than the room, are cut in the middle with a marker, so
    that the target is used; pinned messages are never cut. The newest user message stays whole
    above the target, unless a refused request or a comparison sets the size, or it leaves no room
    for the answer (`LARGEST_OUTPUT`): then it is cut too.

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
        room = budget.target - context.overhead
        kept_messages = _Kept(context, self.least)
        newest = _unless_pinned(context, last_user(context.messages))
        summary = _unless_pinned(context, _newest_summary(context.messages))
        fixed_indices = self.pins.fixed(context, budget)
        kept_messages.add(fixed_indices - {newest, summary})
        remaining_room = room - kept_messages.tokens
        if newest is not None:
            room = self._keep_newest(newest, summary, kept_messages, room, budget)
        if summary is not None:
            summary_room = room - kept_messages.tokens
            if remaining_room < 0:
                summary_room = self._floor
            kept_messages.cut(summary, summary_room)
        self._recent(context, kept_messages, room)
        return kept_messages.plan()

    @property
    def _floor(self) -> int:
        """Tokens that a message which must stay gets where there is no room."""
        return 8 * self.least

    def _keep_newest(
        self,
        newest: int,
        summary: int | None,
        kept_messages: _Kept,
        room: int,
        budget: Budget,
    ) -> int:
        """Keep the newest user message, whole where that may be.

        Args:
            newest: its index.
            summary: that of the newest summary, which gets up to half of what is left.
            kept_messages: what stays so far.
            room: tokens of all messages.
            budget: with the window.

        Returns:
            Tokens of all messages, which are more where it stays whole above the target.
        """
        context = kept_messages.context
        size = context.sizes[newest]
        remaining_room = room - kept_messages.tokens
        whole_room = _room_for_a_whole_message(context, budget)
        if remaining_room < size <= whole_room - kept_messages.tokens:
            kept_messages.add([newest])
            return min(whole_room, kept_messages.tokens + room // BESIDE)
        max_tokens = remaining_room
        if summary is not None and size > remaining_room:
            half = max(remaining_room // 2, 0)
            max_tokens -= min(context.sizes[summary], half)
        if max_tokens < self.least:
            max_tokens = self._floor
        if not kept_messages.cut(newest, max_tokens):
            # many short texts, of which none can be cut: it stays all the same
            kept_messages.add([newest])
        return room

    def _recent(
        self,
        context: Context,
        kept_messages: _Kept,
        room: int,
    ) -> None:
        """Add the newest steps that fit whole, and of the first that does not what fits of it."""
        stop = len(context.messages)
        while stop > 0:
            start = cut_point_until(context.cut_points, stop - 1)
            step = [i for i in range(start, stop) if i not in kept_messages.by_index]
            if tokens_of(context, step) > room - kept_messages.tokens:
                kept_messages.cut_all(step, room - kept_messages.tokens)
                break
            kept_messages.add(step)
            stop = start


def _room_for_a_whole_message(context: Context, budget: Budget) -> int:
    """Tokens of messages up to which the newest user message stays whole; 0 where a comparison or
    a refused request sets the size.
    """
    if budget.reason in ("matched", "overflow", "last_resort"):
        return 0
    answer_tokens = int(LARGEST_OUTPUT * budget.window)
    return budget.window - answer_tokens - context.overhead


def _unless_pinned(context: Context, index: int | None) -> int | None:
    """The message, unless it is pinned or there is none: then it is not cut."""
    if index is None or context.messages[index].pinned:
        return None
    return index


def _newest_summary(messages: Sequence[Message]) -> int | None:
    """The index of the newest summary, if there is one."""
    for i in reversed(range(len(messages))):
        if messages[i].role == "summary":
            return i
    return None


class _Kept:
    """What stays of a context so far.

    Attributes:
        by_index: the messages, whole or cut.
        tokens: that they take together.
    """

    def __init__(self, context: Context, least_tokens: int) -> None:
        self.context = context
        self.least_tokens = least_tokens
        self.by_index: dict[int, Message] = {}
        self.tokens = 0

    def add(self, indices: Iterable[int]) -> None:
        """Keep these messages whole."""
        for i in indices:
            self.by_index[i] = self.context.messages[i]
            self.tokens += self.context.sizes[i]

    def cut(self, i: int, room: int) -> bool:
        """Keep message i, cut to the room; not at all if that is less than the least."""
        return self.cut_all([i], room)

    def cut_all(self, step: list[int], room: int) -> bool:
        """Keep these messages, each cut to a fair share of the room; none if that is too little."""
        cut_messages = shortened_together(self.context, step, room, self.least_tokens)
        self.by_index.update(cut_messages)
        for i, message in cut_messages.items():
            if message is self.context.messages[i]:
                self.tokens += self.context.sizes[i]
            else:
                self.tokens += self.context.count(message)
        return bool(cut_messages) or not step

    def plan(self) -> Plan | None:
        """The removal of all other messages, and the messages that were cut; None where all stay
        as they are.
        """
        edits: list[Replace] = []
        for i, message in enumerate(self.context.messages):
            kept_message = self.by_index.get(i)
            if kept_message is None:
                edits.append(Replace.removal(i))
            elif kept_message is not message:
                edits.append(Replace.message_at(i, kept_message))
        return Plan(tuple(edits)) if edits else None


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
        newest_user: int | None = None
        for i, message in enumerate(messages):
            if message.role == "system":
                kept_indices.add(i)
            elif message.role == "user":
                newest_user = i
        if last_user(messages) is None and newest_user is not None:
            kept_indices.add(newest_user)
        edits = list(map(Replace.removal, indices_but(messages, kept_indices)))
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
        answered_calls: set[tuple[int, str]] = set()
        edits: list[Replace] = []
        for i, message in enumerate(messages):
            if message.role != "tool":
                continue
            caller = context.callers.get(i)
            if caller is not None and (caller, message.call_id) not in answered_calls:
                answered_calls.add((caller, message.call_id))
            elif not message.pinned:
                edits.append(Replace.removal(i))
        waiting = _waiting(messages)
        for i, message in enumerate(messages):
            if message.role != "assistant" or i == waiting or message.pinned:
                continue
            missing: list[ToolCall] = []
            for call in message.calls:
                if (i, call.id) not in answered_calls:
                    missing.append(call)
            if missing:
                blocks = tuple([block for block in message.blocks if block not in missing])
                short = replace(message, blocks=blocks)
                edit = Replace.removal(i) if is_empty(short) else Replace.message_at(i, short)
                edits.append(edit)
        return Plan(in_order(edits)) if edits else None


def _waiting(messages: Sequence[Message]) -> int | None:
    """The index of the last message that has calls, if only results come after it."""
    for i in reversed(range(len(messages))):
        message = messages[i]
        if message.role != "tool":
            return i if message.role == "assistant" and message.calls else None
    return None
