"""How far the final figures of a run that goes on may lie from those of today. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
from scipy import special

from workbench.base.ragged import Floats
from workbench.evaluation.experiment.preliminary import SessionSoFar, SoFar
from workbench.evaluation.experiment.replay_results import SizedScore
from workbench.evaluation.findings.preliminary_tables import session_name
from workbench.evaluation.findings.tables import Tables

PROMISED = 0.95
"""How often a final figure is to lie within the interval of a preliminary one."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A standard deviation as it is believed before a run has shown its own, and for how many
    observations that belief counts.
    """

    deviation: float
    weight: int

    @property
    def variance(self) -> float:
        """As it is believed."""
        return self.deviation**2

    def with_seen(self, variances: Sequence[float], count: int) -> float:
        """The variance after so many observations, which showed these; as believed without any."""
        if not variances:
            return self.variance
        believed = self.weight * self.variance
        observed = count * float(np.mean(variances))
        return (believed + observed) / (self.weight + count)


BETWEEN_PROJECTS = Spread(0.12, 6)
BETWEEN_BOUNDARIES = Spread(0.14, 6)
"""Of a figure in [0, 1]: as wide as the widest that the bundled sessions and their parts show."""


@dataclass(frozen=True, slots=True)
class HalfSoFar:
    """What is known of one number of the headline.

    Attributes:
        values: by strategy and session, (boundaries, shares) as far as they were looked at.
        sessions: by their names.
        projects: of the sessions.
        files_left: files that nothing is known of.
    """

    values: Mapping[str, Mapping[str, Floats]]
    sessions: Mapping[str, SessionSoFar]
    projects: Mapping[str, str]
    files_left: int

    @classmethod
    def of(cls, so_far: SoFar, tables: Tables, half: str) -> HalfSoFar:
        """What is known of a number in a run that goes on."""
        values: dict[str, dict[str, Floats]] = defaultdict(dict)
        sessions: dict[str, SessionSoFar] = {}
        projects: dict[str, str] = {}
        for session in so_far.sessions:
            name = session_name(session)
            sessions[name] = session
            projects[name] = tables.project(name)
            for strategy, scores in session.scores.items():
                boundary_count = session.boundaries
                if _is_finished(session, strategy):
                    boundary_count = 1
                by_boundary = _by_boundary(scores, half, boundary_count)
                if not np.isnan(by_boundary).all():
                    values[strategy][name] = by_boundary
        files_left = so_far.files - so_far.files_read
        return cls(values, sessions, projects, files_left)

    def reach(self, strategy: str) -> float:
        """How far the final figure may lie from today's: the sampling of projects that are still
        unread, and of boundaries within each session.
        """
        by_project = self._sessions_by_project(strategy)
        project_count = len(by_project)
        if not project_count:
            return inf
        variance = 0.0
        if self.files_left:
            most_projects = project_count + self.files_left
            left_out = 1 / project_count - 1 / most_projects
            variance += left_out * self._between_projects()
        within = self._between_boundaries()
        for names in by_project.values():
            weight = 1 / (project_count * len(names))
            for name in names:
                boundaries_left = self._boundaries_left(strategy, name)
                variance += weight**2 * within * boundaries_left
        degrees = BETWEEN_PROJECTS.weight + project_count - 1
        quantile = special.stdtrit(degrees, (1 + PROMISED) / 2)
        return float(quantile) * sqrt(variance)

    def _sessions_by_project(self, strategy: str) -> Mapping[str, Sequence[str]]:
        """The sessions in which a strategy has values."""
        by_project: dict[str, list[str]] = defaultdict(list)
        for name in self.values.get(strategy, {}):
            project = self.projects[name]
            by_project[project].append(name)
        return by_project

    def _boundaries_left(self, strategy: str, name: str) -> float:
        """The part of the variance between boundaries by which a session's figure may move."""
        session = self.sessions[name]
        if _is_finished(session, strategy):
            return 0.0
        looked_at = max(session.boundaries, 1)
        return 1 / looked_at - 1 / session.of

    def _between_projects(self) -> float:
        """The variance between projects, which the strategies have in common."""
        variances: list[float] = []
        most_projects = 0
        for strategy in self.values:
            means = list(self._project_means(strategy))
            if len(means) > 1:
                variance = np.var(means, ddof=1)
                variances.append(float(variance))
                most_projects = max(most_projects, len(means))
        return BETWEEN_PROJECTS.with_seen(variances, most_projects - 1)

    def _project_means(self, strategy: str) -> Iterator[float]:
        """The mean of a strategy in each project."""
        values = self.values[strategy]
        for names in self._sessions_by_project(strategy).values():
            session_means = [float(np.nanmean(values[name])) for name in names]
            yield float(np.mean(session_means))

    def _between_boundaries(self) -> float:
        """The variance between the boundaries of a session, which all have in common."""
        variances: list[float] = []
        seen_sessions = set[str]()
        for sessions in self.values.values():
            for name, by_boundary in sessions.items():
                is_missing = np.isnan(by_boundary)
                has_both = ~is_missing.any(axis=0)
                if len(by_boundary) > 1 and has_both.any():
                    at_each_share = by_boundary[:, has_both].var(axis=0, ddof=1)
                    variance = at_each_share.mean()
                    variances.append(float(variance))
                    seen_sessions.add(name)
        return BETWEEN_BOUNDARIES.with_seen(variances, len(seen_sessions))


def _is_finished(session: SessionSoFar, strategy: str) -> bool:
    """Whether a strategy was scored at all boundaries of a session."""
    return session.is_whole or strategy in session.finished


def _by_boundary(
    scores: Sequence[SizedScore],
    half: str,
    boundary_count: int,
) -> Floats:
    """(boundaries, shares) a number of the headline; NaN where it has no value. Scores stand
    boundary by boundary.
    """
    values: list[float] = []
    for score in scores:
        if score.metric != half:
            continue
        value = score.value
        values.append(nan if value is None else value)
    if len(values) % boundary_count:
        return np.array([])
    numbers = np.array(values, dtype=float)
    return numbers.reshape(boundary_count, -1)
