"""Draws of projects and of the reader's errors: what each candidate tells and saves in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from workbench.base.ragged import Floats, Ints
from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.metrics.work_exam.error_draws import DRAWS


@dataclass(frozen=True)
class ProjectFigures:
    """What is told, saved and paid in each project.

    Attributes:
        recall: (projects, candidates) what is told, a mean over sessions.
        saved: (projects, candidates) what is saved, in USD.
        bills: (projects,) the bill without compaction, in USD.
    """

    recall: pd.DataFrame
    saved: pd.DataFrame
    bills: pd.Series[float]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Self:
        """The sums and means of rows of sessions that have a figure for all candidates."""
        groups = rows.groupby(["project", "candidate"], sort=False)
        recall = groups["recall"].mean()
        saved = groups["saved"].sum()
        bills = groups["plain"].sum()
        recall_table = recall.unstack("candidate")
        saved_table = saved.unstack("candidate").fillna(0.0)
        bill_table = bills.unstack("candidate").fillna(0.0)
        return cls(
            recall=recall_table,
            saved=saved_table[recall_table.columns],
            bills=bill_table.mean(axis=1),
        )


@dataclass(frozen=True)
class DrawnFigures:
    """What candidates tell and save, in each draw and as they were measured.

    Attributes:
        recall: (`DRAWS`, candidates) what is told, less the reader's error.
        saved: (`DRAWS`, candidates) what is saved, as a share of the bill.
        mean_recall: (candidates,) as measured.
        mean_saved: (candidates,) as measured.
    """

    recall: Floats
    saved: Floats
    mean_recall: Floats
    mean_saved: Floats

    @classmethod
    def of(
        cls,
        figures: ProjectFigures,
        weights: Ints,
        levels: Mapping[str, Floats],
    ) -> Self:
        """The draws.

        Args:
            figures: what was measured.
            weights: (`DRAWS`, projects) how often each project counts.
            levels: by candidate (`DRAWS`,) the reader's error.
        """
        recall = figures.recall.to_numpy()
        saved = figures.saved.to_numpy()
        bills = figures.bills.to_numpy()
        drawn_recall = weights @ recall / len(recall)
        mean_recall = recall.mean(0)
        for column, name in enumerate(figures.recall.columns):
            level = levels[str(name)]
            drawn_recall[:, column] -= level
            mean_recall[column] -= level.mean()
        drawn_saved = weights @ saved
        drawn_bills = weights @ bills
        total_saved = saved.sum(0)
        return cls(
            recall=drawn_recall,
            saved=_shares(drawn_saved, drawn_bills),
            mean_recall=mean_recall,
            mean_saved=_shares(total_saved, bills.sum()),
        )

    def points(self, price: float) -> Floats:
        """(`DRAWS`, candidates) the points at a price."""
        return 100 * self.recall + 10 * price * self.saved

    def mean_points(self, price: float) -> Floats:
        """(candidates,) the points at a price."""
        return 100 * self.mean_recall + 10 * price * self.mean_saved


def drawn_projects(projects: int, random: np.random.Generator) -> Ints:
    """(`DRAWS`, projects) how often each project counts in a draw."""
    if projects < FEWEST:
        return np.ones((DRAWS, projects), dtype=np.int64)
    equal_weights = np.full(projects, 1 / projects)
    return random.multinomial(projects, equal_weights, DRAWS)


def _shares(saved: Floats, bill: Floats) -> Floats:
    """Savings as shares of the bill; 0 without one."""
    bill = np.asarray(bill)
    bill = bill[..., None]
    nothing = np.zeros_like(saved)
    return np.divide(saved, bill, out=nothing, where=bill > 0)
