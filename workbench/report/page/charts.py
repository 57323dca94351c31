"""The charts of a report: each takes the tables of a run and returns a figure; none shows it."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from workbench.base.formats import missing, some
from workbench.base.palette import REFERENCES, Style, looks
from workbench.evaluation.analysis.likely_best import PRICES
from workbench.evaluation.analysis.trade import MARGIN
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.costs import by_cost, typical
from workbench.evaluation.findings.summaries import dots
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES, NAMES, WORK
from workbench.report.page.plot_style import MUTED, Label, name_ends, paper, words

HALF = 5.6
"""Inches of a chart that is beside another."""
POINTS = 72
"""Of paper, in an inch."""
BESIDE = 6.0
"""Points of paper between two strategies at one place of an axis, so that no interval hides
another; all together are no wider than `ABREAST`.
"""
ABREAST = 24.0
MOST_ROUNDS = 12
LEAST_CHANCE = 5.0
"""Per cent below which a strategy has no place in the chart of chances."""
MOST_DOTS = 40
"""Sessions beyond which single ones are no longer dotted: the intervals say it better."""
AXIS_NAMES = {WORK: "questions about the work answered, %", NAMES: "names told, %"}
"""What the axis of each half of the headline counts."""
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
        x = 100 * row["saved"]
        y = 100 * row["recall"]
        axes.plot(x, y, style.mark, color=style.colour, ms=10, mec="none")
        text = POINT_NAMES.get(name, name)
        if row["sessions"] != session_count:
            text += f" (n = {row['sessions']})"
        labels.append(Label(text, x, y, style.colour))
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


def _draw_intervals(axes: Axes, row: Mapping[Hashable, Any], style: Style) -> None:
    """The 95 % intervals of both figures, as a cross through the point."""
    x = 100 * row["saved"]
    y = 100 * row["recall"]
    saved_ends = [100 * row["saved_low"], 100 * row["saved_high"]]
    recall_ends = [100 * row["recall_low"], 100 * row["recall_high"]]
    for xs, ys in ((saved_ends, [y, y]), ([x, x], recall_ends)):
        axes.plot(xs, ys, "-", color=style.colour, lw=1.8, alpha=0.8)


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


def equal_size(findings: Findings) -> Figure:
    """What each strategy keeps when all are cut to the same share of the same history."""
    run = findings.tables
    half = run.leading("matched")
    title = f"{HALVES[half].capitalize()} when all are cut to the same size"
    rows = findings.figures.by_size
    for share in run.shares:
        is_unranked = rows["strategy"].isin(run.unranked(share))
        rows = rows[~(is_unranked & (rows["share"] == share))]
    if rows.empty:
        return words(
            title,
            "Nothing to draw: no session had a boundary that could be scored at the same size.",
        )
    note = f"n = {some(int(rows['sessions'].max()), 'session')} · higher is better"
    figure, axes = paper(title, note, height=4.6, width=HALF)
    # what is cut to no size is drawn over the others
    is_uncut = rows["strategy"].isin(["none", "null"])
    takes_share = is_uncut | rows["used"].isna()
    size = rows["share"].where(takes_share, rows["used"])
    rows = rows.assign(x=100 * size)
    labels = _curves(axes, run, rows, rows["strategy"].unique(), "mean")
    axes.set_xlabel("size: % of the history's tokens that is kept")
    axes.set_ylabel(AXIS_NAMES[half])
    axes.set_ylim(-6, 106)
    axes.margins(x=0.1)
    name_ends(figure, axes, labels)
    return figure


def rounds(findings: Findings) -> Figure:
    """What outlives one compaction, two, three: how losses chain under a strategy's own trigger."""
    run = findings.tables
    title = "What survives one compaction, two, three, …"
    rows = findings.figures.by_round
    if rows.empty or rows["round"].max() < 2:
        return words(title, "Nothing to draw: nothing survived more than one compaction.")
    session_count = int(rows["sessions"].max())
    rows = rows[rows["sessions"] >= session_count / 3]
    rows = rows[rows["round"] <= MOST_ROUNDS]
    fewest = some(int(rows["sessions"].min()), "session")
    note = f"n = {fewest} or more a point, of {session_count} · higher is better"
    figure, axes = paper(title, note, height=3.8)
    names = rows["strategy"].unique()
    start = pd.DataFrame({"strategy": names})
    start = start.assign(round=0, surviving=1.0, low=1.0, high=1.0)
    rows = pd.concat([start, rows])
    rows = rows.assign(x=rows["round"])
    labels = _curves(axes, run, rows, names, "surviving", len(names))
    last_round = int(rows["round"].max())
    axes.set_xticks(range(last_round + 1))
    axes.set_xlabel("compactions since it was stated")
    axes.set_ylabel("entities still in the context, %")
    axes.set_ylim(-6, 106)
    name_ends(figure, axes, labels)
    return figure


