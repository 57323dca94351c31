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
from workbench.evaluation.findings.look_ups import far_behind
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES

OWN_TRIGGER = "natural"
"""The mode in which each strategy compacts when its own trigger says so."""


def usable(run: Tables) -> list[str]:
    """The contenders that may be recommended, best first."""
    names = considered(run)
    set_aside = far_behind(run, names)
    return [name for name in names if name not in set_aside]


def considered(run: Tables) -> list[str]:
    """The contenders that can be used as they are, best first."""
    out = {*run.over_window, *run.incomplete, *run.names_only, RECORDED}
    return [name for name in run.contenders if name not in out]


def trade_rows(run: Tables, names: Sequence[str], half: str) -> pd.DataFrame:
    """A row a session and strategy on its own trigger, as `analysis.trade.Trade` reads them.

    Args:
        run: the run.
        names: of the strategies.
        half: the number of the headline that is traded against the bill.
    """
    rows = pd.DataFrame(columns=["session", "recall", "candidate"])
    if names:
        recalls = []
        for name in names:
            recall = run.values(half, name).rename("recall")
            recalls.append(recall.to_frame().assign(candidate=name))
        rows = pd.concat(recalls).reset_index()
    rows["project"] = run.projects_by_session(rows["session"])
    costs = run.costs.set_index(["session", "strategy"])
    places = pd.MultiIndex.from_arrays([rows["session"], rows["candidate"]])
    bills = costs.reindex(places)
    rows["saved"] = bills["net_saving"].to_numpy(dtype=float)
    rows["plain"] = bills["usd_uncompacted"].to_numpy(dtype=float)
    rows["fetching"] = bills["usd_fetching"].to_numpy(dtype=float)
    return rows


def likely_best_by_half(run: Tables) -> dict[str, LikelyBest]:
    """By number of the headline how likely each usable strategy is best at each price.

    A number is missing where no session has it for all strategies, or where the reader's error is
    unknown; all are missing where fewer than two strategies are usable.
    """
    names = usable(run)
    if len(names) < 2:
        return {}
    by_half: dict[str, LikelyBest] = {}
    for half in HALVES:
        rows = trade_rows(run, names, half)
        likely = likely_best(rows, partial(_reader_levels, run, half, OWN_TRIGGER))
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
    recalls = []
    for name in names:
        recall = run.same_size_values(name).rename("recall").rename_axis("session")
        recalls.append(recall.to_frame().assign(candidate=name))
    rows = pd.concat(recalls).reset_index()
    rows["project"] = rows["session"].map(run.project)
    rows = rows.assign(saved=0.0, plain=0.0)
    return likely_best(rows, partial(_reader_levels, run, run.first_half, run.main_mode))


def _reader_levels(
    run: Tables,
    half: str,
    mode: str,
    strategies: Sequence[str],
    projects: int,
    random: np.random.Generator,
) -> Mapping[str, Floats] | None:
    return run.writers.reader_levels(strategies, half, mode, projects, random)
