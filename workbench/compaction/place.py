"""Where a summary stands, and the edits that put it in the place of what it replaces."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.compaction.plan import Draft, Replace
from workbench.transcript.message import Message, SystemMessage, ToolResult
from workbench.transcript.pairing import cut_points


def place(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """The index for a summary in the place of the first message that goes, never inside a pair.

    It lies behind the system prompt, which providers want first, even where a stray message comes before it.

    Args:
        messages: n messages.
        gone: the indices that go, at least one, ascending.
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
    going = set(gone)
    stays = (i for i in range(len(messages)) if i not in going)
    first = next((i for i in stays if not isinstance(messages[i], ToolResult)), None)
    if first is None or not isinstance(messages[first], SystemMessage):
        return 0
    behind = (i for i in range(first, len(messages)) if i in going or not isinstance(messages[i], SystemMessage))
    return next(behind, len(messages))


def exchanged(gone: Sequence[int], at: int, *new: Message | Draft) -> tuple[Replace, ...]:
    """The removal of these messages, ascending, one edit for each run of them, and the new ones before index `at`."""
    going = set(gone)
    starts = [i for i in gone if i == at or i - 1 not in going]
    stops = [i + 1 for i in gone if i + 1 == at or i + 1 not in going]
    drops = [Replace(start, stop) for start, stop in zip(starts, stops, strict=True)]
    return tuple(sorted([*drops, Replace(at, at, new)], key=lambda edit: (edit.start, edit.stop)))
