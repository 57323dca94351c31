"""What an advice says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import pandas as pd

from workbench.base.formats import percent
from workbench.evaluation.analysis.advice_note import AdviceNote
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.experiment.grid import Grid, Point
from workbench.lab.advice.search import Outside, Round
from workbench.lab.advice.shortage import Shortage

Outcome: TypeAlias = Literal["use", "stay", "no difference", "no winner", "no figure"]
"""A verdict in a word or two."""
SAME_BILL = 0.005
"""The share of a bill below which nobody sees that it is another one."""


@dataclass(frozen=True, slots=True)
class Bill:
    """The bill that savings are shares of.

    Attributes:
        name: of the bill.
        cause: what makes it.
    """

    name: str
    cause: str

    def change(self, saved: float) -> str:
        """What a candidate does to the bill, in words.

        Args:
            saved: the share of it that the candidate saves; below 0 where it costs more.
        """
        if abs(saved) < SAME_BILL:
            return f"saves nothing of {self.name}"
        if saved < 0:
            return f"costs {percent(-saved)} more than {self.cause}"
        return f"saves {percent(saved)} of {self.name}"


UNCOMPACTED = Bill("the bill", "no compaction")
TODAY = Bill("today's bill", "today")


@dataclass(frozen=True, slots=True)
class Advice:
    """What to use.

    Attributes:
        chosen: the best candidate of the search.
        advised: the candidate to use: the choice, or the default.
        outcome: the verdict in a word or two.
        opening: what must be said before the verdict; often empty.
        verdict: in words.
        traded: what the choice and the default keep and save, in words.
        half: the half of the headline that decides, by the name of its metric.
        table: the last round, a row a candidate, best first.
        lead: of the choice over the default on the sessions that it was chosen on.
        runner_up: the second, and how far the choice is ahead of it.
        outside: what choosing gains on projects that the choice has not seen.
        unit: what those are, `project` or `session`.
        bill: that savings are shares of.
        cheapest: the candidate to use if only dollars count; empty without prices.
        set_aside: candidates that end far behind when simulated, with their distance in points.
        out_of_reach: candidates that no saving could bring to the default, so that they were not
            simulated, with the points that they keep less.
        not_simulated: why the bill only estimates look-ups; empty where it pays each.
        worth: points that a tenth of the bill counts.
        regret: points that the best candidate in hindsight gains more there; None without folds.
        rounds: of the search.
        window: tokens, of most of the sessions.
        out: candidates that failed, wait for answers, or sent a request larger than the window.
        pending: replays that wait for answers of their model; the same command asks again.
        leads: of the best of the other candidates over the default, in points, one a unit.
        shortage: what sessions lack of which none is long enough, so that nothing was replayed.
    """

    grid: Grid
    default: Point
    chosen: Point
    advised: Point
    outcome: Outcome
    opening: str
    verdict: str
    traded: str
    half: str
    table: pd.DataFrame
    lead: Estimate | None
    runner_up: tuple[str, Estimate | None] | None
    outside: Outside
    unit: str
    bill: Bill
    cheapest: str
    set_aside: Mapping[str, float]
    out_of_reach: Mapping[str, float]
    not_simulated: str
    worth: float
    regret: float | None
    rounds: tuple[Round, ...]
    window: int
    out: tuple[str, ...] = ()
    pending: int = 0
    leads: tuple[float, ...] = ()
    shortage: Shortage | None = None

    @property
    def stay(self) -> bool:
        """Whether to stay with the default."""
        return self.advised == self.default

    def note(self, title: str) -> AdviceNote:
        """What it said, for the pages of its run."""
        return AdviceNote(
            title=title,
            use=self.advised.strategy,
            opening=self.opening,
            verdict=self.verdict,
            traded=self.traded,
        )
