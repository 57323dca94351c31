"""How long entities live through a chain of compactions: Kaplan and Meier's curve."""

from math import log

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from workbench.base.ragged import Floats
from workbench.evaluation.analysis.power import reporting_floor


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
    entered_by_project = np.asarray(at_risk, dtype=float)
    lost_by_project = np.asarray(lost, dtype=float)
    round_count = _round_count(entered_by_project)
    entered_by_project = entered_by_project[:, :round_count]
    lost_by_project = lost_by_project[:, :round_count]
    total_entered = entered_by_project.sum(axis=0)
    total_lost = lost_by_project.sum(axis=0)
    surviving = _curve(total_entered, total_lost)
    low, high = _ends(entered_by_project, lost_by_project, surviving)
    return pd.DataFrame(
        {
            "round": np.arange(1, round_count + 1),
            "at_risk": total_entered.astype(int),
            "lost": total_lost.astype(int),
            "surviving": surviving,
            "low": low,
            "high": high,
        }
    )


def _round_count(entered_by_project: Floats) -> int:
    """The number of the last round that an entity entered."""
    total_entered = entered_by_project.sum(axis=0)
    rounds = np.flatnonzero(total_entered)
    last_round = rounds.max(initial=-1)
    return int(last_round) + 1


def half_life(curve: pd.DataFrame) -> float | None:
    """Rounds until half survives, at an even rate of loss within a round; None if the curve ends
    above half.

    With the same rate of loss r in each round it is log(0.5) / log(1 - r). A round that loses all
    ends at itself.
    """
    earlier_share = 1.0
    rounds = curve["round"].tolist()
    shares = curve["surviving"].tolist()
    for number, share in zip(rounds, shares, strict=True):
        if share == 0:
            return float(number)
        if share <= 0.5:
            loss_to_half = log(earlier_share / 0.5)
            loss_of_round = log(earlier_share / share)
            part_of_round = loss_to_half / loss_of_round
            return float(number - 1 + part_of_round)
        earlier_share = share
    return None


def _curve(risk: Floats, lost: Floats) -> Floats:
    """The share that outlives each round, (..., rounds); NaN from where no entity is at risk."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.cumprod(1 - lost / risk, axis=-1)
    return np.asarray(shares, dtype=float)


def _ends(
    risk: Floats,
    lost: Floats,
    curve: Floats,
) -> tuple[Floats, Floats]:
    """The interval's ends, each (rounds,); NaN where there is none."""
    project_count = len(risk)
    if project_count < reporting_floor():
        none = np.full(len(curve), np.nan)
        return none, none.copy()
    risk_of_others = risk.sum(axis=0) - risk
    lost_of_others = lost.sum(axis=0) - lost
    without_project = _curve(risk_of_others, lost_of_others)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = _log_log(curve)
        scaled = _log_log(without_project)
        is_finite = np.isfinite(scaled)
        has_all = is_finite.all(axis=0)
        scaled[:, ~has_all] = np.nan
        deviations = scaled - scaled.mean(axis=0)
        squares = (deviations**2).sum(axis=0)
        part = (project_count - 1) / project_count
        error = np.sqrt(part * squares)
        quantile = special.stdtrit(project_count - 1, 0.975)
        reach = quantile * error
        low = _share(centre + reach)
        high = _share(centre - reach)
    return low, high


def _log_log(shares: Floats) -> Floats:
    """The scale on which intervals are taken."""
    logs = np.log(shares)
    return np.asarray(np.log(-logs), dtype=float)


def _share(log_log: Floats) -> Floats:
    """The share of a value on that scale."""
    powers = np.exp(log_log)
    return np.asarray(np.exp(-powers), dtype=float)