def _curves(
    axes: Axes,
    run: Tables,
    rows: pd.DataFrame,
    names: Sequence[str],
    column: str,
    abreast: int | None = None,
) -> list[Label]:
    """A line a strategy over `x`, shares; the labels for their ends. Contenders stand side by side
    with their 95 % intervals, however near their places are; references have none.
    """
    styles = looks(run.strategies)
    labels = []
    if abreast is None:
        abreast = len(run.contenders)
    middle = (abreast - 1) / 2
    for index, name in enumerate(names):
        points = rows[rows["strategy"] == name]
        style = styles[name]
        is_reference = name in REFERENCES
        x = points["x"].to_numpy(dtype=float)
        mean = 100 * points[column].to_numpy(dtype=float)
        intervals = None
        shift = 0.0
        if not is_reference:
            low = 100 * points["low"].to_numpy(dtype=float)
            high = 100 * points["high"].to_numpy(dtype=float)
            intervals = [mean - low, high - mean]
            shift = min(BESIDE, ABREAST / abreast) * (index - middle)
        moved = ScaledTranslation(shift / POINTS, 0, axes.figure.dpi_scale_trans)
        axes.errorbar(
            x,
            mean,
            intervals,
            transform=axes.transData + moved,
            linestyle="--" if is_reference else "-",
            color=style.colour,
            marker=style.mark,
            ms=7,
            mec="none",
            lw=1.8,
            elinewidth=1.5,
        )
        # what is moved beside its place does not widen the axis by itself
        axes.update_datalim(np.column_stack([x, mean]))
        axes.autoscale_view()
        label = Label(name, float(x[-1]), float(mean[-1]), style.colour)
        labels.append(label)
    return labels


def spending(findings: Findings, session: str | None = None) -> Figure:
    """What one session has cost after each request, under each strategy, with where compaction
    has paid off.
    """
    run = findings.tables
    title = "What one session has cost, request by request"
    if session is None:
        session = typical(run)
    rows = run.steps[run.steps["session"] == session]
    rows = rows[rows["usd"].notna()].sort_values("request")
    if rows.empty:
        return words(
            title, "Nothing to draw: no session with prices was replayed request by request."
        )
    requests = some(int(rows["request"].nunique()), "request")
    note = (
        f"n = {requests} of one session · ● no dearer than without compaction from here · lower is"
        " cheaper"
    )
    figure, axes = paper(title, note)
    bills = run.costs[run.costs["session"] == session].set_index("strategy")
    by_strategy = rows.groupby("strategy")
    breaks_even = by_strategy.cumcount() == rows["strategy"].map(bills["even_at"])
    rows = rows.assign(y=by_strategy["usd"].cumsum(), marked=breaks_even)
    labels = _steps(axes, rows, by_cost(run))
    axes.set_xlabel("request")
    axes.set_ylabel("all requests so far, USD")
    axes.set_ylim(0, 1.08 * max(label.y for label in labels))
    axes.margins(x=0.01)
    name_ends(figure, axes, labels)
    return figure


def _steps(axes: Axes, rows: pd.DataFrame, names: Sequence[str]) -> list[Label]:
    """A line a strategy over the requests, with a dot where a row is `marked`; the labels for
    their ends.
    """
    styles = looks(names)
    labels = []
    for name in names:
        steps = rows[rows["strategy"] == name].sort_values("request")
        if steps.empty:
            continue
        colour = styles[name].colour
        is_reference = name in REFERENCES
        line = "--" if is_reference else "-"
        axes.plot(steps["request"], steps["y"], line, color=colour, lw=1.7)
        marked = steps[steps["marked"]]
        if len(marked) and not is_reference:
            axes.plot(marked["request"], marked["y"], "o", color=colour, ms=7, mec="none")
        end = steps.iloc[-1]
        label = Label(name, float(end["request"]), float(end["y"]), colour)
        labels.append(label)
    return labels
