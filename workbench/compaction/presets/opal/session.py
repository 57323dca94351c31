"""What surrounds a compaction in Opal: the session's tree, the events, and the compaction that a user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.compaction.presets.opal.cut import KEEP_BY_HAND
from workbench.compaction.presets.opal.usage import UsageTally
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.log import CompactionEntry, Log, LogError, fold
from workbench.transcript.message import Message, Summary, SystemMessage


def replace_path_segment(log: Log, ids: Sequence[str], summary: Summary) -> Log:
    """A log whose path shows the summary in the place of these messages. The given log is not touched.

    Nothing is deleted: an entry is appended that names what stays. The replaced messages remain in the tree, with every
    branch that leaves from one of them, and the leaf is the new entry.

    Args:
        log: with the path to its leaf.
        ids: the messages as the path shows them, in order, an earlier summary among them; nothing but system
            messages may stand before the first.
        summary: what stands for them.

    Raises:
        LogError: they are not neighbours at the beginning of the path.
    """
    shown = fold(log.path())
    start = next((i for i, message in enumerate(shown) if message.id == ids[0]), None) if ids else None
    segment = () if start is None else shown[start : start + len(ids)]
    if start is None or [message.id for message in segment] != list(ids):
        raise LogError(f"the {len(ids)} messages to replace are not neighbours on the path to {log.leaf!r}")
    if not all(isinstance(message, SystemMessage) for message in shown[:start]):
        raise LogError(f"message {ids[0]!r} is not the first of its path: only a path's beginning can be summarised")
    gone = set(ids)
    grown = Log(log)
    grown.leaf = log.leaf
    kept = tuple(message.id for message in shown if message.id not in gone)
    grown.append(CompactionEntry(id=summary.id, parent=log.leaf, summary=summary, kept=kept, reason="opal"))
    return grown


def path_messages(log: Log) -> tuple[Message, ...]:
    """The history as the agent has it: the path to the leaf with its newest summary."""
    return fold(log.path())


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A compaction begins. `reason` is empty, or `overflow`."""

    messages: int
    reason: str = ""
    type: Literal["compaction_start"] = "compaction_start"


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """It is over, also where there was nothing to compact: the counts are then the same."""

    before: int
    after: int
    type: Literal["compaction_end"] = "compaction_end"


@dataclass(frozen=True, slots=True)
class UsageUpdated:
    """The provider reported; the window stands in every report."""

    usage: UsageTally
    context_window: int
    type: Literal["usage_update"] = "usage_update"


@dataclass(frozen=True, slots=True)
class Failed:
    """An overflow that cannot be compacted away: there is no session, or it was compacted already."""

    reason: str
    type: Literal["error"] = "error"


Event: TypeAlias = CompactionStarted | CompactionEnded | UsageUpdated | Failed


def announced(before: Context, after: Context, reason: str = "") -> tuple[CompactionStarted, CompactionEnded]:
    """The two events of one compaction; the threshold's start names no reason."""
    shown = "" if reason == "threshold" else reason
    return CompactionStarted(len(before.messages), shown), CompactionEnded(len(before.messages), len(after.messages))


def by_hand(window: int, keep_recent: object = None, instructions: str = "") -> Budget:
    """The budget of a compaction that a user asks for.

    Args:
        window: tokens.
        keep_recent: tokens of newest messages to keep; anything but a positive whole number means 20,000.
        instructions: what the summary should dwell on.
    """
    valid = isinstance(keep_recent, int) and not isinstance(keep_recent, bool) and keep_recent > 0
    keep = keep_recent if valid and isinstance(keep_recent, int) else KEEP_BY_HAND
    return Budget(target=keep, window=window, reason="manual", keep_recent=keep, instructions=instructions)
