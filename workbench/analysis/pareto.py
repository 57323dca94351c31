"""Which strategies no other beats on two counts at once, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.analysis.power import reporting_floor
from workbench.metrics.metric import Better


@dataclass(frozen=True, slots=True)
class Standing:
    """A strategy's means over sessions, whether it is on the frontier, and how often it would be with other sessions.

    `probability` is None where there are too few sessions to say.
    """

    strategy: str
    means: tuple[float, ...]
    on_frontier: bool
    probability: float | None
    sessions: int
    dropped: int


def on_frontier(points: ArrayLike) -> NDArray[np.bool_]:
    """Whether no other point is at least as good on all counts and better on one.

    Args:
        points: (..., strategies, counts), higher is better on each; equal points do not beat each other.

    Returns:
        (..., strategies).
    """
    given = np.asarray(points, dtype=float)
    one, other = given[..., :, None, :], given[..., None, :, :]
    beaten = (other >= one).all(axis=-1) & (other > one).any(axis=-1)
    return np.asarray(~beaten.any(axis=-1), dtype=bool)


def frontier(
    strategies: Sequence[str], values: ArrayLike, better: Sequence[Better], *, draws: int = 2_000, seed: int = 20
) -> tuple[Standing, ...]:
    """Place each strategy on or behind the frontier, with the share of bootstrap samples in which it is on it.

    Whole sessions are drawn, the same for all strategies, so that a hard session is hard for all of them.

    Args:
        strategies: k names.
        values: (n sessions, k strategies, c counts), any unit, NaN where there is none; a session that lacks a value
            of any strategy is left out for all and counted as dropped.
        better: c directions.
        draws: bootstrap samples, >= 1.
        seed: of the draws.

    Returns:
        One a strategy, in the order given; none if no session is whole.
    """
    given = np.asarray(values, dtype=float)
    whole = given[np.isfinite(given).all(axis=(1, 2))]
    n = len(whole)
    if not n:
        return ()
    signs = np.array([1.0 if one == "higher" else -1.0 for one in better])
    means = whole.mean(axis=0)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws) / n
    # Rounded, so that strategies that are equal in every session are equal in every sample too.
    drawn = np.round(np.einsum("dn,nkc->dkc", weights, whole), 12)
    often = on_frontier(drawn * signs).mean(axis=0)
    now = on_frontier(np.round(means, 12) * signs)
    sure = n >= reporting_floor()
    return tuple(
        Standing(
            name,
            tuple(float(mean) for mean in means[place]),
            bool(now[place]),
            float(often[place]) if sure else None,
            n,
            len(given) - n,
        )
        for place, name in enumerate(strategies)
    )
