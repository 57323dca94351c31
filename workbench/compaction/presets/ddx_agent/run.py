"""What surrounds a compaction in the DDx agent: when it is stuck, what an overflow leads to, and the events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.compaction.presets.ddx_agent.compact import CompactionResult
from workbench.compaction.presets.ddx_agent.config import DEFAULT_STUCK_THRESHOLD
from workbench.errors import WorkbenchError
from workbench.transcript.message import Json

Outcome: TypeAlias = Literal["compacted", "nothing", "no_fit", "failed"]
"""What a pass came to: a shorter history, nothing to do, no cut with room, or a summariser's error."""

_PATTERN = (
    r"context.?length|token.?limit|maximum.?context|context.?window|too.?long|exceeds.*limit|reduce.*length"
    r"|reduce.*message"
)


class CompactionStuck(WorkbenchError):
    """Compaction was due again and again and never made the history shorter."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """Counts attempts in a row that were due and came to nothing. Values; the agent keeps the newest.

    Attributes:
        threshold: attempts that end the run; 0 means five.
    """

    threshold: int = DEFAULT_STUCK_THRESHOLD
    attempts: int = 0

    def not_due(self) -> Stuck:
        """The context was small enough: all is well again."""
        return replace(self, attempts=0)

    def tried(self, outcome: Outcome) -> Stuck:
        """After an attempt that was due. One that found no room is an error of its own and is not counted.

        Raises:
            CompactionStuck: this attempt reaches the threshold.
        """
        if outcome == "compacted":
            return replace(self, attempts=0)
        if outcome == "no_fit":
            return self
        attempts = self.attempts + 1
        if attempts >= (self.threshold or DEFAULT_STUCK_THRESHOLD):
            raise CompactionStuck(f"compaction was due {attempts} times in a row and never shortened the history")
        return replace(self, attempts=attempts)


def ends_run(outcome: Outcome, *, stuck: bool = False) -> bool:
    """Whether the run ends with an error; a summariser's error does not, the run goes on as it was."""
    return stuck or outcome == "no_fit"


@dataclass(frozen=True, slots=True)
class Iteration:
    """One turn of the agent's loop: an overflow is answered with a compaction at most once.

    Attributes:
        recovered: whether that was used up.
    """

    recovered: bool = False

    def overflowed(self, *, can_compact: bool) -> tuple[Iteration, bool]:
        """After a rejected prompt: whether to run the compactor now; if not, the provider's error is passed on."""
        return replace(self, recovered=True), can_compact and not self.recovered

    @staticmethod
    def retries(outcome: Outcome) -> bool:
        """Whether the request is built anew and sent again; if not, the provider's error is passed on."""
        return outcome == "compacted"


@dataclass(frozen=True, slots=True)
class Event:
    """What a watcher is told: `compaction.start` or `compaction.end` with its fields."""

    type: Literal["compaction.start", "compaction.end"]
    fields: Mapping[str, Json]


def events(
    outcome: Outcome, before: int, after: int, *, mid_turn: bool = False,
    result: CompactionResult | None = None, error: str = "",
) -> tuple[Event, ...]:  # fmt: skip
    """Start and end together, or nothing where nothing was to do.

    Args:
        outcome: of the pass.
        before: messages in the history before.
        after: messages in it after.
        mid_turn: whether tool results came just before.
        result: of a pass that compacted.
        error: of one that did not.
    """
    if outcome == "nothing":
        return ()
    where: dict[str, Json] = {"mid_turn": True} if mid_turn else {}
    start = Event("compaction.start", {"messages_before": before, **where})
    if result is None:
        said = {"success": False, "error": error, "no_compaction": True, "messages_before": before}
        return start, Event("compaction.end", {**said, "messages_after": after, **where})
    done = {
        "success": True, "summary": result.summary,
        "file_ops": {"read": list(result.file_ops.read), "modified": list(result.file_ops.modified)},
        "tokens_before": result.tokens_before, "tokens_after": result.tokens_after, "warning": result.warning,
        "messages_after": after,
    }  # fmt: skip
    return start, Event("compaction.end", {**done, **where})


def context_overflow(error: object) -> bool:
    """Whether an error says that the prompt was too long, by the original's expression; nothing is excluded."""
    return re.search(_PATTERN, str(error), re.IGNORECASE) is not None
