"""Whether a strategy is no worse than another, or as good as the same, by a margin that is named before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from workbench.analysis.paired import Floats, interval
from workbench.metrics.metric import Better

ALPHA = 0.025
"""Of each one-sided test: what holds is what the 95 % interval of the same table shows."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A one-sided finding: `p` that a true difference at the margin would look this good, and whether it holds."""

    margin: float
    p: float
    holds: bool


def not_worse(differences: ArrayLike, margin: float, *, better: Better = "higher", alpha: float = ALPHA) -> Claim:
    """Whether the mean difference from the baseline is above -margin (below +margin where lower is better).

    Where a few sessions lose far more than the rest, a true loss of just the margin passes in 4 to 6 % of samples of 8
    to 60 sessions instead of 2.5 %: all of a skewed interval's misses lie on one side.

    Args:
        differences: (n,) strategy minus baseline, one a session, n >= 3, the metric's unit.
        margin: the loss that one would put up with, same unit, > 0.
        better: which way the metric is better.
        alpha: one-sided, in (0, 0.5).

    Source:
        Non-inferiority by the interval's end: G. Piaggio et al., CONSORT extension, JAMA 308 (2012), 2594-2604.
    """
    _check(margin)
    given = np.asarray(differences, dtype=float)
    p = _above(given if better == "higher" else -given, -margin)
    return Claim(margin, p, p <= alpha)


def same(differences: ArrayLike, margin: float, *, alpha: float = ALPHA) -> Claim:
    """Whether the mean difference lies within (-margin, margin): two one-sided tests, and the worse p of the two.

    Args:
        differences: (n,) strategy minus baseline, one a session, n >= 3, the metric's unit.
        margin: the difference that would not matter, same unit, > 0.
        alpha: of each one-sided test, in (0, 0.5).

    Source:
        TOST: D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987), 657-680.
    """
    _check(margin)
    given = np.asarray(differences, dtype=float)
    p = max(_above(given, -margin), _above(-given, -margin))
    return Claim(margin, p, p <= alpha)


def _check(margin: float) -> None:
    if not margin > 0:
        raise ValueError(f"a margin of {margin!r} allows no loss; it must be above 0, in the metric's unit")


def _above(given: Floats, bound: float) -> float:
    """The one-sided p against a mean of at most `bound`: the level at which the interval's low end reaches it."""
    if given.std() == 0:  # equal sessions say nothing of how others would vary
        return 1.0

    def end(p: float) -> float:
        low, high = interval(given, abs(1 - 2 * p))
        return float(low if p < 0.5 else high) - bound

    tiny = 1e-12
    if end(tiny) > 0:
        return tiny
    if end(1 - tiny) < 0:
        return 1.0
    if end(0.5 - tiny) <= 0 <= end(0.5):  # the interval keeps some width even where it says nothing
        return 0.5
    side = (tiny, 0.5 - tiny) if end(0.5 - tiny) > 0 else (0.5, 1 - tiny)
    return float(optimize.brentq(end, *side, xtol=1e-12))
