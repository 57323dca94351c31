"""What a host may set for its compactor, and change while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.compaction.trigger import Trigger
from workbench.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a compactor behaves beside its preset.

    Attributes:
        automatic: whether it compacts by itself; by hand and after an overflow it always may.
        window: tokens; None leaves it to the compactor's own.
        trigger: in the place of the preset's.
        instructions: what every summary should dwell on.
        keep_recent: tokens of newest messages to keep; None leaves it to the strategy.
        hysteresis: share of the window by which the messages must grow before the trigger is asked again.
        breaker: after so many compactions in a row without effect none starts by itself any more.
        effective: share of the request that a compaction must save to count as having an effect.
        retries: how often one request is sent again after an error.
    """

    automatic: bool = True
    window: int | None = None
    trigger: Trigger | None = None
    instructions: str = ""
    keep_recent: int | None = None
    hysteresis: float = 0.02
    breaker: int = 3
    effective: float = 0.05
    retries: int = 1

    def __post_init__(self) -> None:
        if self.window is not None and self.window <= 0:
            raise SettingError(f"window is {self.window!r}; a number of tokens above 0 would be accepted")
        if not 0 <= self.hysteresis < 1 or not 0 <= self.effective < 1:
            raise SettingError(f"hysteresis {self.hysteresis!r} and effective {self.effective!r} must lie in [0, 1)")
        if self.breaker < 1 or self.retries < 0:
            raise SettingError(f"breaker {self.breaker!r} must be at least 1 and retries {self.retries!r} at least 0")
