"""What surrounds a compaction in ExAthena: the trigger, stages that fail, overflows, the report, a run's budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from workbench.compaction.plan import Plan, Replace
from workbench.compaction.presets.ex_athena.results import calls_by_id, tool_of
from workbench.compaction.presets.host import mentions
from workbench.compaction.stage import Budget, Stage
from workbench.compaction.trigger import Situation
from workbench.errors import ModelError, WorkbenchError
from workbench.models.model import Completion
from workbench.transcript.context import Context
from workbench.transcript.message import Message, ToolResult
from workbench.transcript.pairing import callers, with_partners

COMPACT_AT = 0.6
FALLBACK_WINDOW = 128_000
PATTERNS = (
    "context length", "context_length", "maximum context", "too many tokens", "exceeds the context",
    "prompt is too long", "context window",
)  # fmt: skip
REQUEST_TOO_LARGE = 413


def should_compact(tokens: int, window: int, compact_at: float = COMPACT_AT, *, force: bool = False) -> bool:
    """Due at the share and above, rounded down; always where it is forced."""
    return force or (window > 0 and tokens >= int(compact_at * window))


@dataclass(frozen=True, slots=True)
class AthenaTrigger:
    """Due at exactly the share of the window. The target is that size, so that at equality no stage runs.

    Attributes:
        overhead: whether the system prompt counts; in v0.5 it does not, and the target allows it on top.
    """

    compact_at: float = COMPACT_AT
    overhead: bool = True
    name: ClassVar[str] = "athena_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= int(compact_at * window)`."""
        window = situation.window if situation.window > 0 else FALLBACK_WINDOW
        beside = 0 if self.overhead else situation.overhead
        if not should_compact(situation.tokens - beside, window, self.compact_at, force=situation.requested):
            return None
        return Budget(
            target=int(self.compact_at * window) + beside,
            window=window,
            reason="requested" if situation.requested else "threshold",
            force=situation.requested,
        )


class StageFailed(ModelError):
    """A stage broke the compaction off; the history stays as it was, whatever earlier stages did."""

    def __init__(self, stage: str, reason: str) -> None:
        self.stage, self.reason = stage, reason
        super().__init__(f"stage {stage!r} failed: {reason}")


@dataclass(frozen=True, slots=True)
class HostStage:
    """A host's own stage. An error that it raises ends the compaction, and what is pinned stays."""

    stage: Stage

    @property
    def name(self) -> str:
        """The stage's own."""
        return self.stage.name

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The stage's plan, without its changes to pinned messages.

        Raises:
            StageFailed: the stage raised an error of the workbench's.
        """
        try:
            plan = self.stage.plan(context, budget)
        except WorkbenchError as error:
            raise StageFailed(self.name, str(error)) from error
        if plan is None:
            return None
        pinned = with_partners(context.messages, [i for i, message in enumerate(context.messages) if message.pinned])
        edits = tuple(part for edit in plan.edits for part in _sparing(edit, pinned, context))
        return replace(plan, edits=edits) if edits else None


def _sparing(edit: Replace, pinned: set[int], context: Context) -> list[Replace]:
    """The edit in parts that leave out what is pinned; its new messages stand in the first."""
    held = [i for i in range(edit.start, edit.stop) if i in pinned]
    ids = {context.messages[i].id for i in held}
    by = tuple(new for new in edit.by if not (isinstance(new, Message) and new.id in ids))
    starts = [edit.start, *(i + 1 for i in held)]
    parts = [Replace(start, stop) for start, stop in zip(starts, [*held, edit.stop], strict=True)]
    return [part for part in (replace(parts[0], by=by), *parts[1:]) if part.by or part.start < part.stop]


@dataclass(frozen=True, slots=True)
class AutoPin:
    """Pins the results of certain tools, with the messages that called for them, before a forced run.

    Attributes:
        tools: their names.
    """

    tools: tuple[str, ...]
    name: ClassVar[str] = "auto_pin"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Pin each such result and its caller, with all results of the caller; a result without a caller is left."""
        messages, calls = context.messages, calls_by_id(context.messages)
        answers = [(i, message) for i in callers(messages) if isinstance(message := messages[i], ToolResult)]
        wanted = with_partners(messages, [i for i, result in answers if tool_of(result, calls) in self.tools])
        edits = [Replace(i, i + 1, (replace(messages[i], pinned=True),)) for i in wanted if not messages[i].pinned]
        return Plan(tuple(sorted(edits, key=lambda edit: edit.start))) if edits else None


def context_overflow(error: object, status: int | None = None) -> bool:
    """Whether a provider says that the prompt was too long: by status 413, or by its words."""
    return status == REQUEST_TOO_LARGE or mentions(error, PATTERNS)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends."""

    kind: Literal["stop", "error_prompt_too_long", "error_compaction_failed"]
    category: Literal["success", "capacity", "fatal"]


STOPPED = Ending("stop", "success")
TOO_LONG = Ending("error_prompt_too_long", "capacity")
COMPACTION_FAILED = Ending("error_compaction_failed", "fatal")


def ending(*, recovering: bool) -> Ending:
    """How a run ends by a compaction that failed: after an overflow for lack of room, else as a fault of its own."""
    return TOO_LONG if recovering else COMPACTION_FAILED


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the hook after a compaction is told: tokens of the request, messages that are gone, the summary's cost."""

    before: int
    after: int
    dropped_count: int
    stages_applied: tuple[str, ...]
    reason: Literal["token_budget", "reactive_recovery"]
    used_tokens: int = 0
    used_usd: float | None = 0.0


def metadata(
    before: Context, after: Context, sent: Context, stages: Sequence[str], completions: Sequence[Completion],
    *, forced: bool,
) -> Metadata | None:  # fmt: skip
    """The report on a compaction, with the stages whose result was taken; None where there is none."""
    if not stages:
        return None
    costs = [one.usd for one in completions]
    left = {message.id for message in after.messages}
    return Metadata(
        before.tokens,
        sent.tokens,
        sum(message.id not in left for message in before.messages),
        tuple(stages),
        "reactive_recovery" if forced else "token_budget",
        sum(one.input_tokens + one.output_tokens for one in completions),
        None if None in costs else sum(usd for usd in costs if usd is not None),
    )


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What a run may still spend. A value: the host keeps the newest. None means that there is no such bound."""

    tokens: int = 0
    usd: float = 0.0
    most_tokens: int | None = None
    most_usd: float | None = None

    def spent(self, report: Metadata) -> RunBudget:
        """With the cost of a compaction."""
        return replace(self, tokens=self.tokens + report.used_tokens, usd=self.usd + (report.used_usd or 0.0))

    @property
    def exceeded(self) -> bool:
        """Whether a bound is passed."""
        over = self.most_tokens is not None and self.tokens > self.most_tokens
        return over or (self.most_usd is not None and self.usd > self.most_usd)
