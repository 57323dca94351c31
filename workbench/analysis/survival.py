"""How long what was said lives through a chain of compactions: Kaplan and Meier's curve over rounds."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from workbench.analysis.power import reporting_floor
from workbench.ragged import Floats


@dataclass(frozen=True, slots=True)
class Round:
    """A round of the chain: who was there at its start, who was lost in it, and the share that outlives it."""

    number: int
    at_risk: int
    lost: int
    surviving: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Survival:
    """The curve over rounds 1, 2, ...; the share is 1 before the first."""

    rounds: tuple[Round, ...]
    sessions: int

    @property
    def half_life(self) -> float | None:
        """Rounds until half survives, at an even rate of loss within a round; None if the curve ends above half.

        With the same rate of loss r in each round it is log(0.5) / log(1 - r). A round that loses all ends at itself.
        """
        before = 1.0
        for one in self.rounds:
            if one.surviving == 0:
                return float(one.number)
            if one.surviving <= 0.5:
                return one.number - 1 + log(before / 0.5) / log(before / one.surviving)
            before = one.surviving
        return None


def survival(at_risk: ArrayLike, lost: ArrayLike) -> Survival:
    """Kaplan and Meier's curve of entities over rounds, with intervals that take the session for the unit.

    Entities of one session are lost together, so Greenwood's formula would be far too sure. The 95 % intervals come
    from leaving out one session at a time (jackknife), with Student's t on the log(-log) scale, where a share near 0 or
    1 stays within its bounds.

    Args:
        at_risk: (sessions, rounds) entities that entered each round alive.
        lost: (sessions, rounds) those of them that did not outlive it.

    Returns:
        Rounds 1 to the last that an entity entered. An end is None below the reporting floor, where the curve is at 0
        or 1, and where one session alone decides.

    Source:
        E. L. Kaplan and P. Meier, J. Am. Statist. Assoc. 53 (1958), 457-481.
    """
    risk, gone = np.asarray(at_risk, dtype=float), np.asarray(lost, dtype=float)
    if not risk.size or not risk.sum():
        return Survival((), 0)
    last = int(np.flatnonzero(risk.sum(axis=0))[-1]) + 1
    risk, gone = risk[:, :last], gone[:, :last]
    curve = _curve(risk.sum(axis=0), gone.sum(axis=0))
    ends = np.stack(_ends(risk, gone, curve)).astype(object)
    ends[np.isnan(ends.astype(float))] = None
    columns = (risk.sum(axis=0).astype(int), gone.sum(axis=0).astype(int), curve, *ends)
    rounds = zip(*(column.tolist() for column in columns), strict=True)
    return Survival(tuple(Round(number, *row) for number, row in enumerate(rounds, start=1)), len(risk))


def _curve(risk: Floats, gone: Floats) -> Floats:
    """The share that outlives each round, (..., rounds); NaN from where nobody is at risk."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.cumprod(1 - gone / risk, axis=-1), dtype=float)


def _ends(risk: Floats, gone: Floats, curve: Floats) -> tuple[Floats, Floats]:
    """The interval's ends, each (rounds,); NaN where there is none."""
    n = len(risk)
    if n < reporting_floor():
        return np.full(len(curve), np.nan), np.full(len(curve), np.nan)
    without = _curve(risk.sum(axis=0) - risk, gone.sum(axis=0) - gone)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.log(-np.log(without))
        centre = np.log(-np.log(curve))
        scaled[:, ~np.isfinite(scaled).all(axis=0)] = np.nan
        error = np.sqrt((n - 1) / n * ((scaled - scaled.mean(axis=0)) ** 2).sum(axis=0))
        reach = stats.t.ppf(0.975, n - 1) * error
        return np.exp(-np.exp(centre + reach)), np.exp(-np.exp(centre - reach))
