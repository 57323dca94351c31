"""Results at equal size: in which sessions they may be compared, the area under their curve, and
an alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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
    reasons = table.reindex(columns=["reason"])["reason"].astype("string")
    larger = table[reasons.str.startswith(TOO_LARGE).fillna(False).astype(bool)]
    inside = larger.groupby("strategy")["session"].unique()
    of = table.groupby("strategy")["session"].nunique()
    strategies: dict[str, OverTarget] = {}
    for name, sessions in inside.items():
        strategies[str(name)] = OverTarget(frozenset(map(str, sessions)), int(of[name]))
    return strategies


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
        left_out += [(name, session) for session in strategy.inside]
        if strategy.compared:
            left_out_for_all |= strategy.inside
    is_left_out = table.set_index(["strategy", "session"]).index.isin(left_out)
    return table[~table["session"].isin(left_out_for_all) & ~is_left_out]


def over_target_notes(table: pd.DataFrame) -> list[str]:
    """A sentence for each such strategy: where it stays larger, and what follows."""
    notes = []
    for name, strategy in over_target(table).items():
        larger = len(strategy.inside)
        sessions = f"{strategy.of} session{'s' * (strategy.of > 1)}"
        notes.append(
            f"{name} stays larger than the size that was set in {larger} of {sessions};"
            f" {_consequence(strategy)}."
        )
    return notes


def _consequence(strategy: OverTarget) -> str:
    """What follows for the figures of a strategy that stays larger somewhere."""
    larger = len(strategy.inside)
    if strategy.compared:
        return f"no strategy's figures count {'it' if larger == 1 else 'those'}"
    if larger == strategy.of:
        return "it has no figures"
    rest_count = strategy.of - larger
    return f"its figures are of the other {rest_count} sessions and may not be compared"


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
    x = np.asarray(sizes, dtype=float)[order]
    y = np.asarray(values, dtype=float)[order]
    start = max(range_start, float(x[0]))
    end = min(range_end, float(x[-1]))
    if end <= start:
        return None
    inner = x[(x > start) & (x < end)]
    corners = np.concatenate([[start], inner, [end]])
    heights = np.interp(corners, x, y)
    area = (np.diff(corners) * (heights[1:] + heights[:-1]) / 2).sum()
    return CurveArea(float(area / (end - start)), start, end)
