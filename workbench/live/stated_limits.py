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

FALLBACK_SECONDS = 300.0
"""How long a limit below a request that the model answered is believed at first: a gateway answers
with a smaller model for a while. Each time that the limit still holds afterwards, twice as long.
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
        # by model and tokens, with the seconds for which they were believed last
        self._fallback_seconds: dict[tuple[str, int], float] = {}

    def learn(self, limit: StatedLimit) -> None:
        """Believe a limit from now on."""
        self._limits[limit.model] = limit.tokens, self._clock() + limit.seconds

    def learn_fallback(self, model: str, tokens: int, *, is_certain: bool) -> bool:
        """Believe a limit below a request that the model answered if it is certain or was stated
        before; whether it is.
        """
        last_seconds = self._fallback_seconds.get((model, tokens))
        seconds = 0.0
        if is_certain or last_seconds is not None:
            twice_as_long = 2 * (last_seconds or 0.0)
            seconds = min(max(FALLBACK_SECONDS, twice_as_long), LIMIT_SECONDS)
            self.learn(StatedLimit(model, tokens, seconds))
        self._fallback_seconds[model, tokens] = seconds
        return seconds > 0

    def end_fallbacks(self, model: str, accepted: int) -> None:
        """The model took so many tokens, so that a smaller limit is believed as briefly as at first
        when it is stated again.
        """
        for fallback_model, tokens in self._fallback_seconds:
            if fallback_model == model and tokens < accepted:
                self._fallback_seconds[model, tokens] = 0.0

    def restore(self, limits: Iterable[StatedLimit], fallbacks: Iterable[StatedLimit] = ()) -> None:
        """Believe the limits that were saved, and no others; `fallbacks` as the property says."""
        self._limits.clear()
        for limit in limits:
            self.learn(limit)
        self._fallback_seconds.clear()
        for limit in fallbacks:
            self._fallback_seconds[limit.model, limit.tokens] = limit.seconds

    @property
    def fallbacks(self) -> list[StatedLimit]:
        """The limits below a request that the model answered, each with the seconds for which it
        was believed last; 0 where it was not, or holds no more.
        """
        limits: list[StatedLimit] = []
        for (model, tokens), seconds in self._fallback_seconds.items():
            limits.append(StatedLimit(model, tokens, seconds))
        return limits

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
