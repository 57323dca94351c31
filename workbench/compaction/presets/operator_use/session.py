"""What surrounds a compaction in Operator-Use: when it may run, what hooks decide, and how the log grows by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.compaction.presets.operator_use.compact import Result
from workbench.compaction.presets.operator_use.counting import after_compaction
from workbench.compaction.presets.operator_use.preparing import Preparation
from workbench.compaction.presets.operator_use.settings import Settings, should_compact
from workbench.compaction.presets.operator_use.wording import LEAD
from workbench.errors import WorkbenchError
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Entry, Log, MessageEntry, NoteEntry, fold
from workbench.transcript.message import Message, Summary
from workbench.transcript.pairing import last_user

Phase: TypeAlias = Literal["idle", "turn", "compaction"]


class NotIdle(WorkbenchError):
    """A compaction was asked for by hand while a turn or another compaction runs."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Where the agent is, and whether somebody asked for a compaction. Values; the agent keeps the newest.

    Attributes:
        instructions: what came with the request; it goes before those of the turn.
    """

    phase: Phase = "idle"
    requested: bool = False
    instructions: str = ""

    def turn(self) -> Schedule:
        """A turn begins."""
        return replace(self, phase="turn")

    def request(self, instructions: str = "") -> Schedule:
        """A compaction is wanted; in mid-turn it waits for the turn's end."""
        return replace(self, requested=True, instructions=instructions)

    def turn_ended(
        self, context_tokens: int, window: int, settings: Settings, *, well: bool = True
    ) -> tuple[Schedule, bool]:
        """After a turn: whether a compaction is to run now. After a turn that failed it is not, and a request stays."""
        due = well and (self.requested or should_compact(context_tokens, window, settings))
        return replace(self, phase="idle"), due

    def run(self) -> Schedule:
        """A compaction begins; the request is spent whatever comes of it.

        Raises:
            NotIdle: a turn or another compaction runs.
        """
        if self.phase != "idle":
            raise NotIdle(f"a compaction can only run when the agent is idle; it is in phase {self.phase!r}")
        return Schedule("compaction")

    def done(self) -> Schedule:
        """It is over, well or not."""
        return replace(self, phase="idle")


@dataclass(frozen=True, slots=True)
class BeforeCompact:
    """What hooks are told before a model is asked."""

    preparation: Preparation
    branch_entries: tuple[Entry, ...]
    custom_instructions: str = ""
    type: Literal["session_before_compact"] = "session_before_compact"


@dataclass(frozen=True, slots=True)
class HookReply:
    """What one hook wants: nothing, no compaction at all, or its own result instead of the model's."""

    cancel: bool = False
    compaction: Result | None = None


@dataclass(frozen=True, slots=True)
class AfterCompact:
    """What hooks are told afterwards."""

    compaction_entry: CompactionEntry
    type: Literal["session_compact"] = "session_compact"


def decided(replies: Iterable[HookReply | None]) -> HookReply:
    """What all hooks together want: one that cancels wins wherever it stands, else the last result."""
    wanted = HookReply()
    for reply in replies:
        if reply is not None and reply.cancel:
            return HookReply(cancel=True)
        if reply is not None and reply.compaction is not None:
            wanted = reply
    return wanted


def appended(log: Log, finished: Result, id: str, *, time: float | None = None) -> Log:
    """A log with the compaction's entry at the end of its path. The given log is not touched, nothing is deleted.

    The newest user message stays in the context also where its turn was parted before it.

    Args:
        log: its leaf is the end of the path.
        finished: the compaction.
        id: of the new entry.
        time: seconds since the epoch, where known.
    """
    path = log.path()
    grown = Log(log)
    grown.leaf = log.leaf
    files = FileOps(finished.details.read_files, finished.details.modified_files)
    kept = _kept(path, finished.retained_from_id)
    retained = set(() if kept is None else kept)
    shown = fold(path)
    gone = tuple(message.id for message in shown if message.id not in retained) if kept is not None else ()
    summary = Summary(id=id, text=finished.summary, replaces=gone, files=files, lead=LEAD)
    entry = CompactionEntry(
        id=id, parent=log.leaf, summary=summary, first_kept=finished.retained_from_id, kept=kept,
        tokens_before=finished.tokens_before, time=time,
    )  # fmt: skip
    grown.append(entry)
    return grown


def _kept(path: Sequence[Entry], first: str) -> tuple[str, ...] | None:
    """Ids of what stays; None where the first of them is unknown, so that nothing does."""
    start = next((i for i, entry in enumerate(path) if entry.id == first), None)
    if start is None:
        return None
    said = [(i, entry.message) for i, entry in enumerate(path) if isinstance(entry, MessageEntry)]
    newest = last_user([message for _, message in said])
    beside = [said[newest]] if newest is not None and said[newest][0] < start else []
    pinned = [(i, message) for i, message in said if i < start and message.pinned]
    stays = sorted({i: message.id for i, message in [*beside, *pinned, *(x for x in said if x[0] >= start)]}.items())
    return tuple(id for _, id in stays)


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What the next turn starts from; `context_tokens` is estimated anew, not taken from old reports."""

    messages: tuple[Message, ...]
    model: str
    thinking_level: str
    context_tokens: int


def rebuilt(path: Sequence[Entry]) -> SessionContext:
    """The context at the end of a path: its newest summary, what that kept, and all that came later.

    Labels and changes of model are not sent; the last change of model and of thinking level on the path holds.
    """
    messages = fold(path)
    last = {entry.kind: entry.text for entry in path if isinstance(entry, NoteEntry)}
    return SessionContext(
        messages, last.get("model_change", ""), last.get("thinking_level_change", ""), after_compaction(messages)
    )
