"""Windows that providers' errors stated, remembered for a while."""

from __future__ import annotations

from dataclasses import dataclass, field

LIFE = 3_600.0
"""Seconds. Gateways word plan quotas as overflows, so what one error said must not hold for ever.

Source:
    headroom keeps a learned limit for an hour.
"""


@dataclass(frozen=True, slots=True)
class Learned:
    """A limit in tokens and the time until which it is believed."""

    limit: int
    until: float


@dataclass(slots=True)
class LearnedLimits:
    """What was learned, by model. Time is handed in, in seconds of any clock that does not go back.

    Attributes:
        life: seconds for which a limit is believed.
    """

    life: float = LIFE
    known: dict[str, Learned] = field(default_factory=dict)

    def learn(self, model: str, limit: int | None, window: int, now: float) -> bool:
        """Remember a stated limit, and say whether it was: only one below the window at hand is news."""
        if limit is None or not 0 < limit < window:
            return False
        self.known[model] = Learned(limit, now + self.life)
        return True

    def window(self, model: str, window: int, now: float) -> int:
        """The window to use: the learned one while it is believed, else the one that is assumed."""
        learned = self.known.get(model)
        if learned is None:
            return window
        if now >= learned.until:
            del self.known[model]
            return window
        return min(learned.limit, window)
