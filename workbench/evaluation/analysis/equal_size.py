"""Results at equal size: in which sessions they may be compared, the area under their curve, and
an alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.base.formats import some
from workbench.evaluation.replays.matched import MOST_OVER_TARGET, TOO_LARGE

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class OverTarget:
    """The sessions in which one strategy stays larger than the size that was set, of so many."""

    inside: frozenset[str]
    of: int

    @property
    def compared(self) -> bool:
        """Whether its figures may be compared: it reaches the size in nine sessions of ten."""
        return len(self.inside) <= MOST_OVER_TARGET * self.of


def over_target(table: pd.DataFrame) -> dict[str, OverTarget]:
    """The strategies that stay larger somewhere, from a table of sessions and reasons."""
    if "reason" not in table:
        return {}
    reasons = table["reason"].astype("string")
    is_larger = reasons.str.startswith(TOO_LARGE, na=False)
    if not is_larger.any():
        return {}
    larger = table[is_larger].groupby("strategy")
    strategies = table.groupby("strategy")
    session_counts = strategies["session"].nunique()
    over: dict[str, OverTarget] = {}
    for name, sessions in larger["session"].unique().items():
        inside = frozenset(map(str, sessions))
        session_count = int(session_counts[name])
        over[str(name)] = OverTarget(inside, session_count)
    return over


def evenly(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that may be compared.

    As in a run's own comparison at equal size: a session in which a compared strategy stays larger
    counts for none; a strategy that stays larger in more than a tenth of its sessions loses only
    those, and is not compared.
    """
    larger = over_target(table)
    if not larger:
        return table
    left_out_for_all: set[str] = set()
    left_out: list[tuple[str, str]] = []
    for name, strategy in larger.items():
        for session in strategy.inside:
            left_out.append((name, session))
        if strategy.compared:
            left_out_for_all |= strategy.inside
    by_pair = table.set_index(["strategy", "session"])
    is_left_out = by_pair.index.isin(left_out)
    is_left_out_for_all = table["session"].isin(left_out_for_all)
    return table[~is_left_out_for_all & ~is_left_out]


def over_target_notes(table: pd.DataFrame) -> list[str]:
    """A sentence for each such strategy: where it stays larger, and what follows."""
    notes: list[str] = []
    strategies = over_target(table)
    for name, strategy in strategies.items():
        larger = len(strategy.inside)
        sessions = "session" if strategy.of <= 1 else "sessions"
        notes.append(
            f"{name} stays larger than the size that was set in {larger} of {strategy.of}"
            f" {sessions}; {_consequence(strategy)}."
        )
    return notes


def _consequence(strategy: OverTarget) -> str:
    """What follows for the figures of a strategy that stays larger somewhere."""
    larger = len(strategy.inside)
    if strategy.compared:
        sessions = "it" if larger == 1 else "those"
        return f"no strategy's figures count {sessions}"
    if larger == strategy.of:
        return "it has no figures"
    compared_sessions = some(strategy.of - larger, "session")
    return f"its figures are of the other {compared_sessions} and may not be compared"


METRICS = ("recall_presence", "exam_recall")
"""The metrics whose means at equal size `names_only` takes."""
ANSWERED, NAMED = 0.53, 0.25
"""The share of what is named that honest contexts answer the exam's questions about, at least; and
presence below which a context names too little to be taken for a list of names.
"""
TRIED = 0.1, 0.2
"""The smallest and the largest share of the history for which these bounds were tried."""


def names_only(presence: float, exam: float) -> bool:
    """Whether contexts of these means name what is needed and do not say what belongs to it, as a
    list of names does.

    The statistic is the score of the exam as a share of presence. The bounds were chosen on one
    half of the projects, and tried on the other (reports/studies/validity/README.md).
    """
    return presence >= NAMED and exam / presence < ANSWERED


LEAST, MOST = 0.05, 0.3
"""The sizes over which the area is taken, as shares of the history."""


class CurveArea(NamedTuple):
    """The mean height of a curve between two sizes, which are shares of the history."""

    mean: float
    start: float
    end: float


def curve_area(
    sizes: Sequence[float],
    values: Sequence[float],
    range_start: float = LEAST,
    range_end: float = MOST,
) -> CurveArea | None:
    """The area under a curve between two sizes, over its width: a mean.

    Straight lines join the measured points, and nothing is extrapolated: where the points do not
    span the range, the area is taken over the part that they span, which `start` and `end` say.
    None where that has no width.

    Args:
        sizes: shares of the history that were really used, in any order.
        values: the means at these sizes.
        range_start: where the range begins, as a share of the history.
        range_end: where it ends.
    """
    order = np.argsort(sizes, kind="stable")
    if not len(order):
        return None
    x = np.asarray(sizes, dtype=float)
    y = np.asarray(values, dtype=float)
    x = x[order]
    y = y[order]
    start = max(range_start, float(x[0]))
    end = min(range_end, float(x[-1]))
    if end <= start:
        return None
    is_inside = (x > start) & (x < end)
    inner = x[is_inside]
    corners = np.concatenate([[start], inner, [end]])
    heights = np.interp(corners, x, y)
    widths = np.diff(corners)
    sums = heights[1:] + heights[:-1]
    areas = widths * sums / 2
    mean = areas.sum() / (end - start)
    return CurveArea(float(mean), start, end)
