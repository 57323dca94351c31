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
class RecordedRequest:
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


def recorded_requests(session: Session, sizes: Sequence[int], count: TokenCounter) -> Iterator[RecordedRequest]:
    """Each request of the recording in the order in which it was sent, those before a rewind included.

    Sub-agents, which begin a tree of their own, are left out. `sizes` are the tokens of the session's messages by
    `count`, which also counts summaries, cleared results, and messages off the main path.
    """
    family = {entry.id for entry in session.path[:1]}
    numbers: dict[str | None, int] = {}
    at: str | None = None
    sent = SentContext(session, sizes, count)
    for entry in session.log:
        if entry.id not in family and entry.parent not in family:
            continue
        family.add(entry.id)
        if entry.parent != at:
            sent = SentContext(session, sizes, count)
            for earlier in session.log.path(entry.parent):
                sent.take(earlier)
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant":
            yield RecordedRequest(entry.message, sent.tokens, sent.change, numbers.get(sent.answer))
            numbers[entry.id] = len(numbers)
        sent.take(entry)
        at = entry.id


class SentContext:
    """What the recorded agent sent at one place of the tree, kept up to date in constant time an entry.

    Attributes:
        tokens: the counted size.
        change: what the agent did to its context since its newest answer.
        answer: id of the newest answer whose whole prompt the context begins with; None if none.
    """

    def __init__(self, session: Session, sizes: Sequence[int], count: TokenCounter) -> None:
        self.tokens = 0
        self.change: Change = ""
        self.answer: str | None = None
        self._count = count
        self._known = dict(zip((message.id for message in session.messages), sizes, strict=True))
        self._sizes: list[int] = []
        self._place: dict[str, int] = {}
        self._results: dict[str, int] = {}
        self._start = 0
        self._kept: set[int] = set()

    def take(self, entry: Entry) -> None:
        """Go on by one entry."""
        if isinstance(entry, MessageEntry):
            self._add(entry)
        elif isinstance(entry, CompactionEntry):
            self._compact(entry)
            self.change, self.answer = "compaction", None
        elif isinstance(entry, ClearingEntry):
            self._clear(entry)
            self.change, self.answer = "clearing", None

    def _add(self, entry: MessageEntry) -> None:
        self._place[entry.id] = len(self._sizes)
        if entry.message.role == "tool":
            self._results[entry.message.call_id] = len(self._sizes)
        elif entry.message.role == "assistant":
            self.change, self.answer = "", entry.id
        size = self._known.get(entry.id)
        self._sizes.append(self._count(entry.message) if size is None else size)
        self.tokens += self._sizes[-1]

    def _compact(self, entry: CompactionEntry) -> None:
        self._start = len(self._sizes)
        if entry.kept is not None:
            self._kept = {self._place[one] for one in entry.kept if one in self._place}
        else:
            self._kept = set(range(self._place.get(entry.first_kept or "", self._start), self._start))
        summary = self._count(entry.summary) if entry.summary else 0
        self.tokens = sum(self._sizes[i] for i in self._kept) + summary

    def _clear(self, entry: ClearingEntry) -> None:
        marker = self._count(ToolResult(id="", call_id="", blocks=(Text(CLEARED),)))
        for call_id in entry.call_ids:
            i = self._results.get(call_id)
            if i is not None and self._sizes[i] > marker:
                if i >= self._start or i in self._kept:
                    self.tokens -= self._sizes[i] - marker
                self._sizes[i] = marker
