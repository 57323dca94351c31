"""How likely each strategy is to be best: on its own trigger at each price that a user gives to a
tenth of the bill, and at the same size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from workbench.base.ragged import Floats
from workbench.evaluation.analysis.likely_best import LikelyBest, likely_best
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.findings.look_ups import far_behind
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables

OWN_TRIGGER = "natural"
"""The mode in which each strategy compacts when its own trigger says so."""


def usable(run: Tables) -> list[str]:
    """The contenders that may be recommended, best first."""
    names = considered(run)
    set_aside = far_behind(run, names)
    return [name for name in names if name not in set_aside]


def considered(run: Tables) -> list[str]:
    """The contenders that can be used as they are, best first."""
    unusable = {
        *run.over_window,
        *run.incomplete,
        *run.names_only,
        RECORDED,
    }
    return [name for name in run.contenders if name not in unusable]


def trade_rows(run: Tables, names: Sequence[str], half: str) -> pd.DataFrame:
    """A row a session and strategy on its own trigger, as `analysis.trade.Trade` reads them.

    Args:
        run: the run.
        names: of the strategies.
        half: the number of the headline that is traded against the bill.
    """
    recall_by_strategy = {name: run.values(half, name) for name in names}
    rows = _recall_rows(run, recall_by_strategy)
    places = pd.MultiIndex.from_frame(rows[["session", "candidate"]])
    costs = run.costs.set_index(["session", "strategy"])
    bills = costs.reindex(places)
    return rows.assign(
        saved=bills["net_saving"].to_numpy(dtype=float),
        plain=bills["usd_uncompacted"].to_numpy(dtype=float),
        fetching=bills["usd_fetching"].to_numpy(dtype=float),
    )


def points_of(rows: pd.DataFrame, worth: float) -> pd.DataFrame:
    """The points of each strategy (columns) by project, in the projects in which all have some.

    Args:
        rows: as of `trade_rows`.
        worth: points for a tenth of the bill.
    """
    points = Trade(worth).points(rows)
    return points.dropna()


def _recall_rows(
    run: Tables,
    recall_by_strategy: Mapping[str, pd.Series[float]],
) -> pd.DataFrame:
    """A row a session and strategy: `session recall candidate project`."""
    if not recall_by_strategy:
        return pd.DataFrame(columns=["session", "recall", "candidate", "project"])
    tables: list[pd.DataFrame] = []
    for name, by_session in recall_by_strategy.items():
        recall = by_session.rename("recall").rename_axis("session")
        table = recall.to_frame()
        tables.append(table.assign(candidate=name))
    rows = pd.concat(tables).reset_index()
    projects = run.projects_by_session(rows["session"])
    return rows.assign(project=projects)


def likely_best_by_half(run: Tables) -> dict[str, LikelyBest]:
    """By number of the headline how likely each usable strategy is best at each price.

    A number is missing where no session has it for all strategies, or where the reader's error is
    unknown; all are missing where fewer than two strategies are usable.
    """
    names = usable(run)
    if len(names) < 2:
        return {}
    by_half: dict[str, LikelyBest] = {}
    for half in run.halves:
        rows = trade_rows(run, names, half)
        levels = partial(_reader_levels, run, half, OWN_TRIGGER)
        likely = likely_best(rows, levels)
        if likely is not None:
            by_half[half] = likely
    return by_half


def likely_best_at_same_size(run: Tables, names: Sequence[str]) -> LikelyBest | None:
    """How likely each of these strategies tells most at the same size; the bill does not count.

    Returns:
        None for fewer than two, and as of `likely_best_by_half`.
    """
    if len(names) < 2:
        return None
    recall_by_strategy = {name: run.same_size_values(name) for name in names}
    rows = _recall_rows(run, recall_by_strategy)
    rows = rows.assign(saved=0.0, plain=0.0)
    levels = partial(_reader_levels, run, run.first_half, run.main_mode)
    return likely_best(rows, levels)


def _reader_levels(
    run: Tables,
    half: str,
    mode: str,
    strategies: Sequence[str],
    projects: int,
    random: np.random.Generator,
) -> Mapping[str, Floats] | None:
    return run.writers.reader_levels(strategies, half, mode, projects, random)
