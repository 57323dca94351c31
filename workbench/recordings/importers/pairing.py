"""Which result answers which call: what is odd about it in a recording that was read."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from workbench.engine.transcript.log import Log, MessageEntry
from workbench.engine.transcript.message import AssistantMessage, ToolResult

NAMED = 3
"""Ids that a sentence names."""
COMPARED = 8
"""Earlier entries with the same call that an entry is compared with."""


def pairing_faults(log: Log) -> Iterator[str]:
    """A sentence for each kind of fault: results without a call before them, and ids that stand
    for two things.
    """
    calls: dict[str, list[str]] = defaultdict(list)
    results: dict[str, list[str]] = defaultdict(list)
    for entry in log:
        if not isinstance(entry, MessageEntry):
            continue
        if isinstance(entry.message, AssistantMessage):
            for call in entry.message.calls:
                calls[call.id].append(entry.id)
        elif isinstance(entry.message, ToolResult):
            results[entry.message.call_id].append(entry.id)
    tree = _Tree(log)
    lonely = [
        call_id
        for call_id, answers in results.items()
        for answer in answers
        if not any(tree.is_before(call, answer) for call in _some(calls.get(call_id, [])))
    ]
    doubled_calls = [call_id for call_id, entries in calls.items() if tree.has_two_in_line(entries)]
    doubled_results = [
        call_id
        for call_id, entries in results.items()
        if call_id not in doubled_calls and tree.has_two_in_line(entries)
    ]
    yield from _told(
        lonely, "a tool result answers no call before it", "tool results answer no call before them"
    )
    yield from _told(doubled_calls, "an id stands for two calls", "ids stand for two calls each")
    yield from _told(doubled_results, "a call has two results", "calls have two results each")


def _some(entries: list[str]) -> list[str]:
    """The first and the last of many entries, so that a hostile recording costs no more than its
    length.
    """
    return entries if len(entries) <= 2 * COMPARED else entries[:COMPARED] + entries[-COMPARED:]


def _told(ids: Sequence[str], single: str, many: str) -> Iterator[str]:
    if ids:
        named = ", ".join(repr(call_id) for call_id in dict.fromkeys(ids[:NAMED]))
        yield (
            f"{single}: {named}"
            if len(ids) == 1
            else f"{len(ids):,} {many}: {named}{', ...' * (len(ids) > NAMED)}"
        )


class _Tree:
    """Says in constant time whether one entry of a log comes before another on a path."""

    def __init__(self, log: Log) -> None:
        self.size: dict[str, int] = {entry.id: 1 for entry in log}
        for entry in reversed(list(log)):
            if entry.parent is not None:
                self.size[entry.parent] += self.size[entry.id]
        self.place: dict[str, int] = {}
        free: dict[str | None, int] = {None: 0}
        for entry in log:
            self.place[entry.id] = free[entry.parent]
            free[entry.parent] += self.size[entry.id]
            free[entry.id] = self.place[entry.id] + 1

    def is_before(self, earlier: str, later: str) -> bool:
        """Whether the path to an entry leads through another."""
        start = self.place[earlier]
        return start <= self.place[later] < start + self.size[earlier]

    def has_two_in_line(self, entries: Sequence[str]) -> bool:
        """Whether two of these entries, in the order of the log, stand on one path."""
        return any(
            self.is_before(earlier, later)
            for number, later in enumerate(entries)
            for earlier in entries[max(0, number - COMPARED) : number]
        )
