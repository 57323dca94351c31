"""What changed from one run to another: each strategy now against then, and what is lost now."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.compared import ALPHA, COLUMNS, compare_table
from workbench.evaluation.analysis.one_basis import on_one_basis
from workbench.evaluation.analysis.paired import holm
from workbench.evaluation.analysis.scores import (
    at_sizes_of,
    leading_metric,
    same_baseline,
    size_gains,
)
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES

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
