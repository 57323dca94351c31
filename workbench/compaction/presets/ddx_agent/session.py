"""What surrounds a compaction in the DDx agent: its report and events, when it is stuck, and overflows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.compaction.presets.ddx_agent.cut import Fit
from workbench.errors import WorkbenchError
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import Json, Summary

Outcome: TypeAlias = Literal["compacted", "nothing", "no_fit", "failed"]
"""What a pass came to: a shorter history, nothing to do, no cut with room, or a summariser's error."""

WARNING = "The history was summarised; each further compaction makes the model's view of it less exact."
_OVERFLOW = re.compile(
    r"context.?length|token.?limit|maximum.?context|context.?window|too.?long|exceeds.*limit|reduce.*length"
    r"|reduce.*message",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass did: the summary with its file lists, sizes in tokens, and a warning for the user."""

    summary: str
    file_ops: FileOps
    tokens_before: int
    tokens_after: int
    cut_index: int
    messages_kept: int
    warning: str = WARNING


def report(before: Context, after: Context, fit: Fit) -> PassReport:
    """What a pass did, from the context before and after it."""
    summary = next(message for message in reversed(after.messages) if isinstance(message, Summary))
    kept = len(before.messages) - fit.keep - sum(i >= fit.keep for i in fit.gone)
    return PassReport(summary.text, fit.files, before.tokens, after.tokens, fit.cut, kept)


def events(
    outcome: Outcome, before: int, after: int, *, mid_turn: bool = False,
    done: PassReport | None = None, error: str = "",
) -> tuple[Mapping[str, Json], ...]:  # fmt: skip
    """Start and end together, or nothing where nothing was to do; with the report or the error of the pass."""
    if outcome == "nothing":
        return ()
    where = {"mid_turn": True} if mid_turn else {}
    start = {"type": "compaction.start", "messages_before": before, **where}
    end = {"type": "compaction.end", "success": done is not None, "messages_after": after, **where}
    if done is None:
        return start, {**end, "error": error, "no_compaction": True, "messages_before": before}
    files = {"read": list(done.file_ops.read), "modified": list(done.file_ops.modified)}
    sizes = {"tokens_before": done.tokens_before, "tokens_after": done.tokens_after}
    return start, {**end, "summary": done.summary, "file_ops": files, **sizes, "warning": done.warning}


class CompactionStuck(WorkbenchError):
    """Compaction was due again and again and never made the history shorter."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """Counts attempts in a row that were due and came to nothing. A value: the host keeps the newest.

    Attributes:
        threshold: attempts that end the run; 0 means five.
    """

    threshold: int = 5
    attempts: int = 0

    def not_due(self) -> Stuck:
        """The context was small enough: all is well again."""
        return replace(self, attempts=0)

    def tried(self, outcome: Outcome) -> Stuck:
        """After an attempt that was due. One that found no room is an error of its own and is not counted.

        Raises:
            CompactionStuck: this attempt reaches the threshold.
        """
        if outcome in ("compacted", "no_fit"):
            return self.not_due() if outcome == "compacted" else self
        attempts = self.attempts + 1
        if attempts >= (self.threshold or 5):
            raise CompactionStuck(f"compaction was due {attempts} times in a row and never shortened the history")
        return replace(self, attempts=attempts)


def ends_run(outcome: Outcome, *, stuck: bool = False) -> bool:
    """Whether the run ends with an error; a summariser's error does not, the run goes on as it was."""
    return stuck or outcome == "no_fit"


def context_overflow(error: object) -> bool:
    """Whether an error says that the prompt was too long, by the original's expression; nothing is excluded."""
    return _OVERFLOW.search(str(error)) is not None
