"""What a recorded agent sent at one place of its recording, as far as the recording shows it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from workbench.engine.transcript.log import (
    CLEARED,
    ClearingEntry,
    CompactionEntry,
    Entry,
    MessageEntry,
)
from workbench.engine.transcript.message import Text, TokenCounter, ToolResult
from workbench.engine.transcript.session import Session

NONE_LEAVES: Mapping[str, int] = MappingProxyType({})
"""Where all of an answer is sent again."""


class SentContext:
    """What the recorded agent sent at one place of the tree, kept up to date in constant time an
    entry.

    Attributes:
        tokens: the counted size.
        summary: the counted size of the newest summary in it.
    """

    def __init__(
        self,
        session: Session,
        sizes: Sequence[int],
        count: TokenCounter,
        leaving: Mapping[str, int] = NONE_LEAVES,
    ) -> None:
        self.tokens = 0
        self.summary = 0
        self._count = count
        self._leaving = leaving
        self._answers_of_turn: list[str] = []
        ids = [message.id for message in session.messages]
        self._known = dict(zip(ids, sizes, strict=True))
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
        elif isinstance(entry, ClearingEntry):
            self._clear(entry)

    def _add(self, entry: MessageEntry) -> None:
        if entry.message.role == "user" and self._leaving:
            self._end_turn()
        self._place[entry.id] = len(self._sizes)
        if entry.message.role == "tool":
            self._results[entry.message.call_id] = len(self._sizes)
        elif entry.message.role == "assistant":
            self._answers_of_turn.append(entry.id)
        size = self._known.get(entry.id)
        if size is None:
            size = self._count(entry.message)
        self._sizes.append(size)
        self.tokens += size

    def _end_turn(self) -> None:
        """Take out what is sent no more of the answers since the user last spoke."""
        for answer_id in self._answers_of_turn:
            tokens = self._leaving.get(answer_id, 0)
            place = self._place[answer_id]
            self._sizes[place] -= tokens
            if self._is_sent(place):
                self.tokens -= tokens
        self._answers_of_turn.clear()

    def _compact(self, entry: CompactionEntry) -> None:
        self._start = len(self._sizes)
        self._kept = self._places_kept(entry)
        self.summary = 0
        if entry.summary:
            self.summary = self._count(entry.summary)
        self.tokens = self.summary
        for place in self._kept:
            self.tokens += self._sizes[place]

    def _places_kept(self, entry: CompactionEntry) -> set[int]:
        """The places of the messages that a compaction kept as they were."""
        if entry.kept is None:
            first_kept = self._place.get(entry.first_kept or "", self._start)
            return set(range(first_kept, self._start))
        places: set[int] = set()
        for id in entry.kept:
            if id in self._place:
                places.add(self._place[id])
        return places

    def messages(self) -> dict[str, int]:
        """The counted size of each message that is in the context, by its entry's id."""
        sizes: dict[str, int] = {}
        for entry_id, place in self._place.items():
            if self._is_sent(place):
                sizes[entry_id] = self._sizes[place]
        return sizes

    def holds(self, entry_id: str) -> bool:
        """Whether a message of an entry that was taken is in the context."""
        return self._is_sent(self._place[entry_id])

    def _is_sent(self, place: int) -> bool:
        return place >= self._start or place in self._kept

    def _clear(self, entry: ClearingEntry) -> None:
        marker = self._count(ToolResult(id="", call_id="", blocks=(Text(CLEARED),)))
        for call_id in entry.call_ids:
            place = self._results.get(call_id)
            if place is None or self._sizes[place] <= marker:
                continue
            if self._is_sent(place):
                self.tokens -= self._sizes[place] - marker
            self._sizes[place] = marker
