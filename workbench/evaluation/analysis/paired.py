"""How two strategies differ on the same sessions: intervals, exact tests, families of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from workbench.base.ragged import Floats
from workbench.evaluation.analysis.power import reporting_floor

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


def project_means(
    values: ArrayLike,
    projects: Sequence[str] = (),
) -> Floats:
    """The mean of each project's sessions, in the order of its first session; the values themselves
    without any.

    Sessions of a project are alike, so that they are no independent observations; their means are.
    Source: A. Donner and N. Klar, Design and Analysis of Cluster Randomization Trials in Health
    Research (2000), chapter 6.
    """
    values = np.asarray(values, dtype=float)
    if not len(projects):
        return values
    names = np.asarray(projects, dtype=object)
    project, _ = pd.factorize(names)
    sums = np.bincount(project, values)
    sizes = np.bincount(project)
    means: Floats = sums / sizes
    return means


def by_project(
    values: pd.Series[float],
    projects: Mapping[str, str],
) -> Floats:
    """The mean of each project; a session without a known project counts as one."""
    project_names: list[str] = []
    for name in values.index:
        session = str(name)
        project = projects.get(session, session)
        project_names.append(project)
    return project_means(values.to_numpy(), project_names)


def paired_differences(
    values: pd.Series[float],
    reference: pd.Series[float],
) -> pd.Series[float]:
    """One difference a session of those that have both values, by session; a missing value is never
    zero.

    Two values that differ in the last digits of a sum are a tie.
    """
    value, reference_value = values.align(reference)
    is_tied = np.isclose(value, reference_value, rtol=1e-12, atol=0)
    differences = value - reference_value
    differences = differences.mask(is_tied, 0.0)
    known_differences = differences.dropna()
    return known_differences.sort_index()


def interval(
    differences: ArrayLike,
    confidence: float = 0.95,
) -> tuple[Floats, Floats]:
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
        221-228: the cubic transformation of the studentised mean and its inverse. With quantiles of
        Student's t in place of the normal's.
    """
    differences = np.asarray(differences, dtype=float)
    n = differences.shape[-1]
    mean = differences.mean(axis=-1)
    deviation = differences.std(axis=-1, ddof=1)
    reach = special.stdtrit(n - 1, (1 + confidence) / 2) / np.sqrt(n)
    skew = skewness(differences)
    half_width = reach * deviation
    low = mean - half_width
    high = mean + half_width
    unskewed_low = _unskewed(reach, skew, n)
    unskewed_high = _unskewed(-reach, skew, n)
    corrected_low = mean - deviation * unskewed_low
    corrected_high = mean - deviation * unskewed_high
    middle_low = (low + corrected_low) / 2
    middle_high = (high + corrected_high) / 2
    moved_low = np.minimum(low, middle_low)
    moved_high = np.maximum(high, middle_high)
    return moved_low, moved_high


