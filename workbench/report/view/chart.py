"""The page that shows one metric over several runs, a line for each strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.formats import figure
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES, NAMES, WORK
from workbench.report.view.contexts import NotShown
from workbench.report.view.page import Page, Query, path_of
from workbench.report.view.run_list import RunFilters, RunRow, run_rows, sorted_rows
from workbench.report.view.runs import RunEntry

MOST_RUNS = 40
"""Runs in one chart: the newest."""
WIDTH, HEIGHT = 900, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 12, 28
"""Around the lines."""
TICKS = 5

Means = Mapping[str, Mapping[str, float]]
"""The mean of each metric under each strategy."""


@dataclass(frozen=True, slots=True)
class Point:
    """The mean of a strategy in a run, with its place in the chart."""

    run: RunRow
    value: float
    x: float
    y: float
    address: str


@dataclass(frozen=True, slots=True)
class Line:
    """A strategy's points, in the order of the runs."""

    strategy: str
    points: Sequence[Point]

    @property
    def path(self) -> str:
        """Its corners, as SVG has them."""
        corners = [f"{point.x},{point.y}" for point in self.points]
        return " ".join(corners)


@dataclass(frozen=True, slots=True)
class Axis:
    """The values that the chart goes from and to."""

    start: float
    end: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Axis:
        """An axis a little longer than the values are apart."""
        lowest = min(values)
        highest = max(values)
        margin = 0.1 * (highest - lowest)
        if margin == 0:
            margin = 0.1 * abs(highest) or 1.0
        return cls(lowest - margin, highest + margin)

    def y(self, value: float) -> float:
        """Where a value stands."""
        share = (value - self.start) / (self.end - self.start)
        drawn_height = HEIGHT - TOP - BOTTOM
        return round(HEIGHT - BOTTOM - share * drawn_height, 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Places with their values in words."""
        ticks = []
        for step in range(TICKS):
            share = step / (TICKS - 1)
            value = self.start + share * (self.end - self.start)
            ticks.append((self.y(value), figure(value)))
        return ticks


def chart_page(entries: Mapping[str, RunEntry], query: Query) -> Page:
    """One metric over the finished runs that the filters of the list leave, oldest first.

    Raises:
        NotShown: no run is left, or none has the metric.
    """
    filters = RunFilters.of(query)
    rows = _charted_runs(entries, filters)
    means_of: dict[str, Means] = {}
    metrics: set[str] = set()
    for row in rows:
        entry = entries[row.run]
        means = _means(entry.path, entry.stamp)
        means_of[row.run] = means
        metrics.update(means)
    metric = query.get("metric", "")
    if not metric:
        metric = WORK if WORK in metrics else NAMES
    if metric not in metrics:
        raise NotShown(f"None of these runs has a metric {metric!r}.")
    table = _table(rows, means_of, metric)
    axis = Axis.of([row["value"] for row in table])
    values = {
        "rows": rows,
        "metric": metric,
        "metrics": sorted(metrics),
        "words": HALVES.get(metric, metric),
        "lines": _lines(rows, table, axis),
        "ticks": axis.ticks(),
        "places": _places(len(rows)),
        "known": [row["strategy"] for row in table],
        "frame": {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT},
        "wanted": asdict(filters),
    }
    return Page("chart", "Runs in one chart", values, pd.DataFrame(table))


def _charted_runs(entries: Mapping[str, RunEntry], filters: RunFilters) -> list[RunRow]:
    """The newest finished runs that fit, oldest first."""
    rows = []
    for row in run_rows(entries.values()):
        if row.state in ("finished", "shared copy") and filters.fits(row):
            rows.append(row)
    if not rows:
        raise NotShown("No finished run fits these filters.")
    return sorted_rows(rows, "created")[-MOST_RUNS:]


@lru_cache(maxsize=1024)
def _means(path: Path, stamp: str) -> Means:
    """By metric and strategy, the mean over projects on the strategies' own triggers."""
    run = Tables.of(Results.open(path))
    scores = run.scores[run.scores["mode"] == "natural"].dropna(subset="value")
    contenders = replayed_contenders(run)
    means: dict[str, dict[str, float]] = {}
    for (metric, strategy), group in scores.groupby(["metric", "strategy"]):
        mean = run.mean_over_projects(group.set_index("session")["value"])
        if mean is not None and strategy in contenders:
            means_of_metric = means.setdefault(str(metric), {})
            means_of_metric[str(strategy)] = mean.mean
    return means


def _table(
    rows: Sequence[RunRow], means_of: Mapping[str, Means], metric: str
) -> list[dict[str, Any]]:
    """A row for each strategy of each run that has the metric."""
    table = []
    for row in rows:
        for strategy, value in means_of[row.run].get(metric, {}).items():
            table.append({"run": row.run, "name": row.name, "strategy": strategy, "value": value})
    return table


def _places(count: int) -> list[float]:
    """Where each run stands from left to right."""
    step = (WIDTH - LEFT - RIGHT) / count
    places = []
    for index in range(count):
        places.append(round(LEFT + (index + 0.5) * step, 1))
    return places


def _lines(rows: Sequence[RunRow], table: Sequence[dict[str, Any]], axis: Axis) -> list[Line]:
    """A line for each strategy."""
    points_of: dict[str, list[Point]] = {}
    for run, x in zip(rows, _places(len(rows)), strict=True):
        for record in table:
            if record["run"] != run.run:
                continue
            value = record["value"]
            point = Point(run, value, x, axis.y(value), path_of(run.run))
            points = points_of.setdefault(record["strategy"], [])
            points.append(point)
    lines = []
    for strategy, points in points_of.items():
        lines.append(Line(strategy, points))
    return lines
