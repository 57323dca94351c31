"""What is known of a run that goes on, as the tables of a run. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from workbench.evaluation.analysis.scores import plain, with_projects
from workbench.evaluation.experiment.preliminary import SessionSoFar, SoFar
from workbench.evaluation.experiment.replay_results import SizedScore
from workbench.evaluation.experiment.table_columns import COLUMNS, frame
from workbench.evaluation.findings.mean_tables import USED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import NAMES, WORK

FIGURES = (WORK, NAMES)
"""The numbers of the headline that are told before the end."""

Row: TypeAlias = dict[str, object]


def tables_so_far(so_far: SoFar) -> Tables:
    """What is known as the tables of a run, so that figures are read off it as in the end."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for session in so_far.sessions:
        rows["baseline_at_sizes"] += _baseline_rows(session, so_far.baseline)
        rows["sessions"].append(_session_row(session))
        for strategy, scores in session.scores.items():
            rows["replays"].append(_replay_row(session, strategy))
            rows["scores"] += _score_rows(session, strategy, scores)
    tables = {}
    for name in COLUMNS:
        tables[name] = plain(frame(name, rows[name]))
    tables["scores"] = with_projects(
        tables["scores"],
        tables["sessions"],
        so_far.group_by,
    )
    return Tables({}, tables, so_far.baseline)


def session_name(session: SessionSoFar) -> str:
    """What tells a session from the others of its run."""
    return f"{session.source}/{session.place}"


def _session_row(session: SessionSoFar) -> Row:
    return {
        "session": session_name(session),
        "project": session.project,
        "path": session.path,
        "status": "ok",
    }


def _replay_row(session: SessionSoFar, strategy: str) -> Row:
    return {
        "session": session_name(session),
        "strategy": strategy,
        "status": "ok",
    }


def _score_rows(
    session: SessionSoFar,
    strategy: str,
    scores: Sequence[SizedScore],
) -> Iterator[Row]:
    for mean in _means(scores):
        yield {
            "session": session_name(session),
            "strategy": strategy,
            "mode": "matched",
            "share": mean.share,
            "metric": mean.metric,
            "value": mean.value,
            "why": mean.reason,
        }


@dataclass(slots=True)
class _Mean:
    """One metric at one share, over boundaries.

    Attributes:
        values: at the boundaries that have one.
        reason: why a boundary has none; empty where each has one.
    """

    share: float
    metric: str
    values: list[float] = field(default_factory=list)
    reason: str = ""

    @property
    def value(self) -> float | None:
        """The mean; None where a boundary has none."""
        if self.reason or not self.values:
            return None
        return sum(self.values) / len(self.values)


def _means(scores: Sequence[SizedScore]) -> list[_Mean]:
    """Each metric at each share: the mean over boundaries."""
    means: dict[tuple[float, str], _Mean] = {}
    for score in scores:
        place = (score.share, score.metric)
        if place not in means:
            means[place] = _Mean(score.share, score.metric)
        mean = means[place]
        mean.reason = mean.reason or score.reason
        if score.value is not None:
            mean.values.append(score.value)
    return list(means.values())


def _by_share(means: Sequence[_Mean], metric: str) -> dict[float, float | None]:
    """One metric by share."""
    values: dict[float, float | None] = {}
    for mean in means:
        if mean.metric == metric:
            values[mean.share] = mean.value
    return values


def _baseline_rows(session: SessionSoFar, baseline: str) -> Iterator[Row]:
    """What the baseline has at the sizes that each strategy used; where nobody knows, on a straight
    line between the sizes at which it was read.
    """
    baseline_scores = session.scores.get(baseline, ())
    baseline_means = _means(baseline_scores)
    if not baseline_means:
        return
    for strategy, scores in session.scores.items():
        if strategy == baseline:
            continue
        for mean in _baseline_at_sizes(scores, baseline_means):
            yield {
                "session": session_name(session),
                "strategy": strategy,
                "mode": "matched",
                "share": mean.share,
                "baseline": baseline,
                "metric": mean.metric,
                "value": mean.value,
            }


def _baseline_at_sizes(
    scores: Sequence[SizedScore],
    baseline_means: Sequence[_Mean],
) -> Iterator[_Mean]:
    """What the baseline has at the sizes that a strategy of these scores used."""
    known_values = _baseline_values(scores)
    means = _means(scores)
    sizes = _by_share(means, USED)
    for mean in means:
        if mean.metric not in FIGURES or mean.value is None:
            continue
        value = known_values.get((mean.share, mean.metric))
        if value is None:
            size = sizes.get(mean.share)
            value = _between(baseline_means, mean.metric, size)
        if value is not None:
            yield _Mean(mean.share, mean.metric, [value])


def _baseline_values(scores: Sequence[SizedScore]) -> Mapping[tuple[float, str], float]:
    """By share and metric what the baseline has at the sizes used, where that is known."""
    values: dict[tuple[float, str], float] = {}
    for score in scores:
        if score.baseline is not None:
            values[score.share, score.metric] = score.baseline
    return values


def _between(
    baseline_means: Sequence[_Mean],
    metric: str,
    size: float | None,
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
