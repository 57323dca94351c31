"""Several metrics at once: the rank that none of them contradicts, and the strategies that no
other beats on two.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base.ragged import Flags
from workbench.evaluation.analysis.compared import sides
from workbench.evaluation.analysis.paired import project_means, reporting_floor
from workbench.evaluation.metrics import PANEL
from workbench.evaluation.metrics.metric import Better


@dataclass(frozen=True)
class Panel:
    """What the members of the panel say of each pair of strategies.

    Attributes:
        means: a row a strategy and a column a metric: its mean over the projects that have a value;
            missing otherwise.
        ahead: by pair (one, other), the metrics whose paired 95 % interval puts the first one
            ahead.
        silent: metrics without an interval for any pair: too few projects, or no values.
    """

    means: pd.DataFrame
    ahead: Mapping[tuple[str, str], tuple[str, ...]]
    silent: tuple[str, ...]

    @property
    def disputed(self) -> list[tuple[str, str]]:
        """The pairs of which one metric puts the one ahead, and another the other; each once."""
        return [
            pair
            for pair in self.ahead
            if pair < pair[::-1] and self.ahead[pair] and self.ahead[pair[::-1]]
        ]

    def above(self, one: str, other: str) -> bool:
        """Whether a member of the panel puts one strategy ahead of the other, and none says the
        opposite.
        """
        return bool(self.ahead[one, other]) and not self.ahead[other, one]

    @cached_property
    def rank(self) -> dict[str, int]:
        """1 for the strategies that none is above, 2 for those below them only, ...; without the
        disputed ones.

        Where the metrics go round in a circle, those in it have none; nor has any where none is
        above another.
        """
        left = [
            name
            for name in map(str, self.means.index)
            if not any(name in pair for pair in self.disputed)
        ]
        found: dict[str, int] = {}
        while top := [
            name
            for name in left
            if not any(self.above(other, name) for other in left if other != name)
        ]:
            found |= dict.fromkeys(top, max(found.values(), default=0) + 1)
            left = [name for name in left if name not in found]
        return found if len(set(found.values())) > 1 else {}


def panel(
    scores: pd.DataFrame, contenders: Iterable[str], mode: str, at_sizes: pd.DataFrame | None = None
) -> Panel:
    """Hold the metrics of the panel against each other, on the sessions that both of a pair have a
    value for.

    Args:
        scores: the table of that name of a run.
        contenders: the strategies to rank.
        mode: `matched`, or `natural` where a run has no equal size.
        at_sizes: the table `baseline_at_sizes`, with one baseline: pairs are then compared at the
            sizes really used.
    """
    names, known = list(contenders), scores[scores["mode"] == mode]
    known = known[known["metric"].isin(PANEL) & known["value"].notna()]
    rows = known[known["strategy"].isin(names)]
    found = {
        metric: sides(known, metric, mode, at_sizes)
        for metric in PANEL
        if (rows["metric"] == metric).any()
    }
    project = rows["project"] if "project" in rows else rows["session"]
    means = rows.groupby(["strategy", "metric", project, "session"])["value"].mean()
    means = means.groupby(level=[0, 1, 2]).mean().groupby(level=[0, 1]).mean()
    return Panel(
        means.unstack().reindex(index=names, columns=list(PANEL)),
        {
            (one, other): tuple(
                metric
                for metric, by in found.items()
                if by.get((one, other), -by.get((other, one), 0)) > 0
            )
            for one, other in permutations(names, 2)
        },
        tuple(metric for metric in PANEL if not found.get(metric)),
    )


DRAWS, SEED = 2_000, 20
"""Of the bootstrap."""


def on_frontier(points: ArrayLike) -> Flags:
    """(..., strategies) whether no other point is at least as good in all metrics and better in
    one.

    The points are (..., strategies, metrics), higher is better in each.
    """
    given = np.asarray(points, dtype=float)
    one, other = given[..., :, None, :], given[..., None, :, :]
    beaten = (other >= one).all(axis=-1) & (other > one).any(axis=-1)
    return np.asarray(~beaten.any(axis=-1), dtype=bool)


def frontier(
    strategies: Sequence[str],
    values: ArrayLike,
    better: Sequence[Better],
    projects: Sequence[str] = (),
) -> pd.DataFrame:
    """Place each strategy on or behind the frontier, with the share of bootstrap samples in which
    it is on it.

    Whole projects are drawn, the same for all strategies, so that a hard project is hard for all of
    them.

    Args:
        strategies: their names.
        values: (sessions, strategies, metrics), any unit; a session with a NaN is left out.
        better: which way each metric is better.
        projects: of each session; without any each session counts as a project.

    Returns:
        A row a strategy: `strategy`, `on_frontier`, `probability` (missing below the reporting
            floor), `sessions` (that
        have every value); no rows where no session has.
    """
    given = np.asarray(values, dtype=float)
    there = np.isfinite(given).all(axis=(1, 2))
    sessions = int(there.sum())
    if not sessions or not len(strategies):
        return pd.DataFrame(columns=["strategy", "on_frontier", "probability", "sessions"])
    columns = given[there].reshape(sessions, -1).T
    named = (
        [name for name, whole in zip(projects, there, strict=True) if whole]
        if len(projects)
        else []
    )
    whole = np.transpose([project_means(column, named) for column in columns]).reshape(
        -1, *given.shape[1:]
    )
    n = len(whole)
    signs = np.array([1.0 if one == "higher" else -1.0 for one in better])
    weights = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=DRAWS) / n
    # Rounded, so that strategies that are equal in every session are equal in every sample too.
    drawn = np.round(np.einsum("dn,nkc->dkc", weights, whole), 12)
    often = on_frontier(drawn * signs).mean(axis=0)
    now = on_frontier(np.round(whole.mean(axis=0), 12) * signs)
    probability = often if n >= reporting_floor() else np.nan
    return pd.DataFrame(
        {
            "strategy": strategies,
            "on_frontier": now,
            "probability": probability,
            "sessions": sessions,
        }
    )
