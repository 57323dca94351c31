"""The history just after a compaction, and what of it stands when the host goes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.guard import violations
from workbench.engine.models.model import Completion
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, ToolResult
from workbench.live.context_edits import (
    SizedMessage,
    longer,
    with_exchanged,
    with_newest_user,
    with_reworded,
)
from workbench.live.formats.shape import HostMessage, OutgoingMessage
from workbench.live.formats.table import MessageFormat
from workbench.live.outgoing import places_of, write_messages


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state just after a compaction.

    Attributes:
        heard: how many of the host's messages had been heard.
        covers: how many of them it covers: it stands as long as these are the same. It left those
            behind them as they were, in their order and with nothing new between or behind them.
        usd: what its summaries cost; None if unknown.
        entry: its newest entry in the log, which may stand on a branch that the host has left.
    """

    heard: int
    kept: Context
    sent: Context
    shown: tuple[OutgoingMessage, ...] = ()
    entry: str = ""
    covers: int = 0
    usd: float | None = 0.0

    @classmethod
    def after(
        cls,
        compaction: Compaction,
        path: Sequence[HostMessage],
        places: Mapping[str, int],
        format: MessageFormat,
        entry: str,
    ) -> Checkpoint:
        """The state after a compaction of all of the host's messages in the path."""
        outgoing = tuple(write_messages(compaction.sent.messages, path, places, format))
        covers = _covered(compaction, path)
        for message in outgoing:
            if message.made and message.at is not None:
                covers = max(covers, message.at + 1)
        return cls(
            heard=len(path),
            kept=compaction.after,
            sent=compaction.sent,
            shown=outgoing,
            entry=entry,
            covers=covers,
            usd=_total_usd(compaction.completions),
        )

    def on(
        self,
        path: Sequence[HostMessage],
        old_path: Sequence[HostMessage],
        has_later_question: bool,
        format: MessageFormat,
    ) -> Checkpoint:
        """The same on a path that has fewer of the host's messages at its end, or another wording
        of the newest.

        Without a later question of a person the newest user message of the path is in it, whatever
        was left out.
        """
        same = _same_length(path, old_path)
        if self.heard <= same:
            return self
        dropped: list[Message] = []
        for host_message in old_path[same : self.heard]:
            dropped += host_message.messages
        replacements = _sized_messages(path[same:])
        kept_context = with_exchanged(self.kept, dropped, replacements)
        sent = with_exchanged(self.sent, dropped, replacements)
        if not has_later_question:
            sized = _sized_messages(path)
            kept_context = with_newest_user(kept_context, sized)
            sent = with_newest_user(sent, sized)
        outgoing = write_messages(sent.messages, path, places_of(path), format)
        return replace(
            self,
            heard=len(path),
            kept=kept_context,
            sent=sent,
            shown=tuple(outgoing),
        )

    def hides_result_at_end(self, path: Sequence[HostMessage]) -> bool:
        """Whether it covers the whole of a shorter path that ends with results: the agent has not
        answered these yet.
        """
        if not self.covers == len(path) < self.heard:
            return False
        return any(isinstance(message, ToolResult) for message in path[-1].messages)

    def reworded(self, old: Message, new: Message, size: int) -> Checkpoint:
        """The same with another message in the place of one."""
        kept_context = sent = with_reworded(self.kept, old, new, size)
        if self.sent is not self.kept:
            sent = with_reworded(self.sent, old, new, size)
        return replace(self, kept=kept_context, sent=sent)


def _total_usd(completions: Iterable[Completion]) -> float | None:
    """What completions cost together; None once the cost of one is unknown."""
    usd = 0.0
    for completion in completions:
        if completion.usd is None:
            return None
        usd += completion.usd
    return usd


def _same_length(path: Sequence[HostMessage], old_path: Sequence[HostMessage]) -> int:
    """How many of the first messages of a path are those of the old one."""
    for place, (present, old) in enumerate(zip(path, old_path, strict=False)):
        if present is not old:
            return place
    return len(path)


def _sized_messages(path: Sequence[HostMessage]) -> list[SizedMessage]:
    """All messages of a path, each with its tokens."""
    sized: list[SizedMessage] = []
    for host_message in path:
        sized += zip(host_message.messages, host_message.sizes, strict=True)
    return sized


def _covered(compaction: Compaction, path: Sequence[HostMessage]) -> int:
    """How many of the host's messages a compaction covers: all but those at the end that it left
    as they were.
    """
    after_messages = reversed(compaction.after.messages)
    sent_messages = reversed(compaction.sent.messages)
    for count in range(len(path), 0, -1):
        for message in reversed(path[count - 1].messages):
            is_after = next(after_messages, None) is message
            if not is_after or next(sent_messages, None) is not message:
                return count
    return 0


def fits_before(compaction: Compaction, later_path: Sequence[HostMessage]) -> bool:
    """Whether what was heard meanwhile may stand behind a compaction."""
    later_messages: list[Message] = []
    for host_message in later_path:
        later_messages += host_message.messages
    if not later_messages:
        return True
    history = longer(compaction.before, later_messages)
    compacted = longer(compaction.after, later_messages)
    return not violations(history, compacted)
