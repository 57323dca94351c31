"""Several metrics at once: the rank that none of them contradicts, and the strategies that no
other beats on two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base.ragged import Flags
from workbench.evaluation.analysis.compared import sides
from workbench.evaluation.analysis.one_basis import on_one_basis
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
        pairs: list[tuple[str, str]] = []
        for pair, metrics in self.ahead.items():
            reverse = pair[1], pair[0]
            if pair < reverse and metrics and self.ahead[reverse]:
                pairs.append(pair)
        return pairs

    def above(self, strategy: str, rival: str) -> bool:
        """Whether a metric puts one strategy ahead of the other, and none says the opposite."""
        return bool(self.ahead[strategy, rival]) and not self.ahead[rival, strategy]

    @cached_property
    def rank(self) -> dict[str, int]:
        """1 for the strategies that none is above, 2 for those below them only, ...; without the
        disputed ones.

        Where the metrics go round in a circle, those in it have none; nor has any where none is
        above another.
        """
        disputed_names: set[str] = set()
        for pair in self.disputed:
            disputed_names.update(pair)
        unranked = [str(name) for name in self.means.index if name not in disputed_names]
        ranks: dict[str, int] = {}
        rank = 0
        while True:
            top = self._unbeaten(unranked)
            if not top:
                break
            rank += 1
            ranks.update(dict.fromkeys(top, rank))
            unranked = [name for name in unranked if name not in ranks]
        return ranks if rank > 1 else {}

    def _unbeaten(self, names: Sequence[str]) -> list[str]:
        """Those of some strategies that none of them is above."""
        unbeaten: list[str] = []
        for name in names:
            rivals = [rival for rival in names if rival != name]
            if not any(self.above(rival, name) for rival in rivals):
                unbeaten.append(name)
        return unbeaten


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
    names = list(contenders)
    scores = scores[(scores["mode"] == mode) & scores["metric"].isin(PANEL)]
    scores = scores[scores["value"].notna()]
    rows = scores[scores["strategy"].isin(names)]
    sides_by_metric: dict[str, Mapping[tuple[str, str], int]] = {}
    for metric in PANEL:
        if (rows["metric"] == metric).any():
            sides_by_metric[metric] = sides(scores, metric, mode, at_sizes)
    means = _means(rows, at_sizes).unstack().reindex(index=names, columns=list(PANEL))
    ahead = {pair: _metrics_ahead(pair, sides_by_metric) for pair in permutations(names, 2)}
    silent = tuple(metric for metric in PANEL if not sides_by_metric.get(metric))
    return Panel(means, ahead, silent)


def _means(rows: pd.DataFrame, at_sizes: pd.DataFrame | None) -> pd.Series[float]:
    """The mean of each strategy and metric over projects."""
    tables = [rows.iloc[:0]]
    for _, of_metric in rows.groupby("metric"):
        compared_rows = on_one_basis(of_metric, at_sizes)
        tables.append(compared_rows)
    rows = pd.concat(tables)
    project = rows["project"] if "project" in rows else rows["session"]
    of_sessions = rows.groupby(["strategy", "metric", project, "session"])["value"].mean()
    of_projects = of_sessions.groupby(level=[0, 1, 2]).mean()
    return of_projects.groupby(level=[0, 1]).mean()


def _metrics_ahead(
    pair: tuple[str, str], sides_by_metric: Mapping[str, Mapping[tuple[str, str], int]]
) -> tuple[str, ...]:
    """The metrics that put the first strategy of a pair ahead."""
    strategy, rival = pair
    metrics: list[str] = []
    for metric, by_pair in sides_by_metric.items():
        if by_pair.get(pair, 0) > 0 or by_pair.get((rival, strategy), 0) < 0:
            metrics.append(metric)
    return tuple(metrics)


DRAWS, SEED = 2_000, 20
"""Of the bootstrap."""


def on_frontier(points: ArrayLike) -> Flags:
    """(..., strategies) whether no other point is at least as good everywhere and better once.

    The points are (..., strategies, metrics), higher is better in each.
    """
    points = np.asarray(points, dtype=float)
    point = points[..., :, None, :]
    rival = points[..., None, :, :]
    is_beaten = (rival >= point).all(axis=-1) & (rival > point).any(axis=-1)
    return np.asarray(~is_beaten.any(axis=-1), dtype=bool)


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
        floor), `sessions` (that have every value); no rows where no session has.
    """
    values = np.asarray(values, dtype=float)
    is_complete = np.isfinite(values).all(axis=(1, 2))
    session_count = int(is_complete.sum())
    if not session_count or not len(strategies):
        return pd.DataFrame(columns=["strategy", "on_frontier", "probability", "sessions"])
    columns = values[is_complete].reshape(session_count, -1).T
    project_names = list(compress(projects, is_complete))
    means_by_column = [project_means(column, project_names) for column in columns]
    means = np.transpose(means_by_column).reshape(-1, *values.shape[1:])
    project_count = len(means)
    signs = np.array([1.0 if direction == "higher" else -1.0 for direction in better])
    even_weights = np.full(project_count, 1 / project_count)
    random = np.random.default_rng(SEED)
    weights = random.multinomial(project_count, even_weights, size=DRAWS) / project_count
    # Rounded, so that strategies that are equal in every session are equal in every sample too.
    samples = np.round(np.einsum("dn,nkc->dkc", weights, means), 12)
    probability = on_frontier(samples * signs).mean(axis=0)
    if project_count < reporting_floor():
        probability = np.full(len(strategies), np.nan)
    return pd.DataFrame(
        {
            "strategy": strategies,
            "on_frontier": on_frontier(np.round(means.mean(axis=0), 12) * signs),
            "probability": probability,
            "sessions": session_count,
        }
    )
