"""How much so many sessions can show: the fewest that a test needs, and its power."""

from __future__ import annotations

from bisect import bisect_left
from math import ceil, isnan, log2, sqrt

from scipy import special

POWER = 0.8
"""The chance to see a difference that is there."""

MOST = 1_000_000
"""Sessions beyond which no answer is looked for."""

FINE = 10**9
"""Steps in a standard deviation in which a detectable difference is looked for."""


def reporting_floor(tests: int = 1, alpha: float = 0.05) -> int:
    """The fewest sessions with which a two-sided sign-flip test in a family of `tests` could be
    significant.

    With n sessions that all agree its p is 2 ** (1 - n), and Holm asks the smallest p of a family
    to be at most alpha / tests: 6 sessions for one test at 5 %, 9 for seven.
    """
    return 1 + ceil(log2(tests / alpha) - 1e-12)


def power(difference: float, deviation: float, sessions: int, alpha: float = 0.05) -> float:
    """The chance that a paired two-sided t test of size `alpha` sees a true mean difference, in
    [alpha, 1].

    `deviation` is the standard deviation of the per-session differences, > 0, in the unit of the
    difference.

    Source:
        Noncentral t: J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988),
        chapter 2.
    """
    degrees = sessions - 1
    size = abs(difference) / deviation
    centre = size * sqrt(sessions)
    bound = float(special.stdtrit(degrees, 1 - alpha / 2))
    # scipy's noncentral t gives NaN far out, where power is 1 and the wrong tail is empty to ten
    # digits.
    if centre > 3 * bound + 8:
        return 1.0
    below_bound = float(special.nctdtr(degrees, centre, bound))
    right_tail = 1.0 - below_bound
    wrong_tail = float(special.nctdtr(degrees, centre, -bound))
    if isnan(wrong_tail):
        return right_tail
    return right_tail + wrong_tail


def minimum_detectable(deviation: float, sessions: int, alpha: float = 0.05) -> float:
    """The smallest true mean difference that so many sessions would show with probability `POWER`.

    Arguments as of `power`; a family under Holm plans with alpha / tests. 0 where the differences
    do not vary.
    """
    if deviation == 0:
        return 0.0

    def power_at(step: int) -> float:
        difference = step / FINE
        return power(difference, 1.0, sessions, alpha)

    top_step = FINE
    while power_at(top_step) < POWER:
        top_step *= 2
    steps = range(top_step + 1)
    smallest = bisect_left(steps, POWER, key=power_at)
    return smallest / FINE * deviation


def sessions_needed(difference: float, deviation: float, alpha: float = 0.05) -> int | None:
    """How many sessions would show a true mean difference with probability `POWER`; arguments as of
    `power`.

    At least `reporting_floor`; None if a million would not do.
    """

    def power_of(sessions: int) -> float:
        return power(difference, deviation, sessions, alpha)

    low = reporting_floor(alpha=alpha)
    if deviation == 0:
        return low
    if power_of(low) >= POWER:
        return low
    high = 2 * low
    while power_of(high) < POWER:
        low = high
        high = 2 * high
        if high > MOST:
            return None
    counts = range(low, high + 1)
    place = bisect_left(counts, POWER, key=power_of)
    return counts[place]
