"""How long entities live through a chain of compactions: Kaplan and Meier's curve."""

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
        `surviving` (the share that outlives it), `low` and `high`. These are missing below the
        reporting floor, where the curve is at 0 or 1, and where one project alone decides.

    Source:
        E. L. Kaplan and P. Meier, J. Am. Statist. Assoc. 53 (1958), 457-481.
    """
    entered = np.asarray(at_risk, dtype=float)
    lost_by_project = np.asarray(lost, dtype=float)
    round_count = int(np.flatnonzero(entered.sum(axis=0)).max(initial=-1)) + 1
    entered = entered[:, :round_count]
    lost_by_project = lost_by_project[:, :round_count]
    total_entered = entered.sum(axis=0)
    total_gone = lost_by_project.sum(axis=0)
    surviving = _curve(total_entered, total_gone)
    low, high = _ends(entered, lost_by_project, surviving)
    return pd.DataFrame(
        {
            "round": np.arange(1, round_count + 1),
            "at_risk": total_entered.astype(int),
            "lost": total_gone.astype(int),
            "surviving": surviving,
            "low": low,
            "high": high,
        }
    )


def half_life(curve: pd.DataFrame) -> float | None:
    """Rounds until half survives, at an even rate of loss within a round; None if the curve ends
    above half.

    With the same rate of loss r in each round it is log(0.5) / log(1 - r). A round that loses all
    ends at itself.
    """
    earlier_share = 1.0
    for number, share in zip(curve["round"].tolist(), curve["surviving"].tolist(), strict=True):
        if share == 0:
            return float(number)
        if share <= 0.5:
            part_of_round = log(earlier_share / 0.5) / log(earlier_share / share)
            return float(number - 1 + part_of_round)
        earlier_share = share
    return None


def _curve(risk: Floats, lost: Floats) -> Floats:
    """The share that outlives each round, (..., rounds); NaN from where no entity is at risk."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.cumprod(1 - lost / risk, axis=-1), dtype=float)


def _ends(risk: Floats, lost: Floats, curve: Floats) -> tuple[Floats, Floats]:
    """The interval's ends, each (rounds,); NaN where there is none."""
    project_count = len(risk)
    if project_count < reporting_floor():
        none = np.full(len(curve), np.nan)
        return none, none.copy()
    without_one = _curve(risk.sum(axis=0) - risk, lost.sum(axis=0) - lost)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.log(-np.log(without_one))
        centre = np.log(-np.log(curve))
        scaled[:, ~np.isfinite(scaled).all(axis=0)] = np.nan
        squares = ((scaled - scaled.mean(axis=0)) ** 2).sum(axis=0)
        error = np.sqrt((project_count - 1) / project_count * squares)
        reach = special.stdtrit(project_count - 1, 0.975) * error
        low = np.exp(-np.exp(centre + reach))
        high = np.exp(-np.exp(centre - reach))
    return low, high
