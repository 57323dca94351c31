"""What surrounds a compaction in Operator-Use: what is prepared, when it may run, and how the log grows by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.compaction.plan import Plan
from workbench.compaction.presets.host import UNLIMITED, FixedCut
from workbench.compaction.presets.operator_use.compact import (
    LEAD,
    OPERATOR_SUMMARY,
    OperatorSettings,
    boundary_start,
    find_cut,
    in_order,
    previous_compaction,
)
from workbench.compaction.presets.token_counters import operator_tokens, usage_tokens
from workbench.compaction.span_selection import Span, SummaryInput
from workbench.compaction.stage import Budget
from workbench.errors import ModelError, WorkbenchError
from workbench.models.model import SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Entry, Log, MessageEntry, NoteEntry, fold
from workbench.transcript.message import AssistantMessage, Message, Summary
from workbench.transcript.pairing import last_user

FAILED = frozenset({"error", "aborted", "abort"})


def context_estimate(messages: Sequence[Message]) -> tuple[int, int | None]:
    """Tokens by the newest report of an answer that ended well, and by estimate; the index of that answer, if any."""
    for i in range(len(messages) - 1, -1, -1):
        message = messages[i]
        if isinstance(message, AssistantMessage) and message.usage is not None and message.stop not in FAILED:
            reported = usage_tokens(message.usage)
            if reported:
                return reported + sum(map(operator_tokens, messages[i + 1 :])), i
    return sum(map(operator_tokens, messages)), None


@dataclass(frozen=True, slots=True)
class Preparation:
    """The first step, before any model is asked: what will be summarised, and the first entry that stays in full."""

    retained_from_id: str
    given: SummaryInput
    tokens_before: int
    settings: OperatorSettings


def prepare(path: Sequence[Entry], settings: OperatorSettings) -> Preparation | None:
    """What a compaction of this path, from the root to the leaf, would do; None where none is possible.

    None where the path is empty or ends in a compaction, where there is no place to cut, and where everything fits.
    """
    if not path or isinstance(path[-1], CompactionEntry):
        return None
    start = boundary_start(path)
    cut = find_cut(path, start, len(path), settings.keep_recent_tokens)
    history_end = cut.first_kept if cut.turn_start is None else cut.turn_start
    history, prefix = _messages(path[start:history_end]), _messages(path[history_end : cut.first_kept])
    if cut.first_kept >= len(path) or not (history or prefix):
        return None
    previous = previous_compaction(path)
    earlier = () if previous is None or previous[1].summary is None else (previous[1].summary,)
    context = Context.of(fold(path), operator_tokens)
    given = in_order(context, SummaryInput(earlier, history, prefix))
    return Preparation(path[cut.first_kept].id, given, context_estimate(context.messages)[0], settings)


def _messages(path: Iterable[Entry]) -> tuple[Message, ...]:
    return tuple(entry.message for entry in path if isinstance(entry, MessageEntry))


@dataclass(frozen=True, slots=True)
class OperatorCompaction:
    """A finished compaction, or one that a hook supplies: its text with the file footer, and all files so far."""

    summary: str
    retained_from_id: str
    tokens_before: int
    details: FileOps = FileOps()


def requests(prepared: Preparation, instructions: str = "") -> tuple[SummaryRequest, ...]:
    """One request, or two for a split turn; the instructions are for the history, the turn's start is not told them."""
    return _planned(prepared, instructions)[1].requests


def finished(prepared: Preparation, answers: Sequence[str]) -> OperatorCompaction:
    """The compaction with these answers, one for each request."""
    context, plan = _planned(prepared)
    (summary,) = (one for one in plan.apply(context, answers).messages if isinstance(one, Summary))
    return OperatorCompaction(summary.text, prepared.retained_from_id, prepared.tokens_before, prepared.given.files)


def _planned(prepared: Preparation, instructions: str = "") -> tuple[Context, Plan]:
    """The stage's plan for a context of nothing but what is summarised."""
    given = prepared.given
    context = Context.of((*given.earlier, *given.new), operator_tokens)
    span = Span(tuple(range(len(context.messages))), len(given.earlier) + len(given.history))
    stage = replace(OPERATOR_SUMMARY, cut=FixedCut(span), limits=UNLIMITED)
    plan = stage.plan(context, Budget(target=0, window=0, instructions=instructions))
    assert plan is not None
    return context, plan


def failed(why: str, *, turn_prefix: bool = False) -> ModelError:
    """The error for a model that stopped with an error of its own."""
    what = "Turn prefix summarization" if turn_prefix else "Summarization"
    return ModelError(f"{what} failed: {why.strip() or 'Unknown error'}")


class NotIdle(WorkbenchError):
    """A compaction was asked for by hand while a turn or another compaction runs."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Where the agent is, and whether somebody asked for a compaction. A value: the host keeps the newest."""

    phase: Literal["idle", "turn", "compaction"] = "idle"
    requested: bool = False
    instructions: str = ""

    def turn(self) -> Schedule:
        """A turn begins."""
        return replace(self, phase="turn")

    def request(self, instructions: str = "") -> Schedule:
        """A compaction is wanted; in mid-turn it waits for the turn's end."""
        return replace(self, requested=True, instructions=instructions)

    def turn_ended(
        self, context_tokens: int, window: int, settings: OperatorSettings, *, well: bool = True
    ) -> tuple[Schedule, bool]:
        """After a turn: whether a compaction is to run now. After a turn that failed it is not, and a request stays."""
        due = well and (self.requested or settings.due(context_tokens, window))
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


def appended(log: Log, done: OperatorCompaction, id: str, *, time: float | None = None) -> Log:
    """A log with the compaction's entry at the end of its path. The given log is not touched, nothing is deleted.

    The newest user message stays in the context also where its turn was parted before it.
    """
    path = log.path()
    grown = Log(log)
    grown.leaf = log.leaf
    kept = _kept(path, done.retained_from_id)
    stays = set(kept or ())
    gone = () if kept is None else tuple(message.id for message in fold(path) if message.id not in stays)
    entry = CompactionEntry(
        id=id, parent=log.leaf, first_kept=done.retained_from_id, kept=kept, time=time,
        tokens_before=done.tokens_before,
        summary=Summary(id=id, text=done.summary, replaces=gone, files=done.details, lead=LEAD),
    )  # fmt: skip
    grown.append(entry)
    return grown


def _kept(path: Sequence[Entry], first: str) -> tuple[str, ...] | None:
    """Ids of what stays; None where the first of them is unknown, so that nothing does."""
    start = next((i for i, entry in enumerate(path) if entry.id == first), None)
    if start is None:
        return None
    said = [(i >= start, entry.message) for i, entry in enumerate(path) if isinstance(entry, MessageEntry)]
    newest = last_user([message for _, message in said])
    return tuple(message.id for i, (kept, message) in enumerate(said) if kept or message.pinned or i == newest)


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
    model, level = last.get("model_change", ""), last.get("thinking_level_change", "")
    return SessionContext(messages, model, level, sum(map(operator_tokens, messages)))
