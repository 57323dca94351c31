"""The settings of the explorer's controls, and the preset that they make."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from workbench.compaction.plan import Budget
from workbench.compaction.stages.truncate import Truncate
from workbench.compaction.strategy import AtShare, Preset, Situation, Trigger
from workbench.experiment.prepared import Prepared


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """What the controls are set to, see `explore`; strategies by name."""

    strategy: str = "summarize"
    window: int = 200_000
    threshold: float | None = None
    tail: int | None = None
    beside: str | None = None

    def code(self) -> str:
        """The same in Python, for a person to copy."""
        words = ", ".join(
            f"{name}={value:_}" if isinstance(value, int) else f"{name}={json.dumps(value)}"
            for name, value in asdict(self).items()
            if value is not None
        )
        return f"import workbench as wb\n\nview = wb.explore(session, {words})"


@dataclass(frozen=True, slots=True)
class Tuned:
    """A preset's trigger with another threshold and another kept tail; None leaves either as it is.

    Where the strategy keeps nothing but its tail (`only_tail`), the tail is the target.
    """

    inner: Trigger
    threshold: float | None
    tail: int | None
    only_tail: bool = False
    name: ClassVar[str] = "tuned"

    def check(self, situation: Situation, /) -> Budget | None:
        """As the inner trigger, with the settings put in."""
        trigger = self.inner
        if self.threshold is not None:
            target = trigger.target if isinstance(trigger, AtShare) else AtShare().target
            trigger = AtShare(self.threshold, min(target, self.threshold / 2))
        budget = trigger.check(situation)
        if budget is None or self.tail is None:
            return budget
        wanted = situation.overhead + self.tail
        return replace(budget, keep_recent=self.tail, target=wanted if self.only_tail else max(budget.target, wanted))


def tuned(preset: Preset, settings: ExplorerSettings) -> Preset:
    """The preset with the settings of the controls; a preset that never changes anything is left alone."""
    if (settings.threshold is None and settings.tail is None) or not (preset.strategy.stages or preset.strategy.view):
        return preset
    only_tail = all(isinstance(stage, Truncate) for stage in preset.strategy.stages)
    return replace(preset, trigger=Tuned(preset.trigger, settings.threshold, settings.tail, only_tail))


def telling_window(ready: Prepared) -> int:
    """A window (tokens) in which the session is compacted at all: its own if it fills that, else half its size."""
    whole = ready.sizing.overhead + sum(ready.sizing.sizes)
    return ready.window if whole > ready.window else ready.sizing.window(max(4_000, round(whole / 2 / 1_000) * 1_000))
