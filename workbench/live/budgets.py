"""What a compaction is granted: by the trigger where one is due, or since it must be."""

from dataclasses import replace

from workbench.base.errors import CompactionRefused
from workbench.engine.compaction.forced import forced, kept_by, refuses_by_hand
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Moment, Situation, Trigger
from workbench.live.callbacks import Host
from workbench.live.gauge import Gauge
from workbench.live.hooks import Cause


class Budgets:
    """Asks the trigger about what the gauge says, with the current settings."""

    def __init__(self, gauge: Gauge, host: Host) -> None:
        self.gauge = gauge
        self.preset = gauge.preset
        self._check = host.guarded("trigger", _check, _no_budget, _is_budget)

    def due(self, moment: Moment) -> Budget | None:
        """What the trigger grants; None where no compaction is due."""
        is_asked = moment in self.preset.moments
        if not is_asked or not self.gauge.settings.automatic:
            return None
        situation = self.gauge.situation(moment)
        budget = self._granted(situation)
        if budget is None:
            return None
        return self._completed(budget)

    def still_due(self, cause: Cause) -> bool:
        """Whether the trigger would have the history compacted again at once."""
        moment = self.preset.moments[0]
        if cause in self.preset.moments:
            moment = cause
        situation = self.gauge.situation(moment)
        budget = self._granted(situation)
        return budget is not None

    def requested(self, moment: Moment, instructions: str) -> Budget:
        """For a compaction that the host requested: the trigger's budget if it grants one."""
        forced = self.forced("requested", instructions)
        situation = self.gauge.situation(moment, is_requested=True)
        budget = self._granted(situation)
        if budget is None:
            return forced
        return replace(
            budget,
            instructions=forced.instructions,
            keep_recent=forced.keep_recent,
        )

    def manual(self, instructions: str, keep_recent: int | None) -> Budget:
        """For a compaction by hand.

        Raises:
            CompactionRefused: a turn goes on, and the preset's system compacts by hand only between
                turns.
        """
        messages = self.gauge.memory.state.sent.messages
        if refuses_by_hand(self.preset.host, messages):
            objection = (
                f"a turn goes on, and preset {self.preset.name!r} compacts by hand only between"
                " turns: call `compact` after the model's answer, or `request_compaction` now"
            )
            raise CompactionRefused(objection)
        return self.forced("manual", instructions, keep_recent)

    def forced(self, reason: str, instructions: str = "", keep_recent: int | None = None) -> Budget:
        """For a compaction that must be; the host's own settings take precedence over the
        preset's system.
        """
        window = self.gauge.window
        if reason == "overflow":
            window = self.gauge.most
        keep = None
        if self.gauge.settings.keep_recent is None:
            keep = kept_by(self.preset.host, reason, window)
        situation = self.gauge.situation("before_request")
        situation = replace(situation, window=window)
        budget = forced(situation, self._granted, reason, keep)
        if keep_recent is not None:
            says_how_much = keep_recent > 0 or keep is None
            if says_how_much:
                budget = replace(budget, keep_recent=max(keep_recent, 0))
        budget = replace(budget, instructions=instructions)
        return self._completed(budget)

    def _granted(self, situation: Situation) -> Budget | None:
        return self._check(self.gauge.trigger, situation)

    def _completed(self, budget: Budget) -> Budget:
        """The budget with the settings' values where it has none."""
        settings = self.gauge.settings
        keep_recent = budget.keep_recent
        if keep_recent is None:
            keep_recent = settings.keep_recent
        return replace(
            budget,
            instructions=budget.instructions or settings.instructions,
            keep_recent=keep_recent,
        )


def _check(trigger: Trigger, situation: Situation) -> Budget | None:
    return trigger.check(situation)


def _no_budget(trigger: Trigger, situation: Situation) -> None:
    """What is granted where the host's trigger fails."""


def _is_budget(answer: object) -> bool:
    return isinstance(answer, Budget | None)
