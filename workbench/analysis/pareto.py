"""Which strategies no other beats on two metrics at once, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.analysis.power import reporting_floor
from workbench.metrics.metric import Better
from workbench.ragged import Flags

DRAWS, SEED = 2_000, 20
"""Of the bootstrap."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a strategy is on the frontier, and how often it would be with other sessions.

    `sessions` have every value; `probability` is None where they are too few.
    """

    strategy: str
    on_frontier: bool
    probability: float | None
    sessions: int


def on_frontier(points: ArrayLike) -> Flags:
    """(..., strategies) whether no other point is at least as good in all metrics and better in one.

    The points are (..., strategies, metrics), higher is better in each.
    """
    given = np.asarray(points, dtype=float)
    one, other = given[..., :, None, :], given[..., None, :, :]
    beaten = (other >= one).all(axis=-1) & (other > one).any(axis=-1)
    return np.asarray(~beaten.any(axis=-1), dtype=bool)


def frontier(strategies: Sequence[str], values: ArrayLike, better: Sequence[Better]) -> tuple[Standing, ...]:
    """Place each strategy on or behind the frontier, with the share of bootstrap samples in which it is on it.

    Whole sessions are drawn, the same for all strategies, so that a hard session is hard for all of them. The values
    are (sessions, strategies, metrics), any unit; a session with a NaN is left out. Without a whole session there are
    no standings.
    """
    given = np.asarray(values, dtype=float)
    whole = given[np.isfinite(given).all(axis=(1, 2))]
    n = len(whole)
    if not n:
        return ()
    signs = np.array([1.0 if one == "higher" else -1.0 for one in better])
    weights = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=DRAWS) / n
    # Rounded, so that strategies that are equal in every session are equal in every sample too.
    drawn = np.round(np.einsum("dn,nkc->dkc", weights, whole), 12)
    often = on_frontier(drawn * signs).mean(axis=0)
    now = on_frontier(np.round(whole.mean(axis=0), 12) * signs)
    sure = n >= reporting_floor()
    return tuple(
        Standing(name, bool(on), float(chance) if sure else None, n)
        for name, on, chance in zip(strategies, now, often, strict=True)
    )
