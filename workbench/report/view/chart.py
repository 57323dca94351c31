"""The page that shows one metric over several runs, a line for each strategy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.formats import OF_UNIT, axis_labels
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES, NAMES, WORK
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import Page, Query, path_of
from workbench.report.view.run_list import RunFilters, RunRow, run_rows, sorted_rows
from workbench.report.view.runs import RunEntry

MOST_RUNS = 40
"""Runs in one chart: the newest."""
WIDTH = 900
HEIGHT = 300
"""Of the picture."""
LEFT = 70
RIGHT = 20
TOP = 12
BOTTOM = 28
"""Around the lines."""
FRAME = {
    "width": WIDTH,
    "height": HEIGHT,
    "left": LEFT,
    "right": WIDTH - RIGHT,
}
MOST_TICKS = 5
SHORTEST = 0.1
"""The axis is at least so long, as a share of the values in its middle."""


@dataclass(frozen=True, slots=True)
class MetricMeans:
    """One metric of a run: its unit, and its mean under each strategy."""

    unit: str
    by_strategy: Mapping[str, float]


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
    """The round values at which the chart has lines, lowest first; it goes from the first to the
    last.
    """

    marks: Sequence[float]

    @classmethod
    def of(cls, values: Sequence[float]) -> Axis:
        """An axis that holds the values, and shows no small difference as a large one."""
        from matplotlib.ticker import MaxNLocator

        lowest = min(values)
        highest = max(values)
        if lowest == highest == 0:
            return cls((0.0, 0.25, 0.5, 0.75, 1.0))
        middle = (lowest + highest) / 2
        shortest = SHORTEST * abs(middle)
        length = max(highest - lowest, shortest)
        start = middle - length / 2
        end = middle + length / 2
        marks = MaxNLocator(MOST_TICKS).tick_values(start, end)
        return cls(list(map(float, marks)))

    def y(self, value: float) -> float:
        """Where a value stands."""
        start = self.marks[0]
        end = self.marks[-1]
        share = (value - start) / (end - start)
        drawn_height = HEIGHT - TOP - BOTTOM
        place = HEIGHT - BOTTOM - share * drawn_height
        return round(place, 1)

    def ticks(self, unit: str) -> list[tuple[float, str]]:
        """The place of each line, with its value in the unit of the metric."""
        ticks = []
        for value, text in zip(self.marks, axis_labels(self.marks, unit), strict=True):
            tick = (self.y(value), text)
            ticks.append(tick)
        return ticks


def chart_page(entries: Mapping[str, RunEntry], query: Query) -> Page:
    """One metric over the finished runs that the filters of the list leave, oldest first.

    Raises:
        NotShown: no run is left, or none has the metric.
    """
    filters = RunFilters.of(query)
    rows = _charted_runs(entries, filters)
    means_of: dict[str, Mapping[str, MetricMeans]] = {}
    units: dict[str, str] = {}
    for row in rows:
        entry = entries[row.run]
        means = _means(entry.path, entry.stamp)
        means_of[row.run] = means
        for name, metric_means in means.items():
            units[name] = metric_means.unit
    metric = _metric(query, units)
    table = _table(rows, means_of, metric)
    axis = Axis.of([row["value"] for row in table])
    values = {
        "rows": rows,
        "metric": metric,
        "metrics": sorted(units),
        "shown": OF_UNIT[units[metric]],
        "words": HALVES.get(metric, metric),
        "lines": _lines(rows, table, axis),
        "ticks": axis.ticks(units[metric]),
        "places": _places(len(rows)),
        "known": [row["strategy"] for row in table],
        "frame": FRAME,
        "wanted": asdict(filters),
    }
    return Page("chart", "Runs in one chart", values, pd.DataFrame(table))


def _metric(query: Query, units: Mapping[str, str]) -> str:
    """The metric that an address names; by default the work, or names where no run has the work.

    Args:
        query: of the address.
        units: of the metrics that the runs have.
    """
    metric = query.get("metric", "")
    if not metric:
        metric = WORK if WORK in units else NAMES
    if metric not in units:
        raise NotShown(f"None of these runs has a metric {metric!r}.")
    return metric


def _charted_runs(
    entries: Mapping[str, RunEntry],
    filters: RunFilters,
) -> list[RunRow]:
    """The newest finished runs that fit, oldest first."""
    rows = []
    for row in run_rows(entries.values()):
        is_finished = row.state in ("finished", "shared copy")
        if is_finished and filters.fits(row):
            rows.append(row)
    if not rows:
        raise NotShown("No finished run fits these filters.")
    oldest_first = sorted_rows(rows, "created")
    return oldest_first[-MOST_RUNS:]


@lru_cache(maxsize=1024)
def _means(path: Path, stamp: str) -> dict[str, MetricMeans]:
    """By metric, the means over projects on the strategies' own triggers, as the run prints them;
    `stamp` says when it was made.
    """
    run = Tables.of(Results.open(path))
    scores = run.scores.groupby("metric")
    units = scores["unit"].first()
    means: dict[str, MetricMeans] = {}
    for metric, unit in units.items():
        by_strategy: dict[str, float] = {}
        for strategy in replayed_contenders(run):
            values = run.values(str(metric), strategy)
            mean = run.mean_over_projects(values)
            if mean is not None:
                by_strategy[strategy] = mean.mean
        if by_strategy:
            means[str(metric)] = MetricMeans(str(unit), by_strategy)
    return means


def _table(
    rows: Sequence[RunRow],
    means_of: Mapping[str, Mapping[str, MetricMeans]],
    metric: str,
) -> list[dict[str, Any]]:
    """A row for each strategy of each run that has the metric."""
    table = []
    for row in rows:
        means = means_of[row.run].get(metric)
        if means is None:
            continue
        for strategy, value in means.by_strategy.items():
            record = {
                "run": row.run,
                "name": row.name,
                "strategy": strategy,
                "value": value,
            }
            table.append(record)
    return table


def _places(count: int) -> list[float]:
    """Where each run stands from left to right."""
    step = (WIDTH - LEFT - RIGHT) / count
    places = []
    for index in range(count):
        place = LEFT + (index + 0.5) * step
        places.append(round(place, 1))
    return places


def _lines(
    rows: Sequence[RunRow],
    table: Sequence[dict[str, Any]],
    axis: Axis,
) -> list[Line]:
    """A line for each strategy."""
    points_of: dict[str, list[Point]] = defaultdict(list)
    places = _places(len(rows))
    for run, x in zip(rows, places, strict=True):
        for record in table:
            if record["run"] != run.run:
                continue
            value = record["value"]
            strategy = record["strategy"]
            point = Point(
                run=run,
                value=value,
                x=x,
                y=axis.y(value),
                address=path_of(run.run),
            )
            points_of[strategy].append(point)
    return [Line(strategy, points) for strategy, points in points_of.items()]
