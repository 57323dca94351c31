"""When an agent's history is compacted, and with what budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset
from workbench.compaction.trigger import AtShare, Moment, Trigger
from workbench.live.gauge import Gauge
from workbench.live.settings import Settings


class Budgets:
    """Asks the trigger with the current settings."""

    def __init__(self, preset: Preset, gauge: Gauge, settings: Callable[[], Settings]) -> None:
        self.preset, self.gauge, self._settings = preset, gauge, settings

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._settings()

    def due(self, moment: Moment) -> Budget | None:
        """What the trigger grants; None where no compaction is due."""
        if not self.settings.automatic or moment not in self.preset.moments:
            return None
        budget = self._trigger.check(self.gauge.situation(moment))
        return None if budget is None else self._completed(budget)

    def requested(self, moment: Moment, instructions: str) -> Budget:
        """For a compaction that the host requested: the trigger's budget if it grants one."""
        forced = self.forced("requested", instructions)
        budget = self._trigger.check(self.gauge.situation(moment, requested=True))
        return forced if budget is None else replace(budget, instructions=forced.instructions)

    def forced(self, reason: str, instructions: str = "") -> Budget:
        """For a compaction that must be: what the trigger grants a full window, at most half of the present size."""
        now = self.gauge.situation("before_request")
        full = replace(now, tokens=max(now.tokens, now.window + 1), reported=None, since=0)
        budget = self._trigger.check(full) or AtShare().check(full)
        assert budget is not None  # above the window AtShare is always due
        target = min(budget.target, now.overhead + (now.tokens - now.overhead) // 2)
        return self._completed(replace(budget, target=target, reason=reason, force=True, instructions=instructions))

    @property
    def _trigger(self) -> Trigger:
        return self.settings.trigger or self.preset.trigger

    def _completed(self, budget: Budget) -> Budget:
        """The budget with the settings' values where it has none."""
        settings = self.settings
        return replace(
            budget,
            instructions=budget.instructions or settings.instructions,
            keep_recent=settings.keep_recent if budget.keep_recent is None else budget.keep_recent,
        )
