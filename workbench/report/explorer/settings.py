"""What the controls of the explorer are set to, and the preset and window that come of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.stages.truncate import Truncate
from workbench.engine.compaction.strategy import AtShare, Preset, Situation, Trigger, granted_by
from workbench.evaluation.experiment.prepared import Prepared


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
        arguments = []
        for name, value in asdict(self).items():
            if isinstance(value, int):
                arguments.append(f"{name}={value:_}")
            elif value is not None:
                arguments.append(f"{name}={json.dumps(value)}")
        keywords = ", ".join(arguments)
        call = f"wb.explore(session, {keywords})"
        return f"import workbench as wb\n\nview = {call}"


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
            usual = trigger if isinstance(trigger, AtShare) else AtShare()
            target_share = min(usual.target, self.threshold / 2)
            trigger = AtShare(self.threshold, target_share)
        budget = granted_by(trigger, situation)
        if budget is None or self.tail is None:
            return budget
        target = situation.overhead + self.tail
        if not self.only_tail:
            target = max(budget.target, target)
        return replace(budget, keep_recent=self.tail, target=target)


def tuned(preset: Preset, settings: ExplorerSettings) -> Preset:
    """The preset with the settings of the controls; a preset that never changes anything is left
    alone.
    """
    strategy = preset.strategy
    changes_nothing = not strategy.stages and not strategy.view
    is_untouched = settings.threshold is None and settings.tail is None
    if is_untouched or changes_nothing:
        return preset
    only_tail = all(isinstance(stage, Truncate) for stage in strategy.stages)
    trigger = Tuned(preset.trigger, settings.threshold, settings.tail, only_tail)
    return replace(preset, trigger=trigger)


SMALLEST_WINDOW = 4_000


def telling_window(prepared_session: Prepared) -> int:
    """A window (tokens) in which the session is compacted at all: its own if it fills that, else
    half its size.
    """
    sizing = prepared_session.sizing
    history_tokens = sizing.overhead + sum(sizing.sizes)
    if history_tokens > prepared_session.window:
        return prepared_session.window
    half_in_thousands = round(history_tokens / 2 / 1_000)
    return sizing.window(max(SMALLEST_WINDOW, half_in_thousands * 1_000))
