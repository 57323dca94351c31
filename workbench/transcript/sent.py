"""What a recorded agent really sent: the counted size of each request, along the tree and through its compactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.transcript.log import CLEARED, ClearingEntry, CompactionEntry, Entry, MessageEntry
from workbench.transcript.message import AssistantMessage, Text, ToolResult
from workbench.transcript.session import Session
from workbench.transcript.tokens import TokenCounter

Change: TypeAlias = Literal["", "compaction", "clearing"]


@dataclass(frozen=True, slots=True)
class Request:
    """One recorded answer with the request that it answered.

    Attributes:
        answer: the recorded message.
        counted: tokens of what the recording shows was sent, without what no message holds.
        change: what the recorded agent did to its context since the request before on this branch.
        begins_with: number of the newest earlier request whose whole prompt this one begins with; None if none.
    """

    answer: AssistantMessage
    counted: int
    change: Change
    begins_with: int | None


def requests(session: Session, sizes: Sequence[int], count: TokenCounter) -> Iterator[Request]:
    """Each request of the recording in the order in which it was sent, also those that a rewind left behind.

    Sub-agents, which begin a tree of their own, are left out.

    Args:
        session: the recording.
        sizes: tokens of each of `session.messages`, as `count` gives them.
        count: the counter, for summaries, cleared results, and messages off the main path.
    """
    if not session.path:
        return
    walk = _Walk(session, sizes, count)
    family = {session.path[0].id}
    for entry in session.log:
        if entry.id in family or entry.parent in family:
            family.add(entry.id)
            walk.go(entry.parent)
            if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
                yield walk.request(entry.id, entry.message)
            walk.take(entry)


class _Walk:
    """Stands at a place of the tree; going on costs the same however long the way is, going back the way's length."""

    def __init__(self, session: Session, sizes: Sequence[int], count: TokenCounter) -> None:
        self.session, self.count = session, count
        self.size = dict(zip((message.id for message in session.messages), sizes, strict=True))
        self.numbers: dict[str, int] = {}
        self.start()

    def start(self) -> None:
        """Stand before the root."""
        self.at: str | None = None
        self.sent = Sent(self.count)
        self.whole: int | None = None
        self.change: Change = ""

    def go(self, place: str | None) -> None:
        """Stand behind this entry."""
        if place == self.at:
            return
        self.start()
        for entry in self.session.log.path(place) if place is not None else ():
            self.take(entry)

    def request(self, id: str, answer: AssistantMessage) -> Request:
        """The request that was answered here."""
        made = Request(answer, self.sent.tokens, self.change, self.whole)
        self.numbers[id] = len(self.numbers)
        return made

    def take(self, entry: Entry) -> None:
        """Go one step on."""
        self.at = entry.id
        if isinstance(entry, MessageEntry):
            size = self.size.get(entry.id)
            self.sent.add(entry, self.count(entry.message) if size is None else size)
            if entry.id in self.numbers:
                self.whole, self.change = self.numbers[entry.id], ""
        elif isinstance(entry, CompactionEntry):
            self.sent.compact(entry)
            self.whole, self.change = None, "compaction"
        elif isinstance(entry, ClearingEntry):
            self.sent.clear(entry)
            self.whole, self.change = None, "clearing"


class Sent:
    """The counted size of what the recorded agent sent, kept up to date in constant time a message."""

    def __init__(self, count: TokenCounter) -> None:
        self.count = count
        self.tokens = 0
        self.sizes: list[int] = []
        self.place: dict[str, int] = {}
        self.results: dict[str, int] = {}
        self.start = 0
        self.kept: set[int] = set()

    def add(self, entry: MessageEntry, size: int) -> None:
        """A message was said."""
        self.place[entry.id] = len(self.sizes)
        if isinstance(entry.message, ToolResult):
            self.results[entry.message.call_id] = len(self.sizes)
        self.sizes.append(size)
        self.tokens += size

    def compact(self, entry: CompactionEntry) -> None:
        """The context was compacted: the summary and what was kept are left."""
        end = len(self.sizes)
        if entry.kept is not None:
            kept = {self.place[one] for one in entry.kept if one in self.place}
        else:
            kept = set(range(self.place.get(entry.first_kept or "", end), end))
        self.kept, self.start = kept, end
        self.tokens = sum(self.sizes[i] for i in kept) + (self.count(entry.summary) if entry.summary else 0)

    def clear(self, entry: ClearingEntry) -> None:
        """Results were cleared: a marker stands in their place."""
        marker = self.count(ToolResult(id="", call_id="", blocks=(Text(CLEARED),)))
        for call_id in entry.call_ids:
            i = self.results.get(call_id)
            if i is not None and self.sizes[i] > marker:
                if i >= self.start or i in self.kept:
                    self.tokens -= self.sizes[i] - marker
                self.sizes[i] = marker
