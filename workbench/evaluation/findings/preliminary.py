"""What a run that goes on says so far, and how far its final figures may lie from that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any

import numpy as np
from scipy import special

from workbench.base.formats import percent, points, some
from workbench.base.ragged import Floats
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.scores import plain
from workbench.evaluation.analysis.scores import with_projects as scores_with_projects
from workbench.evaluation.experiment.preliminary import SessionSoFar, SoFar
from workbench.evaluation.experiment.replay_results import SizedScore
from workbench.evaluation.experiment.table_columns import COLUMNS, frame
from workbench.evaluation.findings.tables import USED, Tables
from workbench.evaluation.metrics import HALVES, NAMES, WORK

PROMISED = 0.95
"""How often a final figure is to lie within the interval of a preliminary one."""
FIGURES = (WORK, NAMES)
"""The numbers of the headline that are told before the end."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A standard deviation as it is believed before a run has shown its own, and for how many
    observations that belief counts.
    """

    deviation: float
    weight: int

    def with_seen(self, variance: float, count: int) -> float:
        """The variance after so many observations."""
        believed = self.weight * self.deviation**2
        return (believed + count * variance) / (self.weight + count)


BETWEEN_PROJECTS = Spread(0.12, 6)
BETWEEN_BOUNDARIES = Spread(0.14, 6)
"""Of a figure in [0, 1]: as wide as the widest that the bundled sessions and their parts show."""


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
        return f"{self.strategy}: {', '.join(parts)}"


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
        tables = _tables(so_far)
        strategies = []
        for name in tables.contenders:
            figures = {half: _figure(so_far, tables, name, half) for half in FIGURES}
            if any(figures.values()):
                strategies.append(StrategySoFar(name, figures))
        return cls(basis(so_far.sessions), tuple(strategies))

    @property
    def lines(self) -> list[str]:
        """A line that says what it is, and one for each strategy."""
        if not self.strategies:
            return []
        return [f"preliminary: {self.basis}", *map(str, self.strategies)]


def lines_so_far(so_far: SoFar) -> list[str]:
    """What is known of a run, as `PreliminaryFigures.lines`."""
    return PreliminaryFigures.of(so_far).lines


def basis(sessions: Sequence[SessionSoFar]) -> str:
    """What figures stand on: at how many boundaries of how many sessions something is known."""
    boundary_counts: list[int] = []
    looked_at = finished_count = 0
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
        parts.append(f"{looked_at} of {of} of {some(len(boundary_counts), 'session')}")
    if finished_count:
        parts.append(f"all of {some(finished_count, 'session')}")
    return " and ".join(parts)


def _tables(so_far: SoFar) -> Tables:
    """What is known as the tables of a run, so that figures are read off it as in the end."""
    rows: dict[str, list[dict[str, object]]] = {
        "scores": [],
        "sessions": [],
        "replays": [],
        "baseline_at_sizes": [],
    }
    for session in so_far.sessions:
        rows["baseline_at_sizes"] += _baseline_rows(session, so_far.baseline)
        name = _name(session)
        rows["sessions"].append(
            {"session": name, "project": session.project, "path": session.path, "status": "ok"}
        )
        for strategy, scores in session.scores.items():
            rows["replays"].append({"session": name, "strategy": strategy, "status": "ok"})
            place = {"session": name, "strategy": strategy, "mode": "matched"}
            rows["scores"] += [place | row for row in _means(scores)]
    tables = {table: plain(frame(table, rows.get(table, ()))) for table in COLUMNS}
    scores = scores_with_projects(tables["scores"], tables["sessions"], so_far.group_by)
    return Tables({}, {**tables, "scores": scores}, so_far.baseline)


def _baseline_rows(session: SessionSoFar, baseline: str) -> Iterator[dict[str, object]]:
    """What the baseline has at the sizes that each strategy used; where nobody knows, on a straight
    line between the sizes at which it was read.
    """
    baseline_scores = session.scores.get(baseline, ())
    baseline_means = list(_means(baseline_scores))
    if not baseline_means:
        return
    for strategy, scores in session.scores.items():
        if strategy == baseline:
            continue
        known_values = _baseline_values(scores)
        means = list(_means(scores))
        sizes = _by_share(means, USED)
        for row in means:
            metric = str(row["metric"])
            share = row["share"]
            if metric not in FIGURES or row["value"] is None:
                continue
            value_at_size = known_values.get((share, metric))
            if value_at_size is None:
                value_at_size = _between(baseline_means, metric, sizes.get(share))
            if value_at_size is None:
                continue
            yield {
                "session": _name(session),
                "strategy": strategy,
                "mode": "matched",
                "share": share,
                "baseline": baseline,
                "metric": metric,
                "value": value_at_size,
            }


def _baseline_values(scores: Sequence[SizedScore]) -> dict[tuple[float, str], float]:
    """By share and metric what the baseline has at the sizes used, where that is known."""
    values: dict[tuple[float, str], float] = {}
    for score in scores:
        if score.baseline is not None:
            values[score.share, score.metric] = score.baseline
    return values


def _by_share(means: Iterable[Mapping[str, Any]], metric: str) -> dict[float, float | None]:
    """One metric by share."""
    values: dict[float, float | None] = {}
    for row in means:
        if row["metric"] == metric:
            values[row["share"]] = row["value"]
    return values


def _between(
    baseline_means: Sequence[Mapping[str, Any]], metric: str, size: float | None
) -> float | None:
    """What the baseline has at a size, from the sizes next to it."""
    sizes = _by_share(baseline_means, USED)
    points: list[tuple[float, float]] = []
    for share, value in _by_share(baseline_means, metric).items():
        read_at = sizes.get(share)
        if value is not None and read_at is not None:
            points.append((read_at, value))
    if size is None or not points:
        return None
    points.sort()
    read_sizes, values = zip(*points, strict=True)
    return float(np.interp(size, read_sizes, values))


def _name(session: SessionSoFar) -> str:
    return f"{session.source}/{session.place}"


def _means(scores: Sequence[SizedScore]) -> Iterator[dict[str, Any]]:
    """Each metric at each share: the mean over boundaries."""
    by_place: dict[tuple[float, str], list[SizedScore]] = defaultdict(list)
    for score in scores:
        by_place[score.share, score.metric].append(score)
    for (share, metric), place_scores in by_place.items():
        values: list[float] = []
        reason = ""
        for score in place_scores:
            reason = reason or score.reason
            if score.value is not None:
                values.append(score.value)
        value: float | None = None
        if values and not reason:
            value = sum(values) / len(values)
        yield {"share": share, "metric": metric, "value": value, "why": reason}


def _figure(so_far: SoFar, tables: Tables, strategy: str, half: str) -> Estimate | None:
    """A number of the headline of a strategy with the interval that is to hold the final one."""
    figure = tables.best_recall(strategy, half)
    if figure is None:
        return None
    reach = _Known.of(so_far, tables, half).reach(strategy)
    if reach == 0:
        return Estimate(figure.mean, figure.n, figure.projects, figure.mean, figure.mean)
    low = figure.mean - reach
    high = min(figure.mean + reach, 1.0)
    return Estimate(figure.mean, figure.n, figure.projects, low, high)


@dataclass(frozen=True, slots=True)
class _Known:
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
    def of(cls, so_far: SoFar, tables: Tables, half: str) -> _Known:
        values: dict[str, dict[str, Floats]] = defaultdict(dict)
        for session in so_far.sessions:
            for strategy, scores in session.scores.items():
                is_whole = session.is_whole or strategy in session.finished
                boundary_count = 1 if is_whole else session.boundaries
                by_boundary = _by_boundary(scores, half, boundary_count)
                if not np.isnan(by_boundary).all():
                    values[strategy][_name(session)] = by_boundary
        sessions: dict[str, SessionSoFar] = {}
        projects: dict[str, str] = {}
        for session in so_far.sessions:
            name = _name(session)
            sessions[name] = session
            projects[name] = tables.project(name)
        return cls(values, sessions, projects, so_far.files - so_far.files_read)

    def reach(self, strategy: str) -> float:
        """How far the final figure may lie from today's: the sampling of projects that are still
        unread, and of boundaries within each session.
        """
        by_project: dict[str, list[str]] = defaultdict(list)
        for name in self.values.get(strategy, {}):
            by_project[self.projects[name]].append(name)
        project_count = len(by_project)
        if not project_count:
            return inf
        variance = 0.0
        if self.files_left:
            left_out = 1 / project_count - 1 / (project_count + self.files_left)
            variance += self._between_projects() * left_out
        within = self._between_boundaries()
        for names in by_project.values():
            weight = 1 / (project_count * len(names))
            for name in names:
                variance += weight**2 * within * self._boundaries_left(strategy, name)
        degrees = BETWEEN_PROJECTS.weight + project_count - 1
        return float(special.stdtrit(degrees, (1 + PROMISED) / 2)) * sqrt(variance)

    def _boundaries_left(self, strategy: str, name: str) -> float:
        """The part of the variance between boundaries by which a session's figure may move."""
        session = self.sessions[name]
        if session.is_whole or strategy in session.finished:
            return 0.0
        return 1 / max(session.boundaries, 1) - 1 / session.of

    def _between_projects(self) -> float:
        """The variance between projects, which the strategies have in common."""
        variances = []
        most_projects = 0
        for sessions in self.values.values():
            by_project: dict[str, list[float]] = defaultdict(list)
            for name, by_boundary in sessions.items():
                project = self.projects[name]
                session_mean = float(np.nanmean(by_boundary))
                by_project[project].append(session_mean)
            means = [float(np.mean(session_means)) for session_means in by_project.values()]
            if len(means) > 1:
                variances.append(float(np.var(means, ddof=1)))
                most_projects = max(most_projects, len(means))
        if not variances:
            return BETWEEN_PROJECTS.deviation**2
        return BETWEEN_PROJECTS.with_seen(float(np.mean(variances)), most_projects - 1)

    def _between_boundaries(self) -> float:
        """The variance between the boundaries of a session, which all have in common."""
        variances = []
        seen_sessions = set[str]()
        for sessions in self.values.values():
            for name, by_boundary in sessions.items():
                has_both = ~np.isnan(by_boundary).any(axis=0)
                if len(by_boundary) > 1 and has_both.any():
                    at_each_share = by_boundary[:, has_both].var(axis=0, ddof=1)
                    variances.append(float(at_each_share.mean()))
                    seen_sessions.add(name)
        if not variances:
            return BETWEEN_BOUNDARIES.deviation**2
        return BETWEEN_BOUNDARIES.with_seen(float(np.mean(variances)), len(seen_sessions))


def _by_boundary(scores: Sequence[SizedScore], half: str, boundary_count: int) -> Floats:
    """(boundaries, shares) a number of the headline; NaN where it has no value. Scores stand
    boundary by boundary.
    """
    values: list[float] = []
    for row in scores:
        if row.metric == half and row.value is not None:
            values.append(row.value)
        elif row.metric == half:
            values.append(nan)
    if len(values) % boundary_count:
        return np.array([])
    return np.array(values, dtype=float).reshape(boundary_count, -1)


def _percent(figure: Estimate) -> str:
    """`46 % (38 to 54)`."""
    if figure.low is None or figure.high is None or figure.low == figure.high:
        return percent(figure.mean)
    return f"{percent(figure.mean)} ({points(figure.low)} to {points(figure.high)})"
