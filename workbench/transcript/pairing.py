"""Which messages belong together, and so where a context may be cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from workbench.transcript.message import AssistantMessage, Message, ToolResult, is_real_user


def callers(messages: Sequence[Message]) -> Mapping[int, int]:
    """For the index of each tool result, the index of the message that made the call.

    Some providers use a call id again, so a result belongs to the newest earlier call of that id. A result that
    no earlier message called for is not in the answer.
    """
    return _remembered(_Said(messages)) if isinstance(messages, tuple) else _callers(messages)


class _Said:
    """One tuple of messages, known by itself and not by what it holds: that would be compared message by message."""

    __slots__ = ("messages",)

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.messages = messages

    def __hash__(self) -> int:
        return id(self.messages)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Said) and self.messages is other.messages


@lru_cache(maxsize=2)
def _remembered(said: _Said) -> Mapping[int, int]:
    """A plan asks for the pairs of one context several times."""
    return MappingProxyType(_callers(said.messages))


def _callers(messages: Sequence[Message]) -> dict[int, int]:
    newest: dict[str, int] = {}
    found: dict[int, int] = {}
    for i, message in enumerate(messages):
        if isinstance(message, ToolResult):
            caller = newest.get(message.call_id)
            if caller is not None:
                found[i] = caller
        elif isinstance(message, AssistantMessage):
            for block in message.blocks:
                if block.type == "tool_call":
                    newest[block.id] = i
    return found


def cut_points(messages: Sequence[Message]) -> list[bool]:
    """Say for each index 0..n whether `messages[:i]` and `messages[i:]` part no call from its result.

    Returns:
        n + 1 flags. The ends are always allowed.
    """
    flags = [True] * (len(messages) + 1)
    last_result = {caller: i for i, caller in callers(messages).items()}
    closed = 0
    for caller, last in sorted(last_result.items()):
        if last < closed:
            continue
        for i in range(caller + 1 if caller >= closed else closed, last + 1):
            flags[i] = False
        closed = last + 1
    return flags


def next_cut(messages: Sequence[Message], at: int) -> int:
    """The nearest index >= `at` where a cut is allowed; n if there is none earlier."""
    flags = cut_points(messages)
    return next(i for i in range(min(max(at, 0), len(messages)), len(messages) + 1) if flags[i])


def has_partners(messages: Iterable[Message]) -> bool:
    """Whether any of these messages calls a tool or is a result, and so may belong to others."""
    return any(
        isinstance(message, ToolResult)
        or (isinstance(message, AssistantMessage) and any(block.type == "tool_call" for block in message.blocks))
        for message in messages
    )


def with_partners(messages: Sequence[Message], wanted: Iterable[int]) -> set[int]:
    """The wanted indices, and with each call its results and with each result its call and that call's others."""
    found = set(wanted)
    if not found or not has_partners([messages[i] for i in found]):
        return found
    caller_of = callers(messages)
    together = {caller_of.get(i, i) for i in found}
    found.update(caller for caller in together)
    found.update(i for i, caller in caller_of.items() if caller in together)
    return found


def last_user(messages: Sequence[Message]) -> int | None:
    """The index of the newest message that a person wrote, or None."""
    for i in range(len(messages) - 1, -1, -1):
        if is_real_user(messages[i]):
            return i
    return None


def protected(messages: Sequence[Message]) -> set[int]:
    """The indices that no strategy may lose: pinned messages with their partners, and the newest user message."""
    kept = with_partners(messages, [i for i, message in enumerate(messages) if message.pinned])
    newest = last_user(messages)
    if newest is not None:
        kept.add(newest)
    return kept
