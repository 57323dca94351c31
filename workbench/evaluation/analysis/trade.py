"""What is best where text that is kept and dollars that are saved both count, and when a
difference does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.paired import Estimate, estimate

WORTH = 1.0
"""Points that saving a tenth of the bill is worth."""
MARGIN = 2.0
"""Points below which nobody would notice a difference."""


@dataclass(frozen=True, slots=True)
class Trade:
    """What is best: points of the headline, and what a tenth of the bill is worth in points."""

    worth: float

    def points(self, rows: pd.DataFrame) -> pd.DataFrame:
        """By project (rows) and candidate (columns) the points; the mean of a column is the
        candidate's objective.

        That is 100 times the mean of recall over projects, and `worth` points for each tenth of the
        bill of all sessions that is saved: a ratio of sums. Only sessions that all candidates have
        a recall for count.

        Args:
            rows: one a session and candidate, with `project`, `recall` (of the leading half of the
                headline, a share), and in USD what was `saved` of the `plain` bill without
                compaction.
        """
        groups = complete_sessions(rows).groupby(["project", "candidate"])
        mean_recall = groups["recall"].mean()
        points = 100 * mean_recall.unstack("candidate")
        if not self.worth:
            return points
        total_saved = groups["saved"].sum()
        total_bill = groups["plain"].sum()
        bills = total_bill.unstack("candidate")
        mean_bill = bills.mean()
        mean_bill = mean_bill.where(mean_bill > 0)
        saved_share = total_saved.unstack("candidate") / mean_bill
        saved_share = saved_share.fillna(0.0)
        return points + 10 * self.worth * saved_share


def complete_sessions(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the sessions that all candidates have a recall for, as of `Trade.points`."""
    is_known = rows["recall"].notna()
    known_rows = rows[is_known]
    sessions = known_rows.groupby("session")
    candidate_counts = sessions["candidate"].nunique()
    candidates = rows["candidate"].nunique()
    has_all = candidate_counts == candidates
    complete = candidate_counts.index[has_all]
    is_complete = rows["session"].isin(complete)
    return rows[is_complete]


def difference(
    points: pd.DataFrame,
    candidate: str,
    reference: str,
) -> Estimate | None:
    """How many points one candidate is ahead of another, with the paired interval over projects."""
    differences = points[candidate] - points[reference]
    known_differences = differences.dropna()
    return estimate(known_differences.tolist())


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidate to use, and how the others compare with it.

    Attributes:
        use: of those that are level with the first, the one that saves most of the bill.
        level: those whose difference from the first nobody would notice, best first.
        means: the points of every candidate, best first.
    """

    use: str
    level: tuple[str, ...]
    means: Mapping[str, float]

    @property
    def others(self) -> tuple[str, ...]:
        """All but the one to use, best first."""
        return tuple(name for name in self.means if name != self.use)


def choice(
    points: pd.DataFrame,
    saved: Mapping[str, float],
    margin: float = MARGIN,
) -> Choice:
    """Choose by points; where several are level, by the bill.

    Args:
        points: as of `Trade.points`, with at least one row and column.
        saved: by candidate the share of the bill that it saves; missing where nothing is priced.
        margin: points below which two candidates are level.
    """
    means = points.mean()
    best_first = means.sort_values(ascending=False, kind="stable")
    most_points = best_first.iloc[0]
    mean_points: dict[str, float] = {}
    level: list[str] = []
    for name, mean in best_first.items():
        mean_points[str(name)] = float(mean)
        if most_points - mean < margin:
            level.append(str(name))
    use = thriftiest(level, saved, mean_points)
    return Choice(use, tuple(level), mean_points)


def thriftiest(
    names: Sequence[str],
    saved: Mapping[str, float],
    points: Mapping[str, float],
) -> str:
    """The candidate that saves most of the bill; of equal ones, and without prices, the one with
    most points.

    Args:
        names: of the candidates, one and more.
        saved: by candidate the share of the bill that it saves; missing where nothing is priced.
        points: of the candidates.
    """

    def thrift(name: str) -> tuple[float, float]:
        share = saved.get(name)
        if share is None or missing(share):
            share = -inf
        return share, points[name]

    return max(names, key=thrift)