def skewness(values: Floats) -> Floats:
    """The skewness of samples (..., n), n >= 3, corrected for bias (G1); 0 for equal values."""
    n = values.shape[-1]
    mean = values.mean(axis=-1, keepdims=True)
    deviations = values - mean
    squares = deviations**2
    cubes = deviations**3
    second_moment = squares.mean(axis=-1)
    third_moment = cubes.mean(axis=-1)
    sizes = np.abs(values)
    smallest = 1e-12 * sizes.max(axis=-1)
    is_varied = second_moment > smallest**2
    root = np.sqrt(n * (n - 1))
    correction = root / (n - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = correction * third_moment / second_moment**1.5
    return np.where(is_varied, skew, 0.0)


def estimate(
    values: Sequence[float],
    projects: Sequence[str] = (),
    *,
    least: float = -inf,
    most: float = inf,
) -> Estimate | None:
    """The mean of one value a session with `paired.interval`, within [least, most]; None if there
    are no values.

    `projects` has the project of each session; without any each session counts as a project.
    """
    if not len(values):
        return None
    means = project_means(values, projects)
    mean = float(means.mean())
    without_interval = Estimate(
        mean,
        n=len(values),
        projects=len(means),
    )
    if len(means) < FEWEST:
        return without_interval
    if are_equal(means):
        return without_interval
    low, high = interval(means)
    return replace(
        without_interval,
        low=max(least, float(low)),
        high=min(most, float(high)),
    )


def are_equal(values: Floats) -> bool:
    """Whether values differ in no more than the last digits of a sum."""
    spread = float(np.ptp(values))
    sizes = np.abs(values)
    largest = float(sizes.max())
    return spread <= 1e-12 * largest


def interval_columns(
    name: str,
    mean: Estimate | None,
) -> dict[str, float | None]:
    """The columns of an estimate: `name`, `name_low` and `name_high`."""
    low_name = f"{name}_low"
    high_name = f"{name}_high"
    if mean is None:
        return dict.fromkeys((name, low_name, high_name))
    return {
        name: mean.mean,
        low_name: mean.low,
        high_name: mean.high,
    }


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
    part = np.asarray(parts, dtype=float)
    total = np.asarray(wholes, dtype=float)
    if not total.sum() > 0:
        return None
    share = part.sum() / total.sum()
    names, project = np.unique(projects, return_inverse=True)
    part = np.bincount(project, part)
    total = np.bincount(project, total)
    expected_part = share * total
    linearised = share + (part - expected_part) / total.mean()
    mean = estimate(linearised.tolist(), least=least, most=most)
    if mean is None:
        return None
    return replace(
        mean,
        mean=float(share),
        n=len(parts),
        projects=len(names),
    )


def _unskewed(reach: float, skew: Floats, n: int) -> Floats:
    """Solve Hall's cubic for the studentised mean; without skewness it is `reach` itself."""
    sizes = np.abs(skew)
    is_straight = sizes < 1e-9
    bend = np.where(is_straight, 1.0, skew)
    shift = bend / (6 * n)
    cube = 1 + bend * (reach - shift)
    root = np.cbrt(cube)
    solution = 3 * (root - 1) / bend
    return np.where(is_straight, reach, solution)


def sign_flip(
    differences: ArrayLike,
    *,
    draws: int = 9_999,
    seed: int = 20,
) -> Floats:
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
    differences = np.asarray(differences, dtype=float)
    n = differences.shape[-1]
    is_exact = n <= EXACT
    if is_exact:
        flips = _all_flips(n)
    else:
        random = np.random.default_rng(seed)
        flips = random.choice([-1.0, 1.0], size=(draws, n))
    sums = differences.sum(axis=-1)
    observed = np.abs(sums)
    # sums of the same numbers in another order may differ in the last digit
    sizes = np.abs(differences)
    slack = 1e-9 * sizes.sum(axis=-1)
    bound = observed - slack
    bound = bound[..., None]
    further = (np.abs(differences @ flips.T) >= bound).sum(axis=-1)
    if is_exact:
        return np.asarray(further / len(flips), dtype=float)
    return np.asarray((further + 1) / (draws + 1), dtype=float)


def _all_flips(n: int) -> Floats:
    """All signs of n sessions, the first one's fixed: the test is two-sided, the other half
    mirrors this one.
    """
    flip_count = 2 ** (n - 1)
    codes = np.arange(flip_count)
    bits = np.arange(n - 1)
    shifted_codes = codes[:, None] >> bits
    is_flipped = shifted_codes & 1
    other_signs = 1.0 - 2.0 * is_flipped
    first_sign = np.ones((flip_count, 1))
    return np.hstack([first_sign, other_signs])


def holm(ps: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust the p of a family of tests, in their order; None (no test was made) is no member of
    the family.

    Source:
        S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6
        (1979), 65-70.
    """
    tests: list[tuple[float, int]] = []
    for place, p in enumerate(ps):
        if p is not None:
            tests.append((p, place))
    tests.sort()
    adjusted: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(tests):
        stepped_p = min(1.0, p * (len(tests) - rank))
        highest = max(highest, stepped_p)
        adjusted[place] = highest
    return tuple(adjusted)
