"""Which strategies no other beats on two metrics at once, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.analysis.paired import project_means
from workbench.analysis.power import reporting_floor
from workbench.metrics.metric import Better
from workbench.ragged import Flags

DRAWS, SEED = 2_000, 20
"""Of the bootstrap."""


def on_frontier(points: ArrayLike) -> Flags:
    """(..., strategies) whether no other point is at least as good in all metrics and better in one.

    The points are (..., strategies, metrics), higher is better in each.
    """
    given = np.asarray(points, dtype=float)
    one, other = given[..., :, None, :], given[..., None, :, :]
    beaten = (other >= one).all(axis=-1) & (other > one).any(axis=-1)
    return np.asarray(~beaten.any(axis=-1), dtype=bool)


def frontier(
    strategies: Sequence[str], values: ArrayLike, better: Sequence[Better], projects: Sequence[str] = ()
) -> pd.DataFrame:
    """Place each strategy on or behind the frontier, with the share of bootstrap samples in which it is on it.

    Whole projects are drawn, the same for all strategies, so that a hard project is hard for all of them.

    Args:
        strategies: their names.
        values: (sessions, strategies, metrics), any unit; a session with a NaN is left out.
        better: which way each metric is better.
        projects: of each session; without any each session counts as a project.

    Returns:
        A row a strategy: `strategy`, `on_frontier`, `probability` (missing below the reporting floor), `sessions` (that
        have every value); no rows where no session has.
    """
    given = np.asarray(values, dtype=float)
    there = np.isfinite(given).all(axis=(1, 2))
    sessions = int(there.sum())
    if not sessions or not len(strategies):
        return pd.DataFrame(columns=["strategy", "on_frontier", "probability", "sessions"])
    columns = given[there].reshape(sessions, -1).T
    named = [name for name, whole in zip(projects, there, strict=True) if whole] if len(projects) else []
    whole = np.transpose([project_means(column, named) for column in columns]).reshape(-1, *given.shape[1:])
    n = len(whole)
    signs = np.array([1.0 if one == "higher" else -1.0 for one in better])
    weights = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=DRAWS) / n
    # Rounded, so that strategies that are equal in every session are equal in every sample too.
    drawn = np.round(np.einsum("dn,nkc->dkc", weights, whole), 12)
    often = on_frontier(drawn * signs).mean(axis=0)
    now = on_frontier(np.round(whole.mean(axis=0), 12) * signs)
    probability = often if n >= reporting_floor() else np.nan
    return pd.DataFrame({"strategy": strategies, "on_frontier": now, "probability": probability, "sessions": sessions})
