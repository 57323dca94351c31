"""How much a glance saw of a session, and how far its figures may still move. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.formats import some
from workbench.evaluation.findings.preliminary_reach import Spread

BETWEEN_RECORDINGS = Spread(0.4, 4)
"""Of the share of the bill that a candidate saves more than the default, as wide as most candidates
show in real sessions of Claude Code.
"""
BETWEEN_BOUNDARIES = 25.0
"""Standard deviation of the points by which a candidate is ahead at one boundary of a session."""
ESTIMATED_BILL = 0.2
"""Standard deviation of what a simulation changes of the share of the bill that is saved."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What a glance saw of a session.

    Attributes:
        scored: how many of its boundaries.
        boundaries: that it has.
        further_sessions: of its recording, which may have a figure too.
    """

    scored: int
    boundaries: int
    further_sessions: int = 0

    def variance_of_points(self, worth: float) -> float:
        """By which points may move, until all boundaries are scored and look-ups simulated."""
        unseen_part = 1 / self.scored - 1 / self.boundaries
        points_of_bill = 10 * worth * ESTIMATED_BILL
        variance = unseen_part * BETWEEN_BOUNDARIES**2
        return float(variance + points_of_bill**2)

    @property
    def variance_of_bill(self) -> float:
        """By which the share of the bill that is saved may move, until look-ups are simulated and
        the other sessions of the recording replayed.
        """
        further_part = self.further_sessions / (1 + self.further_sessions)
        variance = further_part * BETWEEN_RECORDINGS.variance
        return float(variance + ESTIMATED_BILL**2)

    @property
    def words(self) -> str:
        """`2 of 9 boundaries`."""
        return f"{self.scored} of {some(self.boundaries, 'boundary', 'boundaries')}"
