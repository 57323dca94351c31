"""Which messages belong together, and so where a context may be cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.transcript.message import AssistantMessage, Message, ToolCall, ToolResult, is_real_user


def answered(messages: Sequence[Message]) -> dict[int, tuple[int, ToolCall]]:
    """For the index of each tool result, the index of the message that made the call, and the call; none without one.

    Some providers use a call id again, so a result belongs to the newest earlier call of that id.
    """
    newest: dict[str, tuple[int, ToolCall]] = {}
    found: dict[int, tuple[int, ToolCall]] = {}
    for i, message in enumerate(messages):
        if message.role == "tool":
            if message.call_id in newest:
                found[i] = newest[message.call_id]
        elif message.role == "assistant":
            for block in message.blocks:
                if block.type == "tool_call":
                    newest[block.id] = (i, block)
    return found


def callers(messages: Sequence[Message]) -> dict[int, int]:
    """For the index of each tool result, the index of the message that made the call; none without a call."""
    return {i: caller for i, (caller, _) in answered(messages).items()}


def cut_points(messages: Sequence[Message], caller_of: Mapping[int, int] | None = None) -> list[bool]:
    """Say for each index 0..n whether `messages[:i]` and `messages[i:]` part no call from its result.

    Args:
        messages: n messages.
        caller_of: their `callers`, where they are known.

    Returns:
        n + 1 flags. The ends are always allowed.
    """
    flags = [True] * (len(messages) + 1)
    last_result = {caller: i for i, caller in (callers(messages) if caller_of is None else caller_of).items()}
    closed = 0
    for caller, last in sorted(last_result.items()):
        if last >= closed:
            for i in range(caller + 1 if caller >= closed else closed, last + 1):
                flags[i] = False
            closed = last + 1
    return flags


def with_partners(messages: Sequence[Message], wanted: Iterable[int]) -> set[int]:
    """The wanted indices, and with each call its results and with each result its call and that call's others."""
    found = set(wanted)
    if not any(isinstance(messages[i], AssistantMessage | ToolResult) for i in found):
        return found
    caller_of = callers(messages)
    together = {caller_of.get(i, i) for i in found}
    found |= together
    found.update(i for i, caller in caller_of.items() if caller in together)
    return found


def last_user(messages: Sequence[Message]) -> int | None:
    """The index of the newest message that a person wrote, or None."""
    for i in range(len(messages) - 1, -1, -1):
        if is_real_user(messages[i]):
            return i
    return None


def pinned(messages: Sequence[Message]) -> set[int]:
    """The indices of pinned messages and of their partners."""
    return with_partners(messages, [i for i, message in enumerate(messages) if message.pinned])


def protected(messages: Sequence[Message]) -> set[int]:
    """The indices that no strategy may lose: pinned messages with their partners, and the newest user message."""
    kept = pinned(messages)
    newest = last_user(messages)
    if newest is not None:
        kept.add(newest)
    return kept
