"""What budget a compaction gets: from the trigger when it is due, or forced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset
from workbench.compaction.trigger import AtShare, Moment, Trigger
from workbench.live.gauge import Gauge
from workbench.live.settings import Settings


class Budgets:
    """Asks the trigger with the settings of the moment.

    Attributes:
        assumed: tokens of the window where neither the settings nor an error say otherwise.
    """

    def __init__(self, preset: Preset, gauge: Gauge, settings: Settings | Callable[[], Settings], assumed: int) -> None:
        self.preset, self.gauge, self.assumed = preset, gauge, assumed
        self._settings = settings

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self._settings() if callable(self._settings) else self._settings

    @property
    def named(self) -> int:
        """Tokens of the window as the host names it."""
        return self.settings.window or self.assumed

    @property
    def window(self) -> int:
        """Tokens of the window to use."""
        return self.gauge.window(self.named)

    def due(self, moment: Moment) -> Budget | None:
        """What the trigger grants; None where nothing is due."""
        if not self.settings.automatic or moment not in self.preset.moments:
            return None
        budget = self._trigger.check(self.gauge.situation(moment, self.named))
        return None if budget is None else self._completed(budget)

    def requested(self, moment: Moment, instructions: str) -> Budget:
        """For a compaction that somebody asked for: the trigger's word if it has one."""
        forced = self.forced("requested", instructions)
        budget = self._trigger.check(self.gauge.situation(moment, self.named, requested=True))
        return forced if budget is None else replace(budget, instructions=forced.instructions)

    def forced(self, reason: str, instructions: str = "") -> Budget:
        """For a compaction that must be: what the trigger grants a full window, at most half of what there is."""
        now = self.gauge.situation("before_request", self.named)
        full = replace(now, tokens=max(now.tokens, now.window + 1), reported=None, since=0)
        budget = self._trigger.check(full) or AtShare().check(full)
        assert budget is not None  # above the window AtShare is always due
        target = min(budget.target, now.overhead + (now.tokens - now.overhead) // 2)
        return self._completed(replace(budget, target=target, reason=reason, force=True, instructions=instructions))

    @property
    def _trigger(self) -> Trigger:
        return self.settings.trigger or self.preset.trigger

    def _completed(self, budget: Budget) -> Budget:
        """With what the settings add where the budget is silent."""
        settings = self.settings
        return replace(
            budget,
            instructions=budget.instructions or settings.instructions,
            keep_recent=settings.keep_recent if budget.keep_recent is None else budget.keep_recent,
        )
