"""A plain chart of each table of a run: what one looks at first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from workbench.base.errors import UnknownName
from workbench.base.palette import REFERENCES, looks
from workbench.evaluation.experiment.column_units import unit_of
from workbench.evaluation.experiment.results import Results
from workbench.report.page.plot_style import paper, words

MOST_NAMES = 14
"""Names along an axis; of more, those with the largest means are drawn."""
COUNT = "rows"
"""Stands for the number of rows in the place of a column."""


@dataclass(frozen=True, slots=True)
class TablePlot:
    """What is drawn of a table: the mean of `y` at each `x`, a series a strategy where there are
    several.
    """

    x: str
    y: str

    @property
    def note(self) -> str:
        """What the chart shows, in words."""
        if self.y == COUNT:
            return f"rows by {self.x}"
        return f"mean {self.y} by {self.x}"


PLOTS: Mapping[str, TablePlot] = {
    "sessions": TablePlot("session", "tokens"),
    "steps": TablePlot("request", "tokens_sent"),
    "compactions": TablePlot("number", "tokens_after"),
    "retention": TablePlot("kind", "demanded"),
    "survival": TablePlot("round", "lost"),
    "scores": TablePlot("metric", "scaled"),
    "baseline_at_sizes": TablePlot("share", "value"),
    "costs": TablePlot("strategy", "usd"),
    "paging": TablePlot("strategy", "visible"),
    "reconciliation": TablePlot("session", "bill_error"),
    "losses": TablePlot("kind", COUNT),
    "rules": TablePlot("outcome", COUNT),
    "boundaries": TablePlot("share", "target"),
    "replays": TablePlot("strategy", "summaries"),
    "replicates": TablePlot("replicate", "value"),
    "variants": TablePlot("strategy", "window"),
}


def table_chart(run: Results, name: str) -> Figure:
    """The chart of a table.

    Raises:
        UnknownName: a run has no such table.
    """
    if name not in PLOTS:
        raise UnknownName("table", name, PLOTS)
    plot = PLOTS[name]
    means = _means(run.table(name), plot)
    if means.empty:
        return words(name, f"The table {name} of this run has nothing to draw.")
    unit = unit_of(plot.y, name)
    figure, axes = paper(name, plot.note)
    label = plot.y
    if unit:
        label = f"{plot.y}, {unit}"
    axes.set_ylabel(label)
    axes.set_xlabel(plot.x)
    if pd.api.types.is_numeric_dtype(means.index):
        _draw_lines(axes, means)
    else:
        _draw_bars(axes, means)
    if len(means.columns) > 1:
        axes.legend(frameon=False)
    ConstrainedLayoutEngine().execute(figure)
    return figure


def _means(rows: pd.DataFrame, plot: TablePlot) -> pd.DataFrame:
    """The mean of `y` by `x`, a column a strategy."""
    series = "strategy"
    if series not in rows or plot.x == series:
        rows = rows.assign(series="all")
        series = "series"
    if plot.y == COUNT:
        rows = rows.assign(**{COUNT: 1.0})
    names = [plot.x, series, plot.y]
    columns = rows[names].dropna()
    groups = columns.groupby([plot.x, series], observed=True)
    values = groups[plot.y]
    table = values.mean()
    if plot.y == COUNT:
        table = values.count()
    table = table.astype(float).unstack(series)
    if not pd.api.types.is_numeric_dtype(table.index):
        # references would stand beside each strategy as bars of one grey
        table = table.drop(columns=list(REFERENCES), errors="ignore")
        largest = table.mean(axis=1).nlargest(MOST_NAMES).index
        table = table.loc[largest]
    return table


def _draw_lines(axes: Axes, means: pd.DataFrame) -> None:
    styles = looks(list(map(str, means.columns)))
    for name, values in means.items():
        style = styles[str(name)]
        axes.plot(
            values.index,
            values,
            style.mark,
            ls="-",
            color=style.colour,
            label=str(name),
        )


def _draw_bars(axes: Axes, means: pd.DataFrame) -> None:
    styles = looks(list(map(str, means.columns)))
    width = 0.8 / len(means.columns)
    for number, (name, values) in enumerate(means.items()):
        places = np.arange(len(means)) + number * width
        style = styles[str(name)]
        axes.bar(
            places,
            values,
            width,
            color=style.colour,
            label=str(name),
        )
    middle = 0.4 - width / 2
    axes.set_xticks(np.arange(len(means)) + middle)
    axes.set_xticklabels(map(str, means.index), rotation=30, ha="right")
