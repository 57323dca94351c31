"""What to expect of strategies in sessions that a run of few projects has not seen: what its own
simulation shows, and what simulations of other projects did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.analysis.trade import WORTH, Trade, complete_sessions
from workbench.evaluation.findings.authors import summary_counts
from workbench.evaluation.findings.look_ups import FAR_BEHIND, outcomes
from workbench.evaluation.findings.tables import Tables

SHIPPED = Path(__file__).with_name("other_projects.csv")
"""By project and strategy what a simulation shows: the bill with every look-up, as a share of the
bill without compaction, and points. Rules wrote the summaries.

Source: reports/studies/verdicts/README.md.
"""
COUNT_AS = 6
"""Sessions that all other projects together count as."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What to expect of strategies, from a run's own sessions and from other projects.

    Attributes:
        dearer: by strategy, by which share its bill with every look-up exceeds the cheapest one.
        behind: by strategy, points that it ends behind the best one.
        sessions: of the run.
        projects: the others.
    """

    dearer: Mapping[str, float]
    behind: Mapping[str, float]
    sessions: int
    projects: int

    @classmethod
    def of(cls, run: Tables, names: Sequence[str]) -> Expected | None:
        """What to expect of these strategies.

        Returns:
            None with enough projects for an interval, without a simulation, where a model wrote
            summaries, and where other projects do not know one of the strategies.
        """
        if len(names) < 2:
            return None
        if summary_counts(run).by_model:
            return None
        rows = outcomes(run, names)
        if rows.empty:
            return None
        rows = complete_sessions(rows)
        projects = set(rows["project"])
        if not 0 < len(projects) < FEWEST:
            return None
        others = _other_projects(projects)
        known_strategies = set(others["strategy"])
        if not known_strategies.issuperset(names):
            return None
        sessions = rows["session"].nunique()
        own_weight = sessions / (sessions + COUNT_AS)
        own_bills = _bills(rows)
        own_points = Trade(WORTH).points(rows)
        bills = _by_project(others, "bill")[list(names)]
        points = _by_project(others, "points")[list(names)]
        dearer = _between(
            _dearer(bills),
            _dearer(own_bills),
            own_weight,
        )
        behind = _between(
            _behind(points),
            _behind(own_points),
            own_weight,
        )
        return cls(
            dearer=dearer,
            behind=behind,
            sessions=sessions,
            projects=len(bills),
        )

    @property
    def far_behind(self) -> list[str]:
        """The strategies that end far behind the best one."""
        least = min(self.behind.values())
        names: list[str] = []
        for name, points in self.behind.items():
            if points - least > FAR_BEHIND:
                names.append(name)
        return names

    def cheapest(self, names: Sequence[str]) -> str:
        """Of these strategies the one that costs least."""
        return min(names, key=self.dearer.__getitem__)


@cache
def _shipped() -> pd.DataFrame:
    return pd.read_csv(SHIPPED)


def _other_projects(projects: Set[str]) -> pd.DataFrame:
    """The shipped rows of all but these projects."""
    rows = _shipped()
    is_own = rows["project"].isin(projects)
    return rows[~is_own]


def _by_project(
    rows: pd.DataFrame,
    column: str,
) -> pd.DataFrame:
    """A column of the shipped rows, by project (rows) and strategy (columns)."""
    return rows.pivot_table(
        column,
        index="project",
        columns="strategy",
    )


def _bills(rows: pd.DataFrame) -> pd.DataFrame:
    """The bill of each strategy (columns) over all sessions, as one row."""
    by_strategy = rows.groupby("candidate")
    total_bill = by_strategy["plain"].sum()
    total_saved = by_strategy["saved"].sum()
    bills = total_bill - total_saved
    return bills.to_frame().T


def _dearer(bills: pd.DataFrame) -> pd.DataFrame:
    """By project (rows) and strategy (columns), by which share a bill exceeds the cheapest one."""
    cheapest = bills.min(axis=1)
    ratios = bills.div(cheapest, axis=0)
    return ratios - 1


def _behind(points: pd.DataFrame) -> pd.DataFrame:
    """By project (rows) and strategy (columns), points behind the best one."""
    most_points = points.max(axis=1)
    return points.rsub(most_points, axis=0)


def _between(
    other_projects: pd.DataFrame,
    own_projects: pd.DataFrame,
    own_weight: float,
) -> dict[str, float]:
    """By strategy a mean of both, each the mean of its rows."""
    other_mean = other_projects.mean()
    own_mean = own_projects.mean()
    difference = own_mean - other_mean
    mean = other_mean + own_weight * difference
    by_strategy: dict[str, float] = {}
    for name, value in mean.items():
        by_strategy[str(name)] = float(value)
    return by_strategy
