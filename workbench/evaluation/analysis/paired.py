"""How two strategies differ on the same sessions: what so many can show, intervals, exact tests,
families of tests.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isnan, log2, sqrt

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from workbench.base.ragged import Floats

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
    centre = abs(difference) / deviation * sqrt(sessions)
    bound = float(special.stdtrit(sessions - 1, 1 - alpha / 2))
    # scipy's noncentral t gives NaN far out, where power is 1 and the wrong tail is empty to ten
    # digits.
    if centre > 3 * bound + 8:
        return 1.0
    wrong = float(special.nctdtr(sessions - 1, centre, -bound))
    return (
        1.0 - float(special.nctdtr(sessions - 1, centre, bound)) + (0.0 if isnan(wrong) else wrong)
    )


def minimum_detectable(deviation: float, sessions: int, alpha: float = 0.05) -> float:
    """The smallest true mean difference that so many sessions would show with probability `POWER`.

    Arguments as of `power`; a family under Holm plans with alpha / tests. 0 where the differences
    do not vary.
    """
    if deviation == 0:
        return 0.0
    top = 1.0
    while power(top, 1.0, sessions, alpha) < POWER:
        top *= 2
    sizes = range(ceil(top * FINE) + 1)
    return (
        bisect_left(sizes, POWER, key=lambda size: power(size / FINE, 1.0, sessions, alpha))
        / FINE
        * deviation
    )


def sessions_needed(difference: float, deviation: float, alpha: float = 0.05) -> int | None:
    """How many sessions would show a true mean difference with probability `POWER`; arguments as of
    `power`.

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
    return sizes[
        bisect_left(sizes, POWER, key=lambda size: power(difference, deviation, size, alpha))
    ]


EXACT = 14
"""Sessions up to which all sign flips are enumerated (8,192 by symmetry); beyond, they are
drawn.
"""
FEWEST = reporting_floor()
"""Projects below which no interval is given: so few could not show a difference between two
strategies either.
"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval; `low` and `high` are None where projects are too few or equal.

    Attributes:
        mean: over projects, each with the mean of its sessions.
        n: sessions.
        projects: that the sessions come from.
    """

    mean: float
    n: int
    projects: int
    low: float | None = None
    high: float | None = None


def project_means(values: ArrayLike, projects: Sequence[str] = ()) -> Floats:
    """The mean of each project's sessions, in the order of its first session; the values themselves
    without any.

    Sessions of a project are alike, so that they are no independent observations; their means are.
    Source: A. Donner and N. Klar, Design and Analysis of Cluster Randomization Trials in Health
    Research (2000), chapter 6.
    """
    given = np.asarray(values, dtype=float)
    if not len(projects):
        return given
    place, _ = pd.factorize(np.asarray(projects, dtype=object))
    return np.asarray(np.bincount(place, given) / np.bincount(place), dtype=float)


def by_project(values: pd.Series[float], projects: Mapping[str, str]) -> Floats:
    """The mean of each project, of values by session; a session without a known project counts
    as a project.
    """
    return project_means(
        values.to_numpy(), [projects.get(str(name), str(name)) for name in values.index]
    )


def paired_differences(one: pd.Series[float], other: pd.Series[float]) -> pd.Series[float]:
    """One difference a session of those that have both values, by session; a missing value is never
    zero.

    Two values that differ in the last digits of a sum are a tie.
    """
    both = pd.concat([one, other], axis=1, keys=["one", "other"]).sort_index().dropna()
    tied = np.isclose(both["one"], both["other"], rtol=1e-12, atol=0)
    return (both["one"] - both["other"]).mask(tied, 0.0)


