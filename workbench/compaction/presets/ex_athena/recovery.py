"""What an overflow leads to in ExAthena, and how a run ends by a compaction that failed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from workbench.compaction.plan import Plan, Replace
from workbench.compaction.presets.ex_athena.shrinking import by_id, tool_of
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import ToolResult
from workbench.transcript.pairing import callers, with_partners

PATTERNS = (
    "context length", "context_length", "maximum context", "too many tokens", "exceeds the context",
    "prompt is too long", "context window",
)  # fmt: skip
REQUEST_TOO_LARGE = 413


@dataclass(frozen=True, slots=True)
class AutoPin:
    """Pins the results of certain tools, with the messages that called for them, before a forced run.

    Attributes:
        tools: their names.
    """

    tools: tuple[str, ...]
    name: ClassVar[str] = "auto_pin"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Pin each such result and its caller, with all that the caller got; a result without a caller is left."""
        messages = context.messages
        caller_of, called = callers(messages), by_id(messages)
        wanted = [
            i for i in caller_of if isinstance(message := messages[i], ToolResult)
            and tool_of(message, called) in self.tools
        ]  # fmt: skip
        edits = tuple(
            Replace(i, i + 1, (replace(messages[i], pinned=True),))
            for i in sorted(with_partners(messages, wanted))
            if not messages[i].pinned
        )
        return Plan(edits) if edits else None


def context_overflow(error: object, status: int | None = None) -> bool:
    """Whether a provider says that the prompt was too long: by status 413, or by its words."""
    return status == REQUEST_TOO_LARGE or any(pattern in str(error).lower() for pattern in PATTERNS)


@dataclass(frozen=True, slots=True)
class Iteration:
    """One turn of the agent's loop: an overflow is answered with a forced compaction and one retry, once.

    Attributes:
        reactive: whether it is answered at all.
        recovered: whether that was used up.
    """

    reactive: bool = True
    recovered: bool = False

    def overflowed(self) -> tuple[Iteration, bool]:
        """After a rejected prompt: whether to compact by force and try again; if not, the run ends."""
        return replace(self, recovered=True), self.reactive and not self.recovered


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
