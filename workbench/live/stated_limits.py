"""How many tokens a model takes: as the table of models says, and as errors said lately."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from workbench.base.errors import SetupError
from workbench.engine.models.prices import window as window_of

LIMIT_SECONDS = 3_600.0
"""How long a limit that an error stated is believed: gateways word plan quotas as overflows.

Source:
    headroom keeps a learned limit for an hour.
"""


@dataclass(frozen=True, slots=True)
class StatedLimit:
    """Tokens that a model takes as an error said, believed for so many seconds more."""

    model: str
    tokens: int
    seconds: float = LIMIT_SECONDS


class StatedLimits:
    """The limits of one kind, the newest of each model."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._limits: dict[str, tuple[int, float]] = {}  # by model, with the time of their end

    def learn(self, limit: StatedLimit) -> None:
        """Believe a limit from now on."""
        self._limits[limit.model] = limit.tokens, self._clock() + limit.seconds

    def restore(self, limits: Iterable[StatedLimit]) -> None:
        """Believe the limits that were saved, and no others."""
        self._limits.clear()
        for limit in limits:
            self.learn(limit)

    def tokens(self, model: str) -> int | None:
        """Tokens that a model takes; None where no error said so lately."""
        tokens, end = self._limits.get(model, (0, 0.0))
        if self._clock() < end:
            return tokens
        return None

    def disprove(self, model: str, accepted: int) -> None:
        """Forget the limit of a model that took so many tokens, if they are more."""
        limit = self.tokens(model)
        if limit is not None and accepted > limit:
            del self._limits[model]

    def remaining(self) -> list[StatedLimit]:
        """Each limit with the seconds for which it is still believed."""
        now = self._clock()
        limits: list[StatedLimit] = []
        for model, (tokens, end) in self._limits.items():
            limits.append(StatedLimit(model, tokens, end - now))
        return limits


@cache
def window_by_name(model: str) -> int | None:
    """The window of a model by the table of models; None where it, or the table, is missing."""
    try:
        return window_of(model) if model else None
    except SetupError:
        return None
