"""Where the noise of a score comes from: the summariser, the reader, the session, the item, or mere repetition.

Each factor's levels (each summariser, each session) count as drawn at random. What a factor explains beyond all others
is held against what chance would let it explain (Henderson's third method, unbiased however unbalanced the table is;
intervals by Williams and Tukey). Where one factor is nested in another, such as questions in sessions, the outer one is
held against the inner one. What no factor explains is the residual: replicates, and what factors do together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f

RESIDUAL = "residual"
FEWEST_LEVELS = 2
ONE_LEVEL = "one level, or a level for each score: nothing to compare"
ALONE = 1e-9
"""Shares below this are rounding: of a factor's indicators that no other factor explains, or of squares."""
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Component:
    """One source of variance: a factor, or `residual`.

    Attributes:
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


def components(
    values: Sequence[float], factors: Mapping[str, Sequence[object]], *, nested: str = "", inside: str = ""
) -> tuple[Component, ...]:
    """The variance of n >= 3 scores, split among crossed factors and the residual; the residual comes last.

    Each factor has the level of each score. The levels of the factor `nested`, of which there may be thousands, each
    belong to one level of the factor `inside`, such as questions about a session.
    """
    y = np.asarray(values, dtype=float)
    if len(y) < 3:
        raise ValueError(f"{len(y)} scores; a variance needs at least 3")
    for name, levels in factors.items():
        if len(levels) != len(y):
            raise ValueError(f"the factor {name!r} has {len(levels)} levels for {len(y)} scores")
    codes = {name: np.unique(list(map(str, levels)), return_inverse=True)[1] for name, levels in factors.items()}
    counts = {name: int(one.max()) + 1 for name, one in codes.items()}
    used = {name: one for name, one in codes.items() if FEWEST_LEVELS <= counts[name] < len(y)}
    found = _Split(y, used, nested if nested in used else "", inside if inside in used else "").intervals()
    parts = {name: float((np.bincount(one) ** 2).sum()) / len(y) ** 2 for name, one in used.items()}
    parts[RESIDUAL] = 1 / len(y)
    whole = sum(one.value for one in found.values())
    mean = sum(one.value * parts[name] for name, one in found.items())
    components = []
    for name in [*codes, RESIDUAL]:
        one, count = found.get(name), counts.get(name, len(y))
        share, of_mean = (one.value / whole, one.value * parts[name] / mean) if one and mean > 0 else (None, None)
        why = "" if one else "its levels go with those of another factor" if name in used else ONE_LEVEL
        components.append(Component(name, count, one, share, of_mean, why))
    return tuple(components)


def advice(found: Sequence[Component]) -> str:
    """Where the next dollar is spent best: more of what makes the mean uncertain most."""
    known = [one for one in found if one.of_mean is not None]
    if not known or all(one.of_mean == 0 for one in known):
        return "The scores do not vary; nothing is uncertain about their mean."
    most = max(known, key=lambda one: one.of_mean or 0.0)
    what = most.factor.removesuffix("s") + "s"
    if most.factor == RESIDUAL:  # a factor with a level for each score is in it
        hidden = next((one.factor + "s" for one in found if one.variance is None and one.levels == most.levels), "")
        what = f"{hidden} or replicates" if hidden else "replicates"
    return f"More {what} would make the mean surest: {most.of_mean:.0%} of its variance comes from there."


@dataclass(frozen=True)
class _Split:
    """The scores, the factors by which they vary, and which of these is nested in which."""

    y: Floats
    factors: Mapping[str, Codes]
    nested: str
    inside: str

    def intervals(self) -> dict[str, Interval]:
        """A component for each factor that can be told from the others, then the residual's; none below 0."""
        full = self._fit(list(self.factors))
        squares, rest = float((self.y**2).sum()), len(self.y) - full.rank
        if rest < 1:
            raise ValueError(f"{len(self.y)} scores are too few for so many levels")
        left = squares - full.explained(self.y)
        error = _Spread(left / rest if left > ALONE * squares else 0.0, rest)
        ends = (error.mean * rest / chi2.ppf(share, rest) for share in (0.975, 0.025))
        found = {name: self._component(name, error) for name in self.factors}
        found[RESIDUAL] = Interval(error.mean, *(float(end) for end in ends))
        return {name: one for name, one in found.items() if one is not None}

    def _component(self, name: str, error: _Spread) -> Interval | None:
        """What a factor explains beyond all others; levels of an outer one differ by those of the nested one, too."""
        outer = name == self.inside and bool(self.nested)
        others = [one for one in self.factors if one != name and not (outer and one == self.nested)]
        full, less, own = self._fit([*others, name]), self._fit(others), self.factors[name]
        weight, free = len(own) - less.seen(own), full.rank - less.rank
        if free < 1 or weight < ALONE:
            return None
        if outer:
            inner, whole = self.factors[self.nested], self._fit(list(self.factors))
            rest = max(whole.rank - full.rank, 1)
            each = (len(inner) - full.seen(inner)) / rest
            if each < ALONE:
                return None
            spread = _Spread(max(whole.explained(self.y) - full.explained(self.y), 0.0) / rest, rest)
            error = error.mixed(spread, (full.seen(inner) - less.seen(inner)) / free / each)
        return _interval(full.explained(self.y) - less.explained(self.y), weight, free, error)

    def _fit(self, names: Sequence[str]) -> _Fit:
        if self.nested not in names:
            return _Fit(len(self.y), [self.factors[name] for name in names], None)
        columns = [self.factors[name] for name in names if name not in (self.nested, self.inside)]
        return _Fit(len(self.y), columns, self.factors[self.nested])


