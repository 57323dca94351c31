"""How sure a mean over sessions is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from workbench.analysis.paired import interval
from workbench.analysis.power import reporting_floor

FEWEST = reporting_floor()
"""Sessions below which no interval is given: so few could not show a difference between two strategies either."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over n sessions with its 95 % interval; `low` and `high` are None where sessions are too few or equal."""

    mean: float
    n: int
    low: float | None = None
    high: float | None = None


def estimate(values: Sequence[float], *, least: float = -inf, most: float = inf) -> Estimate | None:
    """The mean of one value a session with `paired.interval`, within [least, most]; None if there are no values."""
    if not len(values):
        return None
    given = np.asarray(values, dtype=float)
    mean = float(given.mean())
    if len(given) < FEWEST or float(np.ptp(given)) <= 1e-12 * float(np.abs(given).max()):
        return Estimate(mean, len(given))
    low, high = interval(given)
    return Estimate(mean, len(given), max(least, float(low)), min(most, float(high)))
