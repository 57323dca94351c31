"""When ExAthena compacts: before an iteration, from a share of the window on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation

COMPACT_AT = 0.6
FALLBACK_WINDOW = 128_000


def should_compact(tokens: int, window: int, compact_at: float = COMPACT_AT, *, force: bool = False) -> bool:
    """Due at the share and above, rounded down; always where it is forced."""
    return force or (window > 0 and tokens >= int(compact_at * window))


@dataclass(frozen=True, slots=True)
class AthenaTrigger:
    """Due at exactly the share of the window. The target is that size, so that at equality no stage runs."""

    compact_at: float = COMPACT_AT
    name: ClassVar[str] = "athena_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= int(compact_at * window)`, system prompt included."""
        return _checked(situation, self.compact_at, situation.tokens, 0)


@dataclass(frozen=True, slots=True)
class AthenaTrigger05:
    """The same in v0.5, which leaves the system prompt out."""

    compact_at: float = COMPACT_AT
    name: ClassVar[str] = "athena_trigger_0_5"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due by the messages alone; the target allows the overhead on top."""
        return _checked(situation, self.compact_at, situation.tokens - situation.overhead, situation.overhead)


def _checked(situation: Situation, compact_at: float, tokens: int, overhead: int) -> Budget | None:
    window = situation.window if situation.window > 0 else FALLBACK_WINDOW
    if not should_compact(tokens, window, compact_at, force=situation.requested):
        return None
    return Budget(
        target=int(compact_at * window) + overhead,
        window=window,
        reason="requested" if situation.requested else "threshold",
        force=situation.requested,
    )
