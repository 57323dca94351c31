"""What a number of sessions can show, and how many would do."""

from __future__ import annotations

from bisect import bisect_left
from math import ceil, isnan, log2, sqrt

from scipy import optimize, stats

POWER = 0.8
"""The chance to see a difference that is there."""

MOST = 1_000_000
"""Sessions beyond which no answer is looked for."""


def reporting_floor(tests: int = 1, alpha: float = 0.05) -> int:
    """The fewest sessions with which a two-sided sign-flip test in a family of `tests` could be significant.

    With n sessions that all agree its p is 2 ** (1 - n), and Holm asks the smallest p of a family to be at most
    alpha / tests: 6 sessions for one test at 5 %, 9 for seven.
    """
    return 1 + ceil(log2(tests / alpha) - 1e-12)


def power(difference: float, deviation: float, sessions: int, alpha: float = 0.05) -> float:
    """The chance that a paired two-sided t test of size `alpha` sees a true mean difference, in [alpha, 1].

    `deviation` is the standard deviation of the per-session differences, > 0, in the unit of the difference.

    Source:
        Noncentral t: J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2.
    """
    centre = abs(difference) / deviation * sqrt(sessions)
    bound = float(stats.t.ppf(1 - alpha / 2, sessions - 1))
    # scipy's noncentral t gives NaN far out, where power is 1 and the wrong tail is empty to ten digits.
    if centre > 3 * bound + 8:
        return 1.0
    wrong = float(stats.nct.cdf(-bound, sessions - 1, centre))
    return float(stats.nct.sf(bound, sessions - 1, centre)) + (0.0 if isnan(wrong) else wrong)


def minimum_detectable(deviation: float, sessions: int, alpha: float = 0.05) -> float:
    """The smallest true mean difference that so many sessions would show with probability `POWER`.

    Arguments as of `power`; a family under Holm plans with alpha / tests. 0 where the differences do not vary.
    """
    if deviation == 0:
        return 0.0
    top = 1.0
    while power(top, 1.0, sessions, alpha) < POWER:
        top *= 2
    effect = optimize.brentq(lambda size: power(size, 1.0, sessions, alpha) - POWER, 0.0, top, xtol=1e-9)
    return float(effect) * deviation


def sessions_needed(difference: float, deviation: float, alpha: float = 0.05) -> int | None:
    """How many sessions would show a true mean difference with probability `POWER`; arguments as of `power`.

    At least `reporting_floor`; None if a million would not do.
    """
    low = reporting_floor(alpha=alpha)
    if deviation == 0 or power(difference, deviation, low, alpha) >= POWER:
        return low
    high = 2 * low
    while power(difference, deviation, high, alpha) < POWER:
        low, high = high, 2 * high
        if high > MOST:
            return None
    sizes = range(low, high + 1)
    return sizes[bisect_left(sizes, POWER, key=lambda size: power(difference, deviation, size, alpha))]
