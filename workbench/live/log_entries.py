"""What is written down in the log of what is heard, compacted and taken back; it only ever grows."""

from collections.abc import Sequence
from dataclasses import replace

from workbench.engine.compaction.engine import Compaction
from workbench.engine.transcript.context import Context, OpenContext
from workbench.engine.transcript.log import CompactionEntry, Log, MessageEntry
from workbench.engine.transcript.message import Summary
from workbench.live.checkpoint import Checkpoint
from workbench.live.formats.shape import HostMessage
from workbench.live.state import State


def log_messages(log: Log, host_messages: Sequence[HostMessage], leaf: str | None) -> str | None:
    """Write messages down behind the leaf; the new leaf."""
    for host_message in host_messages:
        for message in host_message.messages:
            entry = MessageEntry(id=message.id, parent=leaf, message=message)
            log.append(entry)
            leaf = message.id
    return leaf


def log_compaction(log: Log, compaction: Compaction, id: str, leaf: str | None) -> str:
    """Write a compaction down behind the leaf; the new leaf."""
    summaries = summaries_of(compaction.after)
    newest_summary = None
    if summaries:
        newest_summary = summaries[-1]
    ids_before = {message.id for message in compaction.before.messages}
    kept_ids: list[str] = []
    for message in compaction.after.messages:
        if message.id in ids_before:
            kept_ids.append(message.id)
    entry = CompactionEntry(
        id=id,
        parent=leaf,
        summary=newest_summary,
        kept=tuple(kept_ids),
        tokens_before=compaction.before.tokens,
        tokens_after=compaction.after.tokens,
        reason=compaction.budget.reason,
    )
    log.append(entry)
    return entry.id


def log_native_compaction(
    log: Log, context: OpenContext, tokens_before: int, leaf: str | None
) -> str:
    """Write down behind the leaf that the provider compacted, to this context; the new leaf."""
    ids = [message.id for message in context.messages]
    entry = CompactionEntry(
        id=compaction_id(log),
        parent=leaf,
        kept=tuple(ids),
        tokens_before=tokens_before,
        tokens_after=context.tokens,
        reason="by the provider",
    )
    log.append(entry)
    return entry.id


def log_newest_compaction(log: Log, state: State) -> None:
    """Write the newest compaction down on the state's branch too, if it stands on another: with
    what is left here of what it kept.
    """
    mark = state.checkpoints[-1]
    if mark.entry not in log or _is_on_branch(log, mark.entry, state.leaf):
        return
    entry = log[mark.entry]
    if not isinstance(entry, CompactionEntry):
        return
    kept_ids: list[str] = []
    for message in mark.kept.messages:
        if message.id in state.place:
            kept_ids.append(message.id)
    again = replace(
        entry,
        id=compaction_id(log),
        parent=state.leaf,
        kept=tuple(kept_ids),
    )
    log.append(again)
    state.leaf = again.id
    earlier_marks = state.checkpoints[:-1]
    logged_mark = replace(mark, entry=again.id)
    state.checkpoints = (*earlier_marks, logged_mark)


def leaf_at(
    log: Log, heard_count: int, path: Sequence[HostMessage], marks: Sequence[Checkpoint]
) -> str | None:
    """The log's entry at the end of the first so many of the host's messages: the newest
    compaction there, or the newest message.
    """
    newest_message = None
    for host_message in path[:heard_count]:
        if host_message.messages:
            newest_message = host_message.messages[-1].id
    for mark in reversed(marks):
        if mark.heard != heard_count or mark.entry not in log:
            continue
        if _message_before(log, mark.entry) == newest_message:
            return mark.entry
    return newest_message


def _message_before(log: Log, id: str) -> str | None:
    """The message behind which a compaction was made; None for one before all messages."""
    entry = log[id]
    while isinstance(entry, CompactionEntry):
        if entry.parent is None:
            return None
        entry = log[entry.parent]
    return entry.id


def _is_on_branch(log: Log, id: str, leaf: str | None) -> bool:
    """Whether an entry is the leaf or one of those before it."""
    while leaf is not None:
        if leaf == id:
            return True
        leaf = log[leaf].parent
    return False


def compaction_id(log: Log) -> str:
    """The id of the next compaction in the log."""
    return f"compaction-{len(log) + 1}"


def summaries_of(context: Context) -> list[Summary]:
    """The summaries among the messages."""
    return [message for message in context.messages if message.role == "summary"]