def interval(differences: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The interval of a mean over sessions: Student's t, each end moved out by half of Hall's
    correction for skewness.

    Student's interval is too short for skewed differences, Hall's for symmetric ones with heavy
    tails; BCa and percentile bootstraps are too short at 8 sessions for all shapes. Of those tried
    this one came nearest to its nominal coverage at 8, 20 and 60 sessions
    (`tests/benchmarks/bench_statistics.py`).

    The differences are (..., n), one a session, n >= 3, any unit; the low and high ends are each of
    shape (...). Equal differences give no width, which says nothing of other sessions.

    Source:
        P. Hall, On the removal of skewness by transformation, J. R. Statist. Soc. B 54 (1992),
            221-228: the cubic
        transformation of the studentised mean and its inverse. With quantiles of Student's t in
            place of the normal's.
    """
    given = np.asarray(differences, dtype=float)
    n = given.shape[-1]
    mean, deviation = given.mean(axis=-1), given.std(axis=-1, ddof=1)
    reach = special.stdtrit(n - 1, (1 + confidence) / 2) / np.sqrt(n)
    skew = skewness(given)
    low, high = mean - reach * deviation, mean + reach * deviation
    corrected_low = mean - deviation * _unskewed(reach, skew, n)
    corrected_high = mean - deviation * _unskewed(-reach, skew, n)
    return np.minimum(low, (low + corrected_low) / 2), np.maximum(high, (high + corrected_high) / 2)


def skewness(values: Floats) -> Floats:
    """The skewness of samples (..., n), n >= 3, corrected for bias (Fisher's G1); 0 where all
    values are equal.
    """
    n = values.shape[-1]
    away = values - values.mean(axis=-1, keepdims=True)
    second, third = (away**2).mean(axis=-1), (away**3).mean(axis=-1)
    varied = second > (1e-12 * np.abs(values).max(axis=-1)) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varied, np.sqrt(n * (n - 1)) / (n - 2) * third / second**1.5, 0.0)


def estimate(
    values: Sequence[float], projects: Sequence[str] = (), *, least: float = -inf, most: float = inf
) -> Estimate | None:
    """The mean of one value a session with `paired.interval`, within [least, most]; None if there
    are no values.

    `projects` has the project of each session; without any each session counts as a project.
    """
    if not len(values):
        return None
    given = project_means(values, projects)
    found = Estimate(float(given.mean()), len(values), len(given))
    if len(given) < FEWEST or float(np.ptp(given)) <= 1e-12 * float(np.abs(given).max()):
        return found
    low, high = interval(given)
    return replace(found, low=max(least, float(low)), high=min(most, float(high)))


def interval_columns(name: str, found: Estimate | None) -> dict[str, float | None]:
    """The columns of an estimate: `name`, `name_low` and `name_high`."""
    mean, low, high = (found.mean, found.low, found.high) if found else (None, None, None)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def ratio(
    parts: Sequence[float],
    wholes: Sequence[float],
    projects: Sequence[str],
    *,
    least: float = -inf,
    most: float = inf,
) -> Estimate | None:
    """The sum of the parts as a share of the sum of the wholes, one of each a session; None if the
    wholes sum to 0.

    The interval is that of the ratio of sums by linearisation, over projects: W. G. Cochran,
    Sampling Techniques (1977), chapter 6.
    """
    part, whole = np.asarray(parts, dtype=float), np.asarray(wholes, dtype=float)
    if not whole.sum() > 0:
        return None
    names, place = np.unique(projects, return_inverse=True)
    share, part, whole = (
        part.sum() / whole.sum(),
        np.bincount(place, part),
        np.bincount(place, whole),
    )
    found = estimate(
        (share + (part - share * whole) / whole.mean()).tolist(), least=least, most=most
    )
    return (
        None
        if found is None
        else replace(found, mean=float(share), n=len(parts), projects=len(names))
    )


def _unskewed(reach: float, skew: Floats, n: int) -> Floats:
    """Solve Hall's cubic for the studentised mean; without skewness it is `reach` itself."""
    straight = np.abs(skew) < 1e-9
    bend = np.where(straight, 1.0, skew)
    solved = 3 * (np.cbrt(1 + bend * (reach - bend / (6 * n))) - 1) / bend
    return np.where(straight, reach, solved)


def sign_flip(differences: ArrayLike, *, draws: int = 9_999, seed: int = 20) -> Floats:
    """The two-sided p of the sign-flip test: how often chance labels give a mean at least as far
    from zero.

    Exact up to `EXACT` sessions; beyond, `draws` flips are drawn, and the sample itself counts as
    one of them, so that p is never too small. The null hypothesis is that swapping the two labels
    within a session changes nothing.

    The differences are (..., n), one a session, any unit; p is of shape (...), and at least 2 ** (1
    - n).

    Source:
        R. A. Fisher, The Design of Experiments (1935), section 21; (b + 1) / (m + 1) after Phipson
            and Smyth (2010).
    """
    given = np.asarray(differences, dtype=float)
    n = given.shape[-1]
    exact = n <= EXACT
    flips = (
        _all_flips(n) if exact else np.random.default_rng(seed).choice([-1.0, 1.0], size=(draws, n))
    )
    seen = np.abs(given.sum(axis=-1))
    # sums of the same numbers in another order may differ in the last digit
    slack = 1e-9 * np.abs(given).sum(axis=-1)
    further = (np.abs(given @ flips.T) >= (seen - slack)[..., None]).sum(axis=-1)
    return np.asarray(further / len(flips) if exact else (further + 1) / (draws + 1), dtype=float)


def _all_flips(n: int) -> Floats:
    """All signs of n sessions, the first one's fixed: the test is two-sided, the other half
    mirrors this one.
    """
    codes = np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)
    return np.hstack([np.ones((len(codes), 1)), 1.0 - 2.0 * (codes & 1)])


def holm(ps: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust the p of a family of tests, in their order; None (no test was made) is no member of
    the family.

    Source:
        S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6
            (1979), 65-70.
    """
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    found: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        found[place] = highest
    return tuple(found)
