"""The append-only record of a conversation: a tree of entries, and the fold of a path into what
was sent.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.base.errors import WorkbenchError
from workbench.engine.transcript.message import Message, Summary, Text, Usage

CLEARED = "[result cleared from the context]"


class LogError(WorkbenchError):
    """An entry does not fit the tree: its id is taken, or its parent is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEntry:
    """A message; the entry's id is the message's."""

    id: str
    parent: str | None
    message: Message
    type: Literal["message"] = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEntry:
    """The recorded agent compacted its context here.

    Attributes:
        summary: None where no model wrote one, or where the recording does not show it.
        hidden_summary: whether a model wrote a summary that the recording does not show (encrypted,
            or not kept).
        first_kept: id of the first entry before this one that stayed in the context; None if none
            did.
        kept: ids of all entries that stayed, where the recording names them one by one.
        tokens_before, tokens_after: the agent's own figures; None if it gave none.
        reason: the recording's own word, such as `auto` or `manual`.
        usage: what the provider reported for the request that made it; None where the recording
            does not say.
    """

    id: str
    parent: str | None
    summary: Summary | None = None
    hidden_summary: bool = False
    first_kept: str | None = None
    kept: tuple[str, ...] | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    reason: str = ""
    usage: Usage | None = None
    time: float | None = None
    type: Literal["compaction"] = "compaction"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearingEntry:
    """The recorded agent cleared the results of these calls from its context, and nothing else."""

    id: str
    parent: str | None
    call_ids: tuple[str, ...]
    tokens_before: int | None = None
    tokens_saved: int | None = None
    reason: str = ""
    time: float | None = None
    type: Literal["clearing"] = "clearing"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteEntry:
    """Anything else in the tree that is not sent: a label, a change of model, a notice."""

    id: str
    parent: str | None
    kind: str
    text: str = ""
    time: float | None = None
    type: Literal["note"] = "note"


Entry: TypeAlias = MessageEntry | CompactionEntry | ClearingEntry | NoteEntry


class Log:
    """A tree of entries that only grows. `leaf` is the newest entry unless it was moved."""

    __slots__ = ("_by_id", "_entries", "leaf")

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self.leaf: str | None = None
        for entry in entries:
            self.append(entry)

    def __copy__(self) -> "Log":
        copy = Log()
        copy._entries = list(self._entries)
        copy._by_id = dict(self._by_id)
        copy.leaf = self.leaf
        return copy

    def append(self, entry: Entry) -> None:
        """Add one entry and make it the leaf.

        Raises:
            LogError: the id is taken, or the parent is unknown.
        """
        if entry.id in self._by_id:
            raise LogError(f"the log has an entry {entry.id!r} already; give each entry another id")
        if entry.parent is not None and entry.parent not in self._by_id:
            raise LogError(
                f"entry {entry.id!r} names the unknown parent {entry.parent!r}; append the parent"
                " first"
            )
        self._entries.append(entry)
        self._by_id[entry.id] = entry
        self.leaf = entry.id

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._by_id

    def __getitem__(self, entry_id: str) -> Entry:
        return self._by_id[entry_id]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Log):
            return False
        return self._entries == other._entries and self.leaf == other.leaf

    __hash__ = None  # type: ignore[assignment]  # it grows

    def leaves(self) -> tuple[str, ...]:
        """Ids of the entries that nothing follows: one a branch, in file order."""
        parents = {entry.parent for entry in self}
        leaves: list[str] = []
        for entry in self:
            if entry.id not in parents:
                leaves.append(entry.id)
        return tuple(leaves)

    def path(self, leaf: str | None = None) -> tuple[Entry, ...]:
        """The entries from the root to this leaf (the log's own leaf if none is named)."""
        entry_id = leaf
        if leaf is None:
            entry_id = self.leaf
        entries: list[Entry] = []
        while entry_id is not None:
            entry = self._by_id[entry_id]
            entries.append(entry)
            entry_id = entry.parent
        return tuple(reversed(entries))


def fold(path: Sequence[Entry]) -> tuple[Message, ...]:
    """The messages that the recorded agent would have sent at the end of this path.

    The last compaction's summary comes first, then what it kept, then all that came later; results
    that were cleared on the way hold a marker. Without a compaction: all messages.
    """
    compaction: CompactionEntry | None = None
    start = 0
    cleared: set[str] = set()
    for index, entry in enumerate(path):
        if isinstance(entry, ClearingEntry):
            cleared.update(entry.call_ids)
        elif isinstance(entry, CompactionEntry):
            compaction = entry
            start = index
    messages: list[Message] = []
    if compaction is not None:
        if compaction.summary is not None:
            messages.append(compaction.summary)
        messages += _messages(_kept_entries(path[:start], compaction))
    messages += _messages(path[start:])
    return tuple(_without_result(message, cleared) for message in messages)


def _without_result(message: Message, cleared: Collection[str]) -> Message:
    """The message, with a marker in the place of a result that was cleared."""
    if message.role == "tool" and message.call_id in cleared:
        return replace(message, blocks=(Text(CLEARED),))
    return message


def _messages(entries: Iterable[Entry]) -> list[Message]:
    return [entry.message for entry in entries if isinstance(entry, MessageEntry)]


def _kept_entries(earlier_entries: Sequence[Entry], compaction: CompactionEntry) -> Sequence[Entry]:
    if compaction.kept is not None:
        kept_ids = set(compaction.kept)
        return [entry for entry in earlier_entries if entry.id in kept_ids]
    for index, entry in enumerate(earlier_entries):
        if entry.id == compaction.first_kept:
            return earlier_entries[index:]
    return ()
