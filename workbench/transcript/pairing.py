"""Which messages belong together, and so where a context may be cut."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.transcript.message import AssistantMessage, Message, ToolResult, is_real_user


def cut_points(messages: Sequence[Message]) -> list[bool]:
    """Say for each index 0..n whether `messages[:i]` and `messages[i:]` part no call from its result.

    Returns:
        n + 1 flags. The ends are always allowed.
    """
    n = len(messages)
    last_result: dict[str, int] = {}
    for i, message in enumerate(messages):
        if isinstance(message, ToolResult):
            last_result[message.call_id] = i
    flags = [True] * (n + 1)
    reach = -1
    for i, message in enumerate(messages):
        flags[i] = reach < i
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                reach = max(reach, last_result.get(call.id, -1))
    flags[n] = True
    return flags


def next_cut(messages: Sequence[Message], at: int) -> int:
    """The nearest index >= `at` where a cut is allowed; n if there is none earlier."""
    flags = cut_points(messages)
    return next(i for i in range(min(max(at, 0), len(messages)), len(messages) + 1) if flags[i])


def with_partners(messages: Sequence[Message], wanted: set[int]) -> set[int]:
    """The wanted indices, and with each call its results and with each result its call and that call's others."""
    by_call: dict[str, list[int]] = {}
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                by_call.setdefault(call.id, []).append(i)
        elif isinstance(message, ToolResult):
            by_call.setdefault(message.call_id, []).append(i)
    result = set(wanted)
    rest = list(wanted)
    while rest:
        message = messages[rest.pop()]
        ids = (
            [call.id for call in message.calls]
            if isinstance(message, AssistantMessage)
            else [message.call_id]
            if isinstance(message, ToolResult)
            else []
        )
        for call_id in ids:
            for i in by_call.pop(call_id, ()):
                if i not in result:
                    result.add(i)
                rest.append(i)
    return result


def last_user(messages: Sequence[Message]) -> int | None:
    """The index of the newest message that a person wrote, or None."""
    return next((i for i in range(len(messages) - 1, -1, -1) if is_real_user(messages[i])), None)


def protected(messages: Sequence[Message]) -> set[int]:
    """The indices that no strategy may lose: pinned messages with their partners, and the newest user message."""
    kept = with_partners(messages, {i for i, message in enumerate(messages) if message.pinned})
    newest = last_user(messages)
    return kept if newest is None else kept | {newest}
