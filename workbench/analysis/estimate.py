"""How sure a mean over sessions is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from workbench.analysis.paired import interval
from workbench.analysis.power import reporting_floor

FEWEST = reporting_floor()
"""Sessions below which no interval is given: so few could not tell two strategies apart either, whatever they show."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over n sessions with its 95 % interval.

    `low` and `high` are None where there are too few sessions, and where all are equal: those say nothing of what
    other sessions would show.
    """

    mean: float
    n: int
    low: float | None = None
    high: float | None = None

    @property
    def sure(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None


def estimate(values: Sequence[float], *, least: float = -inf, most: float = inf) -> Estimate | None:
    """The mean of one value a session, with `paired.interval`, corrected for skewness, from `FEWEST` sessions on.

    Args:
        values: one a session; those of one session must have been averaged before.
        least: what no value can be below; the interval ends there.
        most: what no value can be above, likewise.

    Returns:
        None if there are no values.
    """
    if not len(values):
        return None
    given = np.asarray(values, dtype=float)
    mean = float(given.mean())
    if len(given) < FEWEST or float(np.ptp(given)) <= 1e-12 * float(np.abs(given).max()):
        return Estimate(mean, len(given))
    low, high = interval(given)
    return Estimate(mean, len(given), max(least, float(low)), min(most, float(high)))
