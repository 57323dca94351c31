"""How two strategies differ on the same sessions: interval, exact test, and the family of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from workbench.analysis.power import reporting_floor
from workbench.ragged import Floats

EXACT = 14
"""Sessions up to which all sign flips are enumerated (8,192 by symmetry); beyond, they are drawn."""
FEWEST = reporting_floor()
"""Projects below which no interval is given: so few could not show a difference between two strategies either."""


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
    """The mean of each project's sessions, in the order of its first session; the values themselves without any.

    Sessions of a project are alike, so that they are no independent observations; their means are. Source: A. Donner
    and N. Klar, Design and Analysis of Cluster Randomization Trials in Health Research (2000), chapter 6.
    """
    given = np.asarray(values, dtype=float)
    if not len(projects):
        return given
    place, _ = pd.factorize(np.asarray(projects, dtype=object))
    return np.asarray(np.bincount(place, given) / np.bincount(place), dtype=float)


def by_project(values: pd.Series[float], projects: Mapping[str, str]) -> Floats:
    """The mean of each project, of values by session; a session without a known project counts as a project."""
    return project_means(values.to_numpy(), [projects.get(str(name), str(name)) for name in values.index])


def paired_differences(one: pd.Series[float], other: pd.Series[float]) -> pd.Series[float]:
    """One difference a session of those that have both values, by session; a missing value is never zero.

    Two values that differ in the last digits of a sum are a tie.
    """
    both = pd.concat([one, other], axis=1, keys=["one", "other"]).sort_index().dropna()
    tied = np.isclose(both["one"], both["other"], rtol=1e-12, atol=0)
    return (both["one"] - both["other"]).mask(tied, 0.0)


def interval(differences: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The interval of a mean over sessions: Student's t, each end moved out by half of Hall's correction for skewness.

    Student's interval is too short for skewed differences, Hall's for symmetric ones with heavy tails; BCa and
    percentile bootstraps are too short at 8 sessions for all shapes. Of those tried this one came nearest to its
    nominal coverage at 8, 20 and 60 sessions (`tests/benchmarks/bench_statistics.py`).

    The differences are (..., n), one a session, n >= 3, any unit; the low and high ends are each of shape (...). Equal
    differences give no width, which says nothing of other sessions.

    Source:
        P. Hall, On the removal of skewness by transformation, J. R. Statist. Soc. B 54 (1992), 221-228: the cubic
        transformation of the studentised mean and its inverse. With quantiles of Student's t in place of the normal's.
    """
    given = np.asarray(differences, dtype=float)
    n = given.shape[-1]
    mean, deviation = given.mean(axis=-1), given.std(axis=-1, ddof=1)
    reach = stats.t.ppf((1 + confidence) / 2, n - 1) / np.sqrt(n)
    skew = skewness(given)
    low, high = mean - reach * deviation, mean + reach * deviation
    corrected_low = mean - deviation * _unskewed(reach, skew, n)
    corrected_high = mean - deviation * _unskewed(-reach, skew, n)
    return np.minimum(low, (low + corrected_low) / 2), np.maximum(high, (high + corrected_high) / 2)


def estimate(
    values: Sequence[float], projects: Sequence[str] = (), *, least: float = -inf, most: float = inf
) -> Estimate | None:
    """The mean of one value a session with `paired.interval`, within [least, most]; None if there are no values.

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


def ratio(
    parts: Sequence[float], wholes: Sequence[float], projects: Sequence[str], *, least: float = -inf, most: float = inf
) -> Estimate | None:
    """The sum of the parts as a share of the sum of the wholes, one of each a session; None if the wholes sum to 0.

    The interval is that of the ratio of sums by linearisation, over projects: W. G. Cochran, Sampling Techniques
    (1977), chapter 6.
    """
    part, whole = np.asarray(parts, dtype=float), np.asarray(wholes, dtype=float)
    if not whole.sum() > 0:
        return None
    names, place = np.unique(projects, return_inverse=True)
    share, part, whole = part.sum() / whole.sum(), np.bincount(place, part), np.bincount(place, whole)
    found = estimate((share + (part - share * whole) / whole.mean()).tolist(), least=least, most=most)
    return None if found is None else replace(found, mean=float(share), n=len(parts), projects=len(names))


def skewness(values: ArrayLike) -> Floats:
    """The bias-corrected sample skewness over the last axis (n >= 3); 0 where all values are equal."""
    given = np.asarray(values, dtype=float)
    n = given.shape[-1]
    apart = given - given.mean(axis=-1, keepdims=True)
    second, third = (apart**2).mean(axis=-1), (apart**3).mean(axis=-1)
    flat = second <= (1e-12 * np.abs(given).max(axis=-1)) ** 2
    moment = np.where(flat, 0.0, third / np.where(flat, 1.0, second) ** 1.5)
    return np.asarray(moment * np.sqrt(n * (n - 1)) / (n - 2), dtype=float)


def _unskewed(reach: float, skew: Floats, n: int) -> Floats:
    """Solve Hall's cubic for the studentised mean; without skewness it is `reach` itself."""
    straight = np.abs(skew) < 1e-9
    bend = np.where(straight, 1.0, skew)
    solved = 3 * (np.cbrt(1 + bend * (reach - bend / (6 * n))) - 1) / bend
    return np.where(straight, reach, solved)


def sign_flip(differences: ArrayLike, *, draws: int = 9_999, seed: int = 20) -> Floats:
    """The two-sided p of the sign-flip test: how often chance labels give a mean at least as far from zero.

    Exact up to `EXACT` sessions; beyond, `draws` flips are drawn, and the sample itself counts as one of them, so that
    p is never too small. The null hypothesis is that swapping the two labels within a session changes nothing.

    The differences are (..., n), one a session, any unit; p is of shape (...), and at least 2 ** (1 - n).

    Source:
        R. A. Fisher, The Design of Experiments (1935), section 21; (b + 1) / (m + 1) after Phipson and Smyth (2010).
    """
    given = np.asarray(differences, dtype=float)
    n = given.shape[-1]
    exact = n <= EXACT
    flips = _all_flips(n) if exact else np.random.default_rng(seed).choice([-1.0, 1.0], size=(draws, n))
    seen = np.abs(given.sum(axis=-1))
    slack = 1e-9 * np.abs(given).sum(axis=-1)  # sums of the same numbers in another order may differ in the last digit
    further = (np.abs(given @ flips.T) >= (seen - slack)[..., None]).sum(axis=-1)
    return np.asarray(further / len(flips) if exact else (further + 1) / (draws + 1), dtype=float)


def _all_flips(n: int) -> Floats:
    """All signs of n sessions, the first one's fixed: the test is two-sided, the other half mirrors this one."""
    codes = np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)
    return np.hstack([np.ones((len(codes), 1)), 1.0 - 2.0 * (codes & 1)])


def holm(ps: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust the p of a family of tests, in their order; None (no test was made) is no member of the family.

    Source:
        S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979), 65-70.
    """
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    found: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        found[place] = highest
    return tuple(found)
