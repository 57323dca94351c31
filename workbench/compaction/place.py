"""Where a summary stands, and the edits that put it in the place of what it replaces."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.compaction.plan import Draft, Replace
from workbench.transcript.message import Message, SystemMessage, ToolResult
from workbench.transcript.pairing import cut_points


def place(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """The index of a summary that stands where the first message that goes stood.

    But never inside a pair, and behind the system prompt, which providers want first: also where a stray message
    stood before it.

    Args:
        messages: n messages.
        gone: the indices that go, at least one, ascending.

    Returns:
        In [0, n].
    """
    flags = cut_points(messages)
    first = behind_prompt(messages, gone)
    if first > gone[0]:
        return next(i for i in range(first, len(flags)) if flags[i])
    return next(i for i in range(gone[0], -1, -1) if flags[i])


def behind_all(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """The index of a summary that comes last."""
    return len(messages)


def behind_prompt(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """The index behind the system prompt if nothing before it stays that a provider would be sent; else 0."""
    stays = sorted({*range(len(messages))}.difference(gone))
    sent = [i for i in stays if not isinstance(messages[i], ToolResult)]
    if not sent or not isinstance(messages[sent[0]], SystemMessage):
        return 0
    prompt = {i for i in stays if isinstance(messages[i], SystemMessage)}
    return next(i for i in range(sent[0], len(messages) + 1) if i not in prompt)


def exchanged(gone: Sequence[int], at: int, *new: Message | Draft) -> tuple[Replace, ...]:
    """The removal of these messages, ascending, with the new ones before index `at`."""
    drops = [Replace(i, i + 1) for i in gone]
    return tuple(sorted([*drops, Replace(at, at, new)], key=lambda edit: (edit.start, edit.stop)))
