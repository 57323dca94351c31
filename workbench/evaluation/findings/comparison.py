"""How sure the order of the strategies is: differences on the same sessions, and the panel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.evaluation.analysis.compared import (
    COLUMNS,
    compare_table,
    lead_table,
)
from workbench.evaluation.analysis.panel import Panel, frontier, panel
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.readers import without_bias
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES, PANEL


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
    scores = run.select(metric, mode)
    baseline = run.baseline
    if baseline is None or baseline not in set(scores["strategy"]):
        return _no_differences()
    rows = compare_table(
        run.scores,
        metric,
        baseline,
        mode,
        run.at_used_sizes,
    )
    return without_bias(run, rows, metric, baseline, mode)


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
    if len(run.contenders) < 2:
        return _no_differences()
    if run.same_size_values(leader).empty:
        return _no_differences()
    rows = lead_table(
        run.scores,
        metric,
        leader,
        mode,
        run.at_used_sizes,
    )
    return without_bias(
        run,
        rows,
        metric,
        leader,
        mode,
        from_leader=False,
    )


def level_with_first(ranked_names: Sequence[str], leads: pd.DataFrame) -> list[str]:
    """The first of the ranked strategies, and those over which its lead may be chance; none where
    nothing is tested.

    Args:
        ranked_names: as of `ranked`.
        leads: of the first of them, as of `lead`.
    """
    undecided = rows_with(leads, verdict="undecided")
    level = [str(name) for name in undecided["strategy"] if name in ranked_names]
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
    half = run.leading("natural")
    columns = []
    for name in names:
        columns.append(run.values(half, name))
        columns.append(run.values(SAVED, name))
    by_session = pd.concat(columns, axis=1, sort=True)
    numbers = by_session.to_numpy(dtype=float)
    values = numbers.reshape(-1, len(names), 2)
    projects = run.projects_by_session(by_session.index)
    return frontier(names, values, ("higher", "higher"), projects)


def panel_of(run: Tables) -> Panel | None:
    """What the panel says of the ranked strategies, at equal size where the run has it; None for
    fewer than two.
    """
    names = [name for name in ranked(run) if name != RECORDED]
    if len(names) < 2:
        return None
    return panel(
        run.scores,
        names,
        run.main_mode,
        run.at_used_sizes,
    )


def panel_words(
    run: Tables,
    verdict: Panel,
    leads: pd.DataFrame,
) -> str:
    """Where the panel disagrees, the rank that it agrees on, and what ranks those that are level in
    the headline.

    Args:
        run: the run.
        verdict: as of `panel_of`.
        leads: of the first of the ranked strategies, as of `lead`.
    """
    level_names = level_with_first(ranked(run), leads)
    level = [name for name in level_names if name in verdict.rank]
    lines = sentences(
        "panel",
        half=HALVES[run.first_half],
        disputed=_disputed(verdict),
        ranks=_names_by_rank(verdict),
        level=level,
        apart=_ranked_apart(verdict, level),
        members=list(PANEL.values()),
        silent=_titles(verdict.silent),
    )
    return " ".join(lines)


class _Dispute(NamedTuple):
    """Two strategies on which the panel disagrees, with the metrics in which each is ahead."""

    strategy: str
    rival: str
    metrics: tuple[list[str], list[str]]


def _disputed(verdict: Panel) -> list[_Dispute]:
    disputes: list[_Dispute] = []
    for strategy, rival in verdict.disputed:
        for_strategy = _titles(verdict.ahead[strategy, rival])
        for_rival = _titles(verdict.ahead[rival, strategy])
        dispute = _Dispute(strategy, rival, (for_strategy, for_rival))
        disputes.append(dispute)
    return disputes


def _names_by_rank(verdict: Panel) -> list[list[str]]:
    """The strategies of each rank, the best first."""
    by_rank: dict[int, list[str]] = defaultdict(list)
    for name, rank in verdict.rank.items():
        by_rank[rank].append(name)
    return [by_rank[rank] for rank in sorted(by_rank)]


class _RankedPair(NamedTuple):
    """Two level strategies of which the panel ranks one higher, with the metrics that do so."""

    better: str
    worse: str
    metrics: list[str]


def _ranked_apart(verdict: Panel, level: Sequence[str]) -> list[_RankedPair]:
    pairs: list[_RankedPair] = []
    for better, worse in permutations(level, 2):
        has_better_rank = verdict.rank[better] < verdict.rank[worse]
        if has_better_rank and verdict.above(better, worse):
            metrics = _titles(verdict.ahead[better, worse])
            pairs.append(_RankedPair(better, worse, metrics))
    return pairs


def _titles(metrics: Iterable[str]) -> list[str]:
    return [PANEL[metric] for metric in metrics]
