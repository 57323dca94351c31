"""Where the noise of a score comes from: the summariser, the reader, the judge, the session, or mere repetition.

Each factor's levels (each summariser, each session) count as drawn at random. What a factor explains beyond all others
is held against what chance would let it explain (Henderson's third method, unbiased however unbalanced the table is;
intervals by Williams and Tukey). What no factor explains is the residual: replicates, and what factors do together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f

from workbench.analysis.judged import Interval

RESIDUAL = "residual"
FEWEST_LEVELS = 2
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Component:
    """One source of variance.

    Attributes:
        factor: its name, or `residual`.
        levels: how many were seen.
        variance: in squared units of the score, with a 95 % interval; never below 0. None where `why` says why not.
        share: of the whole variance of one score, in [0, 1].
        of_mean: its part in the variance of the mean over the whole table, in [0, 1]: what more levels would lower.
    """

    factor: str
    levels: int
    variance: Interval | None
    share: float | None = None
    of_mean: float | None = None
    why: str = ""


def components(values: Sequence[float], factors: Mapping[str, Sequence[object]]) -> tuple[Component, ...]:
    """The variance of n scores, split among crossed factors and the residual; the residual comes last.

    Args:
        values: n scores.
        factors: by name, the level of each of the n scores.

    Raises:
        ValueError: a factor has not n levels, or there are fewer than three scores.
    """
    y = np.asarray(values, dtype=float)
    if len(y) < 3:
        raise ValueError(f"{len(y)} scores; a variance needs at least 3")
    for name, levels in factors.items():
        if len(levels) != len(y):
            raise ValueError(f"the factor {name!r} has {len(levels)} levels for {len(y)} scores")
    designs = {name: _indicators(levels) for name, levels in factors.items()}
    used = {name: design for name, design in designs.items() if FEWEST_LEVELS <= design.shape[1] < len(y)}
    intervals = _intervals(y, list(used.values()))
    parts = [*(float((design.sum(axis=0) ** 2).sum()) / len(y) ** 2 for design in used.values()), 1 / len(y)]
    whole = sum(one.value for one in intervals)
    mean = sum(one.value * part for one, part in zip(intervals, parts, strict=True))
    known: dict[str, Component] = {}
    for name, one, part in zip([*used, RESIDUAL], intervals, parts, strict=True):
        seen = used[name].shape[1] if name in used else len(y)
        shares = (one.value / whole, one.value * part / mean) if mean > 0 else (None, None)
        known[name] = Component(name, seen, one, *shares)
    why = "one level, or a level for each score: nothing to compare"
    return tuple(
        known[name] if name in known else Component(name, designs[name].shape[1], None, why=why)
        for name in [*designs, RESIDUAL]
    )


def advice(found: Sequence[Component]) -> str:
    """Where the next dollar is spent best: more of what makes the mean uncertain most."""
    known = [one for one in found if one.of_mean is not None]
    if not known or all(one.of_mean == 0 for one in known):
        return "The scores do not vary; nothing is uncertain about their mean."
    most = max(known, key=lambda one: one.of_mean or 0.0)
    what = "replicates" if most.factor == RESIDUAL else most.factor.removesuffix("s") + "s"
    return f"More {what} would make the mean surest: {most.of_mean:.0%} of its variance comes from there."


def _indicators(levels: Sequence[object]) -> Floats:
    _, which = np.unique([str(level) for level in levels], return_inverse=True)
    return np.eye(int(which.max()) + 1)[which]


def _intervals(y: Floats, designs: Sequence[Floats]) -> list[Interval]:
    """A component for each factor, then the residual's; none below 0."""
    n = len(y)
    design = np.hstack([np.ones((n, 1)), *designs])
    products, sums = design.T @ design, design.T @ y
    stops = np.cumsum([1, *(one.shape[1] for one in designs)])
    explained, rank = _explained(products, sums)
    rest = n - rank
    if rest < 1:
        raise ValueError(f"{n} scores are too few for so many levels")
    noise = max(float((y**2).sum()) - explained, 0.0) / rest
    found = []
    for start, stop in pairwise(stops):
        own = np.arange(start, stop)
        others = np.delete(np.arange(stops[-1]), own)
        inside = products[np.ix_(others, others)]
        less, fewer = _explained(inside, sums[others])
        free, beyond = rank - fewer, explained - less
        across = products[np.ix_(others, own)]
        weight = float(np.trace(products[np.ix_(own, own)]) - np.trace(across.T @ np.linalg.pinv(inside) @ across))
        if free < 1 or weight < 1e-9:
            raise ValueError("a factor cannot be told from the others: its levels go with theirs")
        each = weight / free
        low = (beyond - free * noise * f.ppf(0.975, free, rest)) / (each * chi2.ppf(0.975, free))
        high = (beyond - free * noise * f.ppf(0.025, free, rest)) / (each * chi2.ppf(0.025, free))
        found.append(Interval(*(max(float(v), 0.0) for v in ((beyond - free * noise) / weight, low, high))))
    ends = (noise * rest / chi2.ppf(share, rest) for share in (0.975, 0.025))
    return [*found, Interval(noise, *(float(end) for end in ends))]


def _explained(products: Floats, sums: Floats) -> tuple[float, int]:
    """The sum of squares that these columns explain, and how many of them are independent."""
    return float(sums @ np.linalg.pinv(products, hermitian=True) @ sums), int(
        np.linalg.matrix_rank(products, hermitian=True)
    )
