"""Keeps compactions from following each other without effect."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.live.settings import Settings


@dataclass(slots=True)
class Brake:
    """Hysteresis, and a breaker for compactions that save nothing.

    Attributes:
        patience: tokens of messages below which the trigger is not asked again.
        ineffective: how many compactions in a row had no effect.
    """

    patience: int = 0
    ineffective: int = 0

    def holds(self, spoken: int) -> bool:
        """Whether the messages have grown too little since the last compaction for another one."""
        return spoken < self.patience

    def stopped(self, settings: Settings) -> bool:
        """Whether none may start by itself any more."""
        return self.ineffective >= settings.breaker

    def wait(self, spoken: int, window: int, settings: Settings) -> None:
        """Not again before the messages have grown by the hysteresis."""
        self.patience = spoken + int(settings.hysteresis * window) + 1

    def record(self, before: int, after: int, settings: Settings) -> bool:
        """Count a compaction, in tokens of the request, and say whether this one stopped the automatic path."""
        if before - after >= max(settings.effective * before, 1):
            self.ineffective = 0
            return False
        self.ineffective += 1
        return self.ineffective == settings.breaker

    def release(self) -> None:
        """Forget what was: the history is another one."""
        self.patience = self.ineffective = 0