@dataclass(frozen=True, slots=True)
class _Spread:
    """A mean square with its degrees of freedom."""

    mean: float
    free: float

    def mixed(self, other: _Spread, part: float) -> _Spread:
        """This one and so much of the other one's excess; degrees of freedom after Satterthwaite."""
        mean = max(self.mean + part * (other.mean - self.mean), 0.0)
        noise = (part * other.mean) ** 2 / other.free + ((1 - part) * self.mean) ** 2 / self.free
        return _Spread(mean, max(mean**2 / noise, 1.0) if noise > 0 else self.free)


def _interval(beyond: float, weight: float, free: int, noise: _Spread) -> Interval:
    each = weight / free
    low = (beyond - free * noise.mean * f.ppf(0.975, free, noise.free)) / (each * chi2.ppf(0.975, free))
    high = (beyond - free * noise.mean * f.ppf(0.025, free, noise.free)) / (each * chi2.ppf(0.025, free))
    return Interval(*(max(float(v), 0.0) for v in ((beyond - free * noise.mean) / weight, low, high)))


class _Fit:
    """Least squares by a mean, the levels of factors, and the means of groups, of which there may be thousands."""

    def __init__(self, n: int, factors: Sequence[Codes], groups: Codes | None) -> None:
        columns = np.hstack([np.ones((n, 1)), *(np.eye(int(one.max()) + 1)[one] for one in factors)])
        self.groups = np.zeros(0, dtype=np.int64) if groups is None else groups
        self.sizes = np.bincount(self.groups)
        if groups is not None:
            columns = columns - (_sums(columns, groups) / self.sizes[:, None])[groups]
        sizes, axes = np.linalg.eigh(columns.T @ columns)
        kept = sizes > 1e-10 * max(sizes[-1], 1e-10)
        self.basis: Floats = columns @ (axes[:, kept] / np.sqrt(sizes[kept]))
        self.rank = len(self.sizes) + self.basis.shape[1]

    def explained(self, y: Floats) -> float:
        """The sum of squares that it explains."""
        by_group = np.bincount(self.groups, y[: len(self.groups)]) ** 2 / self.sizes
        return float(((self.basis.T @ y) ** 2).sum() + by_group.sum())

    def seen(self, codes: Codes) -> float:
        """How much of a factor's own indicators it explains: the trace of their projection."""
        pairs, counts = np.unique([codes[: len(self.groups)], self.groups], axis=1, return_counts=True)
        return float((_sums(self.basis, codes) ** 2).sum() + (counts**2 / self.sizes[pairs[1]]).sum())


def _sums(columns: Floats, codes: Codes) -> Floats:
    """The sum of the rows of each level."""
    found: Floats = np.zeros((int(codes.max()) + 1, columns.shape[1]))
    np.add.at(found, codes, columns)
    return found
