"""Where Operator-Use cuts a path of entries: never at a tool result, and labels travel with what follows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.compaction.cut import Cut
from workbench.compaction.presets.operator_use.settings import OperatorSettings
from workbench.compaction.presets.swap import free, granted, whole, within
from workbench.compaction.presets.token_counters import operator_tokens
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.log import CompactionEntry, Entry, MessageEntry
from workbench.transcript.message import Message, Summary, SystemMessage, ToolResult, UserMessage


@dataclass(frozen=True, slots=True)
class CutPoint:
    """Indices among entries.

    Attributes:
        first_kept: the first entry that stays.
        turn_start: where the turn begins that the cut parts; None if it parts none.
    """

    first_kept: int
    turn_start: int | None = None

    @property
    def is_split(self) -> bool:
        """Whether a turn is parted."""
        return self.turn_start is not None


def previous_compaction(path: Sequence[Entry]) -> int | None:
    """The index of the newest compaction."""
    return next((i for i in range(len(path) - 1, -1, -1) if isinstance(path[i], CompactionEntry)), None)


def boundary_start(path: Sequence[Entry]) -> int:
    """Where what may be summarised begins: at what the newest compaction kept, so that its tail is looked at again."""
    at = previous_compaction(path)
    if at is None:
        return 0
    compaction = path[at]
    assert isinstance(compaction, CompactionEntry)
    return next((i for i, entry in enumerate(path) if entry.id == compaction.first_kept), at + 1)


def _message(entry: Entry) -> Message | None:
    return entry.message if isinstance(entry, MessageEntry) else None


def _valid(entry: Entry) -> bool:
    message = _message(entry)
    return message is not None and not isinstance(message, ToolResult | SystemMessage)


def _begins(entry: Entry) -> bool:
    """Whether a turn begins here: a user's or a client's message, or the summary of another branch."""
    return isinstance(_message(entry), UserMessage | Summary)


def find_cut(path: Sequence[Entry], start: int, end: int, keep_recent_tokens: int) -> CutPoint:
    """The cut in `path[start:end]` that keeps at least that much; at the start where there is none.

    Args:
        path: from the root to the leaf.
        start: the first entry that may be summarised.
        end: one past the last that is looked at.
        keep_recent_tokens: counted over messages alone.
    """
    first = next((i for i in range(start, end) if _valid(path[i])), None)
    if first is None:
        return CutPoint(start)
    at, total = first, 0
    for i in range(end - 1, start - 1, -1):
        message = _message(path[i])
        if message is None:
            continue
        total += operator_tokens(message)
        if total >= keep_recent_tokens:
            at = next((place for place in range(max(i, first), end) if _valid(path[place])), at)
            break
    while at > start and not isinstance(path[at - 1], MessageEntry | CompactionEntry):
        at -= 1
    return CutPoint(at, turn_start(path, start, at))


def turn_start(path: Sequence[Entry], start: int, at: int) -> int | None:
    """Where the turn begins that a cut at `at` parts; None if a turn begins there, or none does in this part."""
    first = next((i for i in range(at, len(path)) if isinstance(path[i], MessageEntry)), at)
    if first < len(path) and _begins(path[first]):
        return None
    return next((i for i in range(at - 1, start - 1, -1) if _begins(path[i])), None)


@dataclass(frozen=True, slots=True)
class OperatorCut:
    """The same cut of a context."""

    settings: Callable[[], OperatorSettings] = field(default=OperatorSettings)

    def find(self, context: Context, budget: Budget, /) -> Cut | None:
        """The cut; None where there is nothing to summarise before it."""
        indices = free(context.messages)
        path = entries([context.messages[i] for i in indices])
        start = boundary_start(path)
        own = self.settings().keep_recent_tokens if budget.keep_recent is None else budget.keep_recent
        at = find_cut(path, start, len(path), granted(context, budget, own)).first_kept
        said = [context.messages[i] for i in indices]
        at = within(context, budget, indices, at)
        if at < len(said):
            paired = whole(said, at) if at > start else None
            if paired is None or paired <= start:
                return None
            at = paired
        turn = turn_start(path, start, at) if at < len(path) else None
        keep = indices[at] if at < len(indices) else len(context.messages)
        return Cut(keep if turn is None else indices[turn], keep)


def entries(messages: Sequence[Message]) -> tuple[Entry, ...]:
    """The path that these messages would stand on: a summary is the compaction that wrote it."""
    path: list[Entry] = []
    for i, message in enumerate(messages):
        if isinstance(message, Summary):
            following = messages[i + 1].id if i + 1 < len(messages) else None
            path.append(CompactionEntry(id=message.id, parent=None, summary=message, first_kept=following))
        else:
            path.append(MessageEntry(id=message.id, parent=None, message=message))
    return tuple(path)
