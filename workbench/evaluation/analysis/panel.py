"""Several metrics at once: the rank that none of them contradicts, and the strategies that no
other beats on two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, permutations
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base.ragged import Flags, Floats
from workbench.evaluation.analysis.compared import Sides, sides
from workbench.evaluation.analysis.one_basis import on_one_basis
from workbench.evaluation.analysis.paired import project_means
from workbench.evaluation.analysis.power import reporting_floor
from workbench.evaluation.metrics import PANEL
from workbench.evaluation.metrics.metric import Better

Pair: TypeAlias = tuple[str, str]
"""A strategy and its rival."""


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
    ahead: Mapping[Pair, tuple[str, ...]]
    silent: tuple[str, ...]

    @property
    def disputed(self) -> list[Pair]:
        """The pairs of which one metric puts the one ahead, and another the other; each once."""
        pairs: list[Pair] = []
        for pair, metrics in self.ahead.items():
            strategy, rival = pair
            reverse = (rival, strategy)
            if pair < reverse and metrics and self.ahead[reverse]:
                pairs.append(pair)
        return pairs

    def above(self, strategy: str, rival: str) -> bool:
        """Whether a metric puts one strategy ahead of the other, and none says the opposite."""
        metrics_for = self.ahead[strategy, rival]
        metrics_against = self.ahead[rival, strategy]
        return bool(metrics_for) and not metrics_against

    @cached_property
    def rank(self) -> dict[str, int]:
        """1 for the strategies that none is above, 2 for those below them only, ...; without the
        disputed ones.

        Where the metrics go round in a circle, those in it have none; nor has any where none is
        above another.
        """
        unranked = self._undisputed()
        ranks: dict[str, int] = {}
        rank = 0
        while True:
            top = self._unbeaten(unranked)
            if not top:
                break
            rank += 1
            for name in top:
                ranks[name] = rank
                unranked.remove(name)
        if rank < 2:
            return {}
        return ranks

    def _undisputed(self) -> list[str]:
        """The strategies that no two metrics order in two ways."""
        disputed_names: set[str] = set()
        for pair in self.disputed:
            disputed_names.update(pair)
        names = map(str, self.means.index)
        return [name for name in names if name not in disputed_names]

    def _unbeaten(self, names: Sequence[str]) -> list[str]:
        """Those of some strategies that none of them is above."""
        unbeaten: list[str] = []
        for name in names:
            if not self._is_beaten(name, names):
                unbeaten.append(name)
        return unbeaten

    def _is_beaten(self, name: str, rivals: Sequence[str]) -> bool:
        """Whether any of some strategies is above this one."""
        return any(rival != name and self.above(rival, name) for rival in rivals)


def panel(
    scores: pd.DataFrame,
    contenders: Iterable[str],
    mode: str,
    at_sizes: pd.DataFrame | None = None,
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
    is_of_mode = scores["mode"] == mode
    is_of_panel = scores["metric"].isin(PANEL)
    has_value = scores["value"].notna()
    scores = scores[is_of_mode & is_of_panel & has_value]
    is_contender = scores["strategy"].isin(names)
    rows = scores[is_contender]
    metrics_with_rows = set(rows["metric"])
    sides_by_metric: dict[str, Sides] = {}
    silent: list[str] = []
    for metric in PANEL:
        metric_sides: Sides = {}
        if metric in metrics_with_rows:
            metric_sides = sides(scores, metric, mode, at_sizes)
        if not metric_sides:
            silent.append(metric)
        sides_by_metric[metric] = metric_sides
    means = _means(rows, at_sizes)
    table = means.unstack()
    table = table.reindex(index=names, columns=list(PANEL))
    ahead: dict[Pair, tuple[str, ...]] = {}
    for pair in permutations(names, 2):
        ahead[pair] = _metrics_ahead(pair, sides_by_metric)
    return Panel(table, ahead, tuple(silent))


def _means(
    rows: pd.DataFrame,
    at_sizes: pd.DataFrame | None,
) -> pd.Series[float]:
    """The mean of each strategy and metric over projects."""
    tables = [rows.iloc[:0]]
    for _, of_metric in rows.groupby("metric"):
        compared_rows = on_one_basis(of_metric, at_sizes)
        tables.append(compared_rows)
    rows = pd.concat(tables)
    unit = "project" if "project" in rows else "session"
    places = ["strategy", "metric", rows[unit], "session"]
    sessions = rows.groupby(places)
    of_sessions = sessions["value"].mean()
    projects = of_sessions.groupby(level=[0, 1, 2])
    of_projects = projects.mean()
    strategies = of_projects.groupby(level=[0, 1])
    return strategies.mean()


def _metrics_ahead(
    pair: Pair,
    sides_by_metric: Mapping[str, Sides],
) -> tuple[str, ...]:
    """The metrics that put the first strategy of a pair ahead."""
    strategy, rival = pair
    reverse = (rival, strategy)
    metrics: list[str] = []
    for metric, by_pair in sides_by_metric.items():
        side = by_pair.get(pair, 0)
        side_of_reverse = by_pair.get(reverse, 0)
        if side > 0 or side_of_reverse < 0:
            metrics.append(metric)
    return tuple(metrics)


DRAWS = 2_000
SEED = 20
"""Of the bootstrap."""


def on_frontier(points: ArrayLike) -> Flags:
    """(..., strategies) whether no other point is at least as good everywhere and better once.

    The points are (..., strategies, metrics), higher is better in each.
    """
    points = np.asarray(points, dtype=float)
    point = points[..., :, None, :]
    rival = points[..., None, :, :]
    is_as_good = rival >= point
    is_better = rival > point
    beats = is_as_good.all(axis=-1) & is_better.any(axis=-1)
    is_beaten = beats.any(axis=-1)
    return np.asarray(~is_beaten, dtype=bool)


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
    is_known = np.isfinite(values)
    is_complete = is_known.all(axis=(1, 2))
    session_count = int(is_complete.sum())
    if not session_count or not len(strategies):
        columns = ["strategy", "on_frontier", "probability", "sessions"]
        return pd.DataFrame(columns=columns)
    project_names = list(compress(projects, is_complete))
    means = _project_means(values[is_complete], project_names)
    samples = _bootstrap_means(means)
    signs = _signs(better)
    is_on_frontier = on_frontier(samples * signs)
    probability = is_on_frontier.mean(axis=0)
    if len(means) < reporting_floor():
        probability = np.full(len(strategies), np.nan)
    overall_means = np.round(means.mean(axis=0), 12)
    return pd.DataFrame(
        {
            "strategy": strategies,
            "on_frontier": on_frontier(overall_means * signs),
            "probability": probability,
            "sessions": session_count,
        }
    )


def _project_means(values: Floats, projects: Sequence[str]) -> Floats:
    """(projects, strategies, metrics) the means of (sessions, strategies, metrics) values."""
    session_count, strategy_count, metric_count = values.shape
    by_session = values.reshape(session_count, -1)
    means: list[Floats] = []
    for column in by_session.T:
        column_means = project_means(column, projects)
        means.append(column_means)
    by_project = np.transpose(means)
    return by_project.reshape(-1, strategy_count, metric_count)


def _bootstrap_means(means: Floats) -> Floats:
    """(`DRAWS`, strategies, metrics) the means over projects that are drawn with replacement."""
    project_count = len(means)
    even_weights = np.full(project_count, 1 / project_count)
    random = np.random.default_rng(SEED)
    counts = random.multinomial(project_count, even_weights, size=DRAWS)
    weights = counts / project_count
    samples: Floats = np.einsum("dn,nkc->dkc", weights, means)
    # Rounded, so that strategies that are equal in every session are equal in every sample too.
    rounded: Floats = np.round(samples, 12)
    return rounded


def _signs(better: Sequence[Better]) -> Floats:
    """(metrics,) 1 where higher is better, else -1."""
    signs: list[float] = []
    for direction in better:
        signs.append(1.0 if direction == "higher" else -1.0)
    return np.array(signs)
