"""How sure the order of the strategies is: differences on the same sessions, in a run and
between two; the panel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.compared import ALPHA, COLUMNS, compare_table, lead_table
from workbench.evaluation.analysis.one_basis import on_one_basis
from workbench.evaluation.analysis.paired import holm
from workbench.evaluation.analysis.panel import Panel, frontier, panel
from workbench.evaluation.analysis.scores import (
    at_sizes_of,
    leading_metric,
    same_baseline,
    size_gains,
)
from workbench.evaluation.findings.readers import without_bias
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES, PANEL

PLACE = ["session", "strategy", "mode", "share", "kind", "entity", "needed_at"]
"""The columns by which two losses are the same."""
OWN_TRIGGER = "each on its own trigger"


def differences(run: Tables, metric: str = "") -> pd.DataFrame:
    """Every strategy against the baseline, paired by session; the columns are those of
    `analysis.compared`.

    A half of the headline, by default the leading one, is compared at equal size where the run has
    it; all else under the strategies' own triggers. A difference that may be the reader's error is
    undecided.
    """
    metric = metric or run.first_half
    mode = "natural"
    if metric in HALVES and run.shares:
        mode = "matched"
    base = run.baseline
    if base is None or base not in set(run.select(metric, mode)["strategy"]):
        return _no_differences()
    rows = compare_table(run.scores, metric, base, mode, run.at_used_sizes)
    return without_bias(run, rows, metric, base, mode)


def _no_differences() -> pd.DataFrame:
    return pd.DataFrame(columns=list(COLUMNS))


def ranked(run: Tables) -> list[str]:
    """The contenders that have a place in the order, best first."""
    unranked = run.unranked()
    return [name for name in run.contenders if name not in unranked]


def lead(run: Tables, leader: str) -> pd.DataFrame:
    """The leading strategy against every other contender, over the sessions and
    sizes of all means; the family of tests is all pairs of contenders.
    """
    mode = run.main_mode
    metric = run.first_half
    if len(run.contenders) < 2 or run.values(metric, leader, mode).empty:
        return _no_differences()
    rows = lead_table(run.scores, metric, leader, mode, run.at_used_sizes)
    return without_bias(run, rows, metric, leader, mode, from_leader=False)


def level_with_first(ranked_names: Sequence[str], leads: pd.DataFrame) -> list[str]:
    """The first of the ranked strategies, and those over which its lead may be chance; none where
    nothing is tested.

    Args:
        ranked_names: as of `ranked`.
        leads: of the first of them, as of `lead`.
    """
    undecided = leads.loc[leads["verdict"] == "undecided", "strategy"]
    level = [str(name) for name in undecided if name in ranked_names]
    if not level:
        return []
    return [*ranked_names[:1], *level]


def standings(run: Tables, names: Sequence[str] = ()) -> pd.DataFrame:
    """Each of these strategies on or behind the Pareto frontier of recall and tokens saved, under
    its own trigger.

    None named: all contenders, where there are several. Columns: as of `analysis.panel.frontier`.
    """
    if not names and len(run.contenders) > 1:
        names = run.contenders
    if not names:
        return frontier((), np.empty((0, 0, 2)), ())
    columns = []
    for name in names:
        columns.append(run.values(run.leading("natural"), name))
        columns.append(run.values(SAVED, name))
    by_session = pd.concat(columns, axis=1, sort=True)
    values = by_session.to_numpy(dtype=float).reshape(-1, len(names), 2)
    projects = run.projects_by_session(by_session.index)
    return frontier(names, values, ("higher", "higher"), projects)


def changes(current: Tables, previous: Tables, metric: str = "") -> pd.DataFrame:
    """Each strategy of both runs now against then, on the sessions of both; columns as of
    `analysis.compared`.

    The metric is by default the leading half of the headline of both. `mean` is now and `baseline`
    then; `p_holm` and `verdict` are over all strategies of both runs. The headline is compared at
    equal size where both have the same budgets, all else under the strategies' own triggers. At
    equal size `mean` is that of the headline, and `baseline` what the strategy would have kept then
    at the same sizes, as far as the baseline tells.
    """
    mode = "natural"
    if metric in ("", *HALVES) and same_sizes(current, previous):
        mode = "matched"
    metric = metric or leading_metric(current.scores, previous.scores, mode=mode)
    sessions = set(current.sessions["session"]) & set(previous.sessions["session"])
    rows_now = current.select(metric, mode).assign(gain=0.0)
    rows_then = previous.select(metric, mode).assign(gain=0.0)
    if same_baseline(current.at_used_sizes, previous.at_used_sizes):
        rows_now = on_one_basis(rows_now, current.at_used_sizes)
        rows_then = rows_then.assign(gain=size_gains(rows_then, previous.at_used_sizes))
    rows_now = rows_now[rows_now["session"].isin(sessions)]
    rows_then = rows_then[rows_then["session"].isin(sessions)]
    differences = []
    for name in current.contenders:
        today = rows_now[rows_now["strategy"] == name]
        earlier = rows_then[rows_then["strategy"] == name]
        if today.empty or earlier.empty:
            continue
        earlier = at_sizes_of(earlier, today)
        today = today.assign(strategy="now")
        pair = pd.concat([today, earlier.assign(strategy="then")])
        (difference,) = compare_table(pair, metric, "then", mode).to_dict("records")
        differences.append(difference | {"strategy": name})
    _correct_for_all(differences)
    return pd.DataFrame(differences, columns=list(COLUMNS))


def _correct_for_all(differences: Sequence[dict[Hashable, Any]]) -> None:
    """Correct the chances of some differences for their number; those beyond `ALPHA` decide
    nothing.
    """
    chances = [None if missing(row["p"]) else row["p"] for row in differences]
    for difference, p in zip(differences, holm(chances), strict=True):
        difference["p_holm"] = p
        is_beyond_chance = p is not None and p <= ALPHA
        if difference["verdict"] in ("better", "worse") and not is_beyond_chance:
            difference["verdict"] = "undecided"


def same_sizes(current: Tables, previous: Tables) -> bool:
    """Whether two runs cut histories to the same shares."""
    return bool(current.shares) and current.shares == previous.shares


def lost_now(current: Tables, previous: Tables) -> Tables:
    """The run with only those losses that the other run does not have, where it has the session
    and strategy.
    """
    replays = previous.replays[["session", "strategy"]]
    replayed = set(replays.itertuples(index=False, name=None))
    lost_before = set(_loss_places(previous))
    is_new = []
    for place in _loss_places(current):
        session_and_strategy = place[:2]
        is_new.append(place not in lost_before and session_and_strategy in replayed)
    losses = current.losses
    mask = pd.Series(is_new, index=losses.index, dtype=bool)
    return current.changed(losses=losses[mask])


def _loss_places(run: Tables) -> list[tuple[Any, ...]]:
    """What tells the losses of a run apart, in their order; -1 stands for a missing value."""
    return list(run.losses[PLACE].fillna(-1).itertuples(index=False, name=None))


def panel_of(run: Tables) -> Panel | None:
    """What the panel says of the ranked strategies, at equal size where the run has it; None for
    fewer than two.
    """
    names = [name for name in ranked(run) if name != RECORDED]
    if len(names) < 2:
        return None
    return panel(run.scores, names, run.main_mode, run.at_used_sizes)


def panel_words(run: Tables, verdict: Panel, leads: pd.DataFrame) -> str:
    """Where the panel disagrees, the rank that it agrees on, and what ranks those that are level in
    the headline.

    Args:
        run: the run.
        verdict: as of `panel_of`.
        leads: of the first of the ranked strategies, as of `lead`.
    """
    disputed = []
    for first_name, second_name in verdict.disputed:
        for_each = [
            _titles(verdict.ahead[first_name, second_name]),
            _titles(verdict.ahead[second_name, first_name]),
        ]
        disputed.append((first_name, second_name, for_each))
    level = [name for name in level_with_first(ranked(run), leads) if name in verdict.rank]
    ranks: dict[int, list[str]] = defaultdict(list)
    for name, rank in verdict.rank.items():
        ranks[rank].append(name)
    lines = sentences(
        "panel",
        half=HALVES[run.first_half],
        disputed=disputed,
        ranks=[ranks[rank] for rank in sorted(ranks)],
        level=level,
        apart=_ranked_apart(verdict, level),
        members=list(PANEL.values()),
        silent=_titles(verdict.silent),
    )
    return " ".join(lines)


def _ranked_apart(verdict: Panel, level: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """The pairs of level strategies that the panel ranks, with the metrics that do so."""
    apart = []
    for better, worse in permutations(level, 2):
        if verdict.rank[better] < verdict.rank[worse] and verdict.above(better, worse):
            apart.append((better, worse, _titles(verdict.ahead[better, worse])))
    return apart


def _titles(metrics: Iterable[str]) -> list[str]:
    return [PANEL[metric] for metric in metrics]
