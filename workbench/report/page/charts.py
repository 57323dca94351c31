"""The charts of a report: each takes the tables of a run and returns a figure; none shows it."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.base.formats import missing, some
from workbench.base.palette import REFERENCES, Style, looks
from workbench.evaluation.analysis.price_ranges import PRICES
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.analysis.trade import MARGIN
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.costs import by_cost, typical
from workbench.evaluation.findings.summaries import dots
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES
from workbench.report.page.curves import equal_size as equal_size
from workbench.report.page.curves import rounds as rounds
from workbench.report.page.plot_style import (
    AXIS_NAMES,
    HALF,
    MUTED,
    Label,
    name_ends,
    paper,
    words,
)

LEAST_CHANCE = 5.0
"""Per cent below which a strategy has no place in the chart of chances."""
MOST_DOTS = 40
"""Sessions beyond which single ones are no longer dotted: the intervals say it better."""
POINT_NAMES = {"none": "none (nothing is cut)", "null": "null (last message only)"}


def savings(findings: Findings) -> Figure:
    """What each strategy keeps against what it saves, under its own trigger, with intervals
    where there are enough.
    """
    run = findings.tables
    half = run.leading("natural")
    title = f"{HALVES[half].capitalize()} against tokens saved"
    rows = findings.figures.points
    if rows.empty:
        return words(
            title, "Nothing to draw: no session was long enough to be compacted and scored."
        )
    session_count = int(rows["sessions"].max())
    styles = looks(run.strategies)
    note = f"{_sessions(rows)} · further right and up is better"
    figure, axes = paper(title, note, height=4.6, width=HALF)
    labels = []
    for row in rows.to_dict("records"):
        name = row["strategy"]
        style = styles[name]
        if name not in REFERENCES:
            if session_count <= MOST_DOTS:
                _draw_sessions(axes, dots(run, name), style)
            if not missing(row["recall_low"]):
                _draw_intervals(axes, row, style)
        text = POINT_NAMES.get(name, name)
        if row["sessions"] != session_count:
            text += f" (n = {row['sessions']})"
        label = _draw_point(axes, row, style, text)
        labels.append(label)
    axes.margins(x=0.12)
    axes.set_xlabel("tokens saved, % of an uncompacted agent's")
    axes.set_ylabel(AXIS_NAMES[half])
    axes.set_ylim(-6, 108)
    name_ends(figure, axes, labels)
    return figure


def likely_best(findings: Findings) -> Figure:
    """How likely each strategy is to be the best or nearly so, over what a tenth of the bill is
    worth; dotted lines where another one is to be used.
    """
    run = findings.tables
    half = run.leading("natural")
    likely = findings.figures.likely_best[half]
    title = "Which one, by what saving is worth to you"
    note = f"left: only {HALVES[half]} counts · right: the bill counts much"
    figure, axes = paper(title, note, height=4.6, width=HALF)
    styles = looks(run.strategies)
    chances = 100 * likely.level
    labels: list[Label] = []
    for name in chances.columns:
        of_name = chances[name]
        if of_name.max() < LEAST_CHANCE:
            continue
        colour = styles[name].colour
        axes.plot(of_name.index, of_name, color=colour, lw=2)
        labels.append(Label(name, PRICES[-1], of_name.iloc[-1], colour))
    decision = findings.decision
    assert decision is not None, "a decision has a price where its chances are known"
    for price in decision.switch_prices:
        axes.axvline(price, color=MUTED, ls=":", lw=1.2)
    axes.set_xlim(PRICES[0], PRICES[-1])
    axes.set_ylim(0, 100)
    axes.set_xlabel(f"points of {HALVES[half]} that you give up for a tenth of the bill")
    axes.set_ylabel(f"likely as good as the best (within {MARGIN:.0f} points), %")
    name_ends(figure, axes, labels)
    return figure


def _draw_point(
    axes: Axes,
    row: Mapping[Hashable, Any],
    style: Style,
    text: str,
) -> Label:
    """The point of a strategy; the label for it."""
    x = 100 * row["saved"]
    y = 100 * row["recall"]
    axes.plot(
        x,
        y,
        style.mark,
        color=style.colour,
        ms=10,
        mec="none",
    )
    return Label(text, x, y, style.colour)


def _draw_sessions(axes: Axes, shares: pd.DataFrame, style: Style) -> None:
    """A small dot for each session that has both figures."""
    both = 100 * shares.dropna()
    axes.plot(
        both["saved"],
        both["recall"],
        ".",
        color=style.colour,
        alpha=0.45,
        ms=7,
        mew=0,
    )


def _draw_intervals(
    axes: Axes,
    row: Mapping[Hashable, Any],
    style: Style,
) -> None:
    """The 95 % intervals of both figures, as a cross through the point."""
    x = 100 * row["saved"]
    y = 100 * row["recall"]
    saved_ends = [100 * row["saved_low"], 100 * row["saved_high"]]
    recall_ends = [100 * row["recall_low"], 100 * row["recall_high"]]
    across = (saved_ends, [y, y])
    upright = ([x, x], recall_ends)
    for xs, ys in (across, upright):
        axes.plot(
            xs,
            ys,
            "-",
            color=style.colour,
            lw=1.8,
            alpha=0.8,
        )


def _sessions(rows: pd.DataFrame) -> str:
    """How many sessions the points rest on: `n = 10 sessions`, `n = 2 to 3 of 3 sessions`."""
    fewest = int(rows["sessions"].min())
    largest = int(rows["sessions"].max())
    total = int(rows["of"].max())
    if fewest == total:
        return f"n = {some(total, 'session')}"
    span = f"{fewest:,}"
    if fewest != largest:
        span += f" to {largest:,}"
    return f"n = {span} of {some(total, 'session')}"


def spending(findings: Findings, session: str | None = None) -> Figure:
    """What one session has cost after each request, under each strategy, with where compaction
    has paid off.
    """
    run = findings.tables
    title = "What one session has cost, request by request"
    if session is None:
        session = typical(run)
    rows = rows_with(run.steps, session=session)
    is_priced = rows["usd"].notna()
    rows = rows[is_priced].sort_values("request")
    if rows.empty:
        return words(
            title, "Nothing to draw: no session with prices was replayed request by request."
        )
    request_count = int(rows["request"].nunique())
    requests = some(request_count, "request")
    note = (
        f"n = {requests} of one session · ● no dearer than without compaction from here · lower is"
        " cheaper"
    )
    figure, axes = paper(title, note)
    bills = rows_with(run.costs, session=session)
    bills = bills.set_index("strategy")
    by_strategy = rows.groupby("strategy")
    even_at = rows["strategy"].map(bills["even_at"])
    rows = rows.assign(
        y=by_strategy["usd"].cumsum(),
        marked=by_strategy.cumcount() == even_at,
    )
    labels = _steps(axes, run, rows)
    highest = max(label.y for label in labels)
    axes.set_xlabel("request")
    axes.set_ylabel("all requests so far, USD")
    axes.set_ylim(0, 1.08 * highest)
    axes.margins(x=0.01)
    name_ends(figure, axes, labels)
    return figure


def _steps(
    axes: Axes,
    run: Tables,
    rows: pd.DataFrame,
) -> list[Label]:
    """A line a strategy over the requests, with a dot where a row is `marked`; the labels for
    their ends.
    """
    styles = looks(run.strategies)
    labels = []
    for name in by_cost(run):
        steps = rows_with(rows, strategy=name)
        if steps.empty:
            continue
        steps = steps.sort_values("request")
        colour = styles[name].colour
        is_reference = name in REFERENCES
        line = "--" if is_reference else "-"
        axes.plot(
            steps["request"],
            steps["y"],
            line,
            color=colour,
            lw=1.7,
        )
        marked = steps[steps["marked"]]
        if len(marked) and not is_reference:
            axes.plot(
                marked["request"],
                marked["y"],
                "o",
                color=colour,
                ms=7,
                mec="none",
            )
        end = steps.iloc[-1]
        x = float(end["request"])
        y = float(end["y"])
        labels.append(Label(name, x, y, colour))
    return labels
