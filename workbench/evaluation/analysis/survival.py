"""How long what was said lives through a chain of compactions: Kaplan and Meier's curve over
rounds.
"""

from math import log

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from workbench.base.ragged import Floats
from workbench.evaluation.analysis.paired import reporting_floor


def survival(at_risk: ArrayLike, lost: ArrayLike) -> pd.DataFrame:
    """Kaplan and Meier's curve of entities over rounds, with intervals that take the project for
    the unit.

    Entities of one project are lost together, so Greenwood's formula would be far too sure. The 95
    % intervals come from leaving out one project at a time (jackknife), with Student's t on the
    log(-log) scale, where a share near 0 or 1 stays within its bounds.

    Args:
        at_risk: (projects, rounds) entities that entered each round alive.
        lost: (projects, rounds) those of them that did not outlive it.

    Returns:
        A row a round, from 1 to the last that an entity entered: `round`, `at_risk`, `lost`,
            `surviving` (the share
        that outlives it), `low` and `high`. These are missing below the reporting floor, where the
            curve is at 0 or 1,
        and where one project alone decides.

    Source:
        E. L. Kaplan and P. Meier, J. Am. Statist. Assoc. 53 (1958), 457-481.
    """
    risk, gone = np.asarray(at_risk, dtype=float), np.asarray(lost, dtype=float)
    last = int(np.flatnonzero(risk.sum(axis=0)).max(initial=-1)) + 1
    risk, gone = risk[:, :last], gone[:, :last]
    entered, left = risk.sum(axis=0), gone.sum(axis=0)
    curve = _curve(entered, left)
    low, high = _ends(risk, gone, curve)
    found = {
        "round": np.arange(1, last + 1),
        "at_risk": entered.astype(int),
        "lost": left.astype(int),
    }
    return pd.DataFrame({**found, "surviving": curve, "low": low, "high": high})


def half_life(curve: pd.DataFrame) -> float | None:
    """Rounds until half survives, at an even rate of loss within a round; None if the curve ends
    above half.

    With the same rate of loss r in each round it is log(0.5) / log(1 - r). A round that loses all
    ends at itself.
    """
    before = 1.0
    for number, share in zip(curve["round"].tolist(), curve["surviving"].tolist(), strict=True):
        if share == 0:
            return float(number)
        if share <= 0.5:
            return float(number - 1 + log(before / 0.5) / log(before / share))
        before = share
    return None


def _curve(risk: Floats, gone: Floats) -> Floats:
    """The share that outlives each round, (..., rounds); NaN from where no entity is at risk."""
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
        reach = special.stdtrit(n - 1, 0.975) * error
        return np.exp(-np.exp(centre + reach)), np.exp(-np.exp(centre - reach))
