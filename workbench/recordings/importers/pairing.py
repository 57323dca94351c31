"""Which result answers which call: what is odd about it in a recording that was read."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

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
    lonely: list[str] = []
    for call_id, entries in results.items():
        callers = _ends_of(calls.get(call_id, []))
        for entry_id in entries:
            if not tree.is_behind_any(entry_id, callers):
                lonely.append(call_id)
    doubled_calls = _in_line_twice(tree, calls)
    doubled_results: list[str] = []
    for call_id in _in_line_twice(tree, results):
        if call_id not in doubled_calls:
            doubled_results.append(call_id)
    yield from _sentence(
        lonely,
        "a tool result answers no call before it",
        "tool results answer no call before them",
    )
    yield from _sentence(
        doubled_calls,
        "an id stands for two calls",
        "ids stand for two calls each",
    )
    yield from _sentence(
        doubled_results,
        "a call has two results",
        "calls have two results each",
    )


def _in_line_twice(tree: "_Tree", entries_by_id: Mapping[str, Sequence[str]]) -> list[str]:
    """The ids of calls two of whose entries stand on one path."""
    doubled: list[str] = []
    for call_id, entries in entries_by_id.items():
        if tree.has_two_in_line(entries):
            doubled.append(call_id)
    return doubled


def _ends_of(entries: list[str]) -> list[str]:
    """The first and the last of many entries, so that a hostile recording costs no more than its
    length.
    """
    if len(entries) <= 2 * COMPARED:
        return entries
    return entries[:COMPARED] + entries[-COMPARED:]


def _sentence(ids: Sequence[str], single: str, many: str) -> Iterator[str]:
    """The sentence for these ids; none where there are none."""
    if not ids:
        return
    first_ids = dict.fromkeys(ids[:NAMED])
    named = ", ".join(repr(call_id) for call_id in first_ids)
    if len(ids) > NAMED:
        named += ", ..."
    if len(ids) == 1:
        yield f"{single}: {named}"
    else:
        yield f"{len(ids):,} {many}: {named}"


class _Tree:
    """Says in constant time whether one entry of a log comes before another on a path.

    Entries are numbered depth first, so that those behind an entry have the numbers that follow
    its own.

    Attributes:
        size: how many entries each one and those behind it are.
        place: the number of each.
    """

    def __init__(self, log: Log) -> None:
        self.size: dict[str, int] = {entry.id: 1 for entry in log}
        for entry in reversed(list(log)):
            if entry.parent is not None:
                self.size[entry.parent] += self.size[entry.id]
        self.place: dict[str, int] = {}
        next_place: dict[str | None, int] = {None: 0}  # of the next entry behind each one
        for entry in log:
            place = next_place[entry.parent]
            self.place[entry.id] = place
            next_place[entry.parent] = place + self.size[entry.id]
            next_place[entry.id] = place + 1

    def is_before(self, earlier: str, later: str) -> bool:
        """Whether the path to an entry leads through another."""
        start = self.place[earlier]
        return start <= self.place[later] < start + self.size[earlier]

    def is_behind_any(self, later: str, entries: Sequence[str]) -> bool:
        """Whether the path to an entry leads through one of these."""
        return any(self.is_before(earlier, later) for earlier in entries)

    def has_two_in_line(self, entries: Sequence[str]) -> bool:
        """Whether two of these entries, in the order of the log, stand on one path."""
        for number, later in enumerate(entries):
            start = max(0, number - COMPARED)
            earlier_entries = entries[start:number]
            if self.is_behind_any(later, earlier_entries):
                return True
        return False
