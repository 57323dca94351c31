"""How sure the order of the strategies is: differences on the same sessions, in a run and
between two; the panel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.compared import (
    ALPHA,
    COLUMNS,
    compare_table,
    lead_table,
)
from workbench.evaluation.analysis.one_basis import on_one_basis
from workbench.evaluation.analysis.paired import holm
from workbench.evaluation.analysis.panel import Panel, frontier, panel
from workbench.evaluation.analysis.scores import (
    at_sizes_of,
    leading_metric,
    same_baseline,
    size_gains,
)
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.readers import without_bias
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES, PANEL

PLACE = [
    "session",
    "strategy",
    "mode",
    "share",
    "kind",
    "entity",
    "needed_at",
]
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
    scores = _ScoresOfBoth.of(current, previous, metric, mode)
    differences = []
    for name in current.contenders:
        pair = scores.now_and_then(name)
        if pair is None:
            continue
        table = compare_table(pair, metric, "then", mode)
        (difference,) = table.to_dict("records")
        difference["strategy"] = name
        differences.append(difference)
    _correct_for_all(differences)
    return pd.DataFrame(differences, columns=list(COLUMNS))


@dataclass(frozen=True)
class _ScoresOfBoth:
    """The scores of one metric in two runs, in the sessions that both have, each with its `gain`,
    see `analysis.scores.size_gains`.
    """

    current: pd.DataFrame
    previous: pd.DataFrame

    @classmethod
    def of(
        cls,
        current: Tables,
        previous: Tables,
        metric: str,
        mode: str,
    ) -> Self:
        sizes = current.at_used_sizes
        previous_sizes = previous.at_used_sizes
        scores = current.select(metric, mode).assign(gain=0.0)
        previous_scores = previous.select(metric, mode).assign(gain=0.0)
        if same_baseline(sizes, previous_sizes):
            scores = on_one_basis(scores, sizes)
            gains = size_gains(previous_scores, previous_sizes)
            previous_scores = previous_scores.assign(gain=gains)
        sessions = set(current.sessions["session"])
        sessions &= set(previous.sessions["session"])
        is_shared = scores["session"].isin(sessions)
        was_shared = previous_scores["session"].isin(sessions)
        return cls(scores[is_shared], previous_scores[was_shared])

    def now_and_then(self, strategy: str) -> pd.DataFrame | None:
        """The scores of a strategy as those of two, `now` and `then`, at the sizes that it uses
        now; None where one of the runs has none.
        """
        scores = rows_with(self.current, strategy=strategy)
        previous_scores = rows_with(self.previous, strategy=strategy)
        if scores.empty or previous_scores.empty:
            return None
        previous_at_sizes = at_sizes_of(previous_scores, scores)
        return pd.concat(
            [
                scores.assign(strategy="now"),
                previous_at_sizes.assign(strategy="then"),
            ]
        )


def _correct_for_all(differences: Sequence[dict[Hashable, Any]]) -> None:
    """Correct the chances of some differences for their number; those beyond `ALPHA` decide
    nothing.
    """
    chances: list[float | None] = []
    for difference in differences:
        p = difference["p"]
        chances.append(None if missing(p) else p)
    corrected = holm(chances)
    for difference, p in zip(differences, corrected, strict=True):
        difference["p_holm"] = p
        is_beyond_chance = p is not None and p <= ALPHA
        is_decided = difference["verdict"] in ("better", "worse")
        if is_decided and not is_beyond_chance:
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
    is_new: list[bool] = []
    for place in _loss_places(current):
        session_and_strategy = place[:2]
        was_kept = session_and_strategy in replayed and place not in lost_before
        is_new.append(was_kept)
    losses = current.losses
    is_new_by_row = pd.Series(is_new, index=losses.index, dtype=bool)
    new_losses = losses[is_new_by_row]
    return current.changed(losses=new_losses)


def _loss_places(run: Tables) -> list[tuple[Any, ...]]:
    """What tells the losses of a run apart, in their order; -1 stands for a missing value."""
    places = run.losses[PLACE].fillna(-1)
    return list(places.itertuples(index=False, name=None))


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
