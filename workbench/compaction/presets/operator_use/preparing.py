"""The first step of a compaction: what will be summarised, before any model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.compaction.presets.operator_use.counting import context_estimate
from workbench.compaction.presets.operator_use.cut import boundary_start, find_cut, previous_compaction
from workbench.compaction.presets.operator_use.settings import Settings
from workbench.compaction.presets.operator_use.wording import in_order
from workbench.compaction.tracking import file_ops
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Entry, MessageEntry, fold
from workbench.transcript.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """All that the second step needs.

    Attributes:
        retained_from_id: the first entry that the model still sees in full.
        messages_to_summarize: what becomes the summary.
        turn_prefix_messages: the start of the turn that the cut parts.
        tokens_before: the context's size now.
        previous_summary: what the newest compaction wrote; None if there is none.
        file_ops: of that compaction and of all that is summarised now, sorted.
        settings: as they were when this was prepared.
    """

    retained_from_id: str
    messages_to_summarize: tuple[Message, ...]
    turn_prefix_messages: tuple[Message, ...]
    is_split_turn: bool
    tokens_before: int
    previous_summary: str | None
    file_ops: FileOps
    settings: Settings


def prepare(path: Sequence[Entry], settings: Settings) -> Preparation | None:
    """What a compaction of this path would do; None where none is possible.

    None where the path is empty or ends in a compaction, where there is no place to cut, and where everything fits
    into what is kept, so that nothing would be summarised.

    Args:
        path: from the root to the leaf.
        settings: of this moment.
    """
    if not path or isinstance(path[-1], CompactionEntry):
        return None
    start = boundary_start(path)
    cut = find_cut(path, start, len(path), settings.keep_recent_tokens)
    history_end = cut.first_kept if cut.turn_start is None else cut.turn_start
    history = _messages(path[start:history_end])
    prefix = _messages(path[history_end : cut.first_kept])
    if cut.first_kept >= len(path) or not (history or prefix):
        return None
    at = previous_compaction(path)
    previous = path[at] if at is not None else None
    summary = previous.summary if isinstance(previous, CompactionEntry) else None
    return Preparation(
        retained_from_id=path[cut.first_kept].id,
        messages_to_summarize=history,
        turn_prefix_messages=prefix,
        is_split_turn=cut.is_split,
        tokens_before=context_estimate(fold(path)).tokens,
        previous_summary=None if summary is None else summary.text,
        file_ops=in_order(file_ops([*([] if summary is None else [summary]), *history, *prefix])),
        settings=replace(settings),
    )


def _messages(path: Iterable[Entry]) -> tuple[Message, ...]:
    return tuple(entry.message for entry in path if isinstance(entry, MessageEntry))
