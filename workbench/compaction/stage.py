"""The interface of a stage, and the budget that it works to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from workbench.compaction.plan import Plan
from workbench.transcript.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How small a context should become.

    Attributes:
        target: tokens of the whole request, overhead included, at or below which compaction is done.
        window: tokens that the model takes at most.
        reason: `threshold`, `overflow`, `manual`, `requested` or `matched`.
        force: compact even where the stage would see no need.
        keep_recent: tokens of newest messages to keep; None leaves it to the strategy.
        instructions: the user's wishes for the summary.
    """

    target: int
    window: int
    reason: str = "threshold"
    force: bool = False
    keep_recent: int | None = None
    instructions: str = ""

    @property
    def matched(self) -> bool:
        """Whether a comparison sets the size of the context."""
        return self.reason == "matched"

    def room(self, context: Context, gone: Iterable[int]) -> int:
        """Tokens that the target leaves once these messages are gone; negative where it cannot be reached."""
        return self.target - context.tokens + sum(context.sizes[i] for i in gone)


class Stage(Protocol):
    """One way of making a context smaller.

    A stage is blind by signature: it sees the context and the budget, never the session, the future or the truth.
    """

    @property
    def name(self) -> str:
        """Name shown in records and reports."""
        ...

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The changes, or None for none. Pure: no model, no clock, no disk, no randomness."""
        ...
