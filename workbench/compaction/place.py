"""Where a summary stands, and the edits that put it in the place of what it replaces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from workbench.compaction.plan import Draft, Replace
from workbench.transcript.message import Message, SystemMessage, ToolResult
from workbench.transcript.pairing import cut_points


def swapped(messages: Sequence[Message], gone: Sequence[int], new: Message | Draft) -> tuple[Replace, ...]:
    """Drop what is gone, and put the new message where the first of it stood.

    But never inside a pair, and behind the system prompt, which providers want first: also where a stray message
    stood before it.

    Args:
        messages: n messages.
        gone: at least one index, ascending.
        new: the summary.
    """
    return exchanged(gone, place(messages, gone), new)


def place(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """Where the summary stands, in [0, n]."""
    flags = cut_points(messages)
    first = max(gone[0], behind_prompt(messages, gone))
    if first > gone[0]:
        return next(i for i in range(first, len(flags)) if flags[i])
    return next(i for i in range(first, -1, -1) if flags[i])


def behind_all(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """The place of a summary that comes last."""
    return len(messages)


def behind_prompt(messages: Sequence[Message], gone: Sequence[int]) -> int:
    """The index behind the system prompt if nothing before it stays that a provider would be sent; else 0."""
    going = set(gone)
    for i, message in enumerate(messages):
        if i in going or isinstance(message, ToolResult):
            continue
        if not isinstance(message, SystemMessage):
            return 0
        return next((k for k in range(i, len(messages)) if not _prompt(messages, going, k)), len(messages))
    return 0


def _prompt(messages: Sequence[Message], going: Collection[int], i: int) -> bool:
    return isinstance(messages[i], SystemMessage) and i not in going


def exchanged(gone: Sequence[int], at: int, *new: Message | Draft) -> tuple[Replace, ...]:
    """The removal of these messages, ascending, with the new ones at that index."""
    behind = next((n for n, i in enumerate(gone) if i >= at), len(gone))
    before, after = gone[:behind], gone[behind:]
    if after and after[0] == at:
        put = joined(Replace(at, at + 1, new), after[1:])
    else:
        put = joined(Replace(at, at, new), after)
    return (*joined(Replace(before[0], before[0] + 1), before[1:]), *put) if before else put


def joined(first: Replace, gone: Iterable[int]) -> tuple[Replace, ...]:
    """An edit and, after it, the removal of these messages: neighbours go together."""
    found: list[Replace] = []
    start, stop, by = first.start, first.stop, first.by
    for i in gone:
        if stop == i and start < stop:
            stop = i + 1
        else:
            found.append(Replace(start, stop, by))
            start, stop, by = i, i + 1, ()
    return (*found, Replace(start, stop, by))
