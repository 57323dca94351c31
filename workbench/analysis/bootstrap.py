"""How sure a mean over sessions is: the session is the unit that is drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 5
"""Sessions below which no interval is given: with four, one odd session decides it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over n sessions with its 95 % interval; `low` and `high` are None where there are too few sessions."""

    mean: float
    n: int
    low: float | None = None
    high: float | None = None

    @property
    def sure(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None


def estimate(values: Sequence[float], *, draws: int = 2_000, seed: int = 20) -> Estimate | None:
    """The mean of one value a session, with the percentile interval of a bootstrap over sessions.

    Args:
        values: one a session; those of one session must have been averaged before.
        draws: samples, >= 1.
        seed: of the draws, so that the same run gives the same report.

    Returns:
        None if there are no values.
    """
    if not len(values):
        return None
    given = np.asarray(values, dtype=float)
    mean = float(given.mean())
    if len(given) < FEWEST:
        return Estimate(mean, len(given))
    drawn = np.random.default_rng(seed).choice(given, size=(draws, len(given))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(mean, len(given), float(low), float(high))
