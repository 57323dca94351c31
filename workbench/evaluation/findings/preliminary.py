"""What a run that goes on says so far, and how far its final figures may lie from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.base.formats import percent, points, some
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.experiment.preliminary import SessionSoFar, SoFar
from workbench.evaluation.findings.preliminary_reach import HalfSoFar
from workbench.evaluation.findings.preliminary_tables import FIGURES, tables_so_far
from workbench.evaluation.metrics import HALVES

REACH = "in brackets: where this run's own figure may end, not how sure it is elsewhere"
"""What a preliminary interval is; the final one is over projects, and wider."""


@dataclass(frozen=True, slots=True)
class StrategySoFar:
    """What is known of a strategy.

    Attributes:
        figures: by number of the headline, its mean with the interval that is to hold the final
            one; None where nothing is known.
    """

    strategy: str
    figures: Mapping[str, Estimate | None]

    def __str__(self) -> str:
        parts = []
        for half, figure in self.figures.items():
            if figure is not None:
                parts.append(f"{HALVES[half]} {_percent(figure)}")
        numbers = ", ".join(parts)
        return f"{self.strategy}: {numbers}"


@dataclass(frozen=True, slots=True)
class PreliminaryFigures:
    """What a run says so far.

    Attributes:
        basis: what that stands on, as `2 of 4 boundaries of 5 sessions`.
        strategies: best first.
    """

    basis: str
    strategies: tuple[StrategySoFar, ...]

    @classmethod
    def of(cls, so_far: SoFar) -> PreliminaryFigures:
        """The figures of what is known of a run."""
        tables = tables_so_far(so_far)
        halves: dict[str, HalfSoFar] = {}
        for half in FIGURES:
            halves[half] = HalfSoFar.of(so_far, tables, half)
        strategies = []
        for name in tables.contenders:
            figures: dict[str, Estimate | None] = {}
            for half, half_so_far in halves.items():
                figure = tables.best_recall(name, half)
                if figure is not None:
                    figure = _with_reach(figure, half_so_far.reach(name))
                figures[half] = figure
            if any(figures.values()):
                strategies.append(StrategySoFar(name, figures))
        return cls(basis(so_far.sessions), tuple(strategies))

    @property
    def lines(self) -> list[str]:
        """A line that says what it is, one for each strategy, and what the brackets hold."""
        if not self.strategies:
            return []
        lines = [f"preliminary: {self.basis}"]
        for strategy in self.strategies:
            lines.append(str(strategy))
        has_interval = "(" in "".join(lines)
        if has_interval:
            lines.append(REACH)
        return lines


def lines_so_far(so_far: SoFar) -> list[str]:
    """What is known of a run, as `PreliminaryFigures.lines`."""
    return PreliminaryFigures.of(so_far).lines


def basis(sessions: Sequence[SessionSoFar]) -> str:
    """What figures stand on: at how many boundaries of how many sessions something is known."""
    boundary_counts: list[int] = []
    looked_at = 0
    finished_count = 0
    for session in sessions:
        if not session.has_figures:
            continue
        if session.is_whole:
            finished_count += 1
        else:
            boundary_counts.append(session.of)
            looked_at = max(looked_at, session.boundaries)
    parts = []
    if boundary_counts:
        largest = max(boundary_counts)
        of = some(largest, "boundary", "boundaries")
        if min(boundary_counts) < largest:
            of = f"up to {of}"
        sessions_begun = some(len(boundary_counts), "session")
        parts.append(f"{looked_at} of {of} of {sessions_begun}")
    if finished_count:
        finished_sessions = some(finished_count, "session")
        parts.append(f"all of {finished_sessions}")
    return " and ".join(parts)


def _with_reach(figure: Estimate, reach: float) -> Estimate:
    """A figure with the interval that is to hold the final one, which lies so far off at most."""
    if reach == 0:
        return replace(figure, low=figure.mean, high=figure.mean)
    low = figure.mean - reach
    high = min(figure.mean + reach, 1.0)
    return replace(figure, low=low, high=high)


def _percent(figure: Estimate) -> str:
    """`46 % (38 to 54)`."""
    mean = percent(figure.mean)
    if figure.low is None or figure.low == figure.high:
        return mean
    return f"{mean} ({points(figure.low)} to {points(figure.high)})"
