"""Operator-Use's settings, and when they make a compaction due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from workbench.compaction.presets.token_counters import usage_tokens
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """What a user may set; read anew at each use.

    Attributes:
        reserve_tokens: room of the window that the next turn needs.
        keep_recent_tokens: newest messages that stay as they are.
        trigger_percent: share of the window that is due instead of the reserve, in (0, 1]; None for the reserve.
    """

    enabled: bool = True
    reserve_tokens: int = 8_192
    keep_recent_tokens: int = 16_384
    trigger_percent: float | None = None

    def limit(self, window: int) -> float:
        """Tokens above which a context is due."""
        return window * self.trigger_percent if self.trigger_percent is not None else window - self.reserve_tokens

    def due(self, tokens: int, window: int) -> bool:
        """Due above the limit, never at it; never where it is switched off."""
        return self.enabled and tokens > self.limit(window)


@dataclass(frozen=True, slots=True)
class OperatorTrigger:
    """Asked when a turn has ended well; a compaction that was requested in mid-turn waits for that.

    Attributes:
        settings: gives the settings of this moment.
    """

    settings: Callable[[], OperatorSettings] = field(default=OperatorSettings)
    name: ClassVar[str] = "operator_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due where it was requested, or where the last answer's prompt and output leave less than the reserve.

        The target is the limit. Where the provider counts otherwise than the estimate, it is scaled to the estimate.
        """
        settings, window, reported = self.settings(), situation.window, situation.reported
        tokens = (usage_tokens(reported) if reported is not None else 0) or situation.tokens
        if situation.moment != "after_turn" or not (situation.requested or settings.due(tokens, window)):
            return None
        limit = int(max(settings.limit(window), 0) * situation.tokens / max(tokens, 1))
        return Budget(
            target=min(limit, max(situation.tokens - 1, 0)),
            window=window,
            reason="requested" if situation.requested else "threshold",
        )
