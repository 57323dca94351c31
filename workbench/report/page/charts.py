"""The charts of a report: each takes the tables of a run and returns a figure; none shows it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.base.formats import missing, some
from workbench.base.palette import REFERENCES, looks
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.costs import by_cost, typical
from workbench.evaluation.findings.summaries import dots
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES, NAMES, WORK
from workbench.report.page.plot_style import Label, name_ends, paper, words

HALF = 5.6
"""Inches of a chart that is beside another."""
MOST_ROUNDS = 12
MOST_DOTS = 40
"""Sessions beyond which single ones are no longer dotted: the intervals say it better."""
KNOWN = {WORK: "questions about the work answered, %", NAMES: "names told, %"}
"""What the axis of each half of the headline counts."""
POINT_NAMES = {"none": "none (nothing is cut)", "null": "null (last message only)"}


def savings(findings: Findings) -> Figure:
    """What each strategy keeps against what it saves, under its own trigger, with intervals
    where there are enough.
    """
    run = findings.tables
    half = run.leading("natural")
    title = f"{HALVES[half].capitalize()} against savings, own triggers"
    rows = findings.figures.points
    if rows.empty:
        return words(
            title, "Nothing to draw: no session was long enough to be compacted and scored."
        )
    n, look, labels = int(rows["sessions"].max()), looks(run.strategies), []
    figure, axes = paper(
        title, f"{_sessions(rows)} · further right and up is better", height=4.6, width=HALF
    )
    for row in rows.to_dict("records"):
        name, x, y = row["strategy"], 100 * row["saved"], 100 * row["recall"]
        colour = look[name].colour
        if name not in REFERENCES and n <= MOST_DOTS:
            both = 100 * dots(run, name).dropna()
            axes.plot(both["saved"], both["recall"], ".", color=colour, alpha=0.45, ms=7, mew=0)
        if name not in REFERENCES and not missing(row["recall_low"]):
            ends = 100 * np.array(
                [[row["saved_low"], row["saved_high"]], [row["recall_low"], row["recall_high"]]]
            )
            axes.plot(ends[0], [y] * 2, "-", color=colour, lw=1.8, alpha=0.8)
            axes.plot([x] * 2, ends[1], "-", color=colour, lw=1.8, alpha=0.8)
        axes.plot(x, y, look[name].mark, color=colour, ms=10, mec="none")
        fewer = "" if row["sessions"] == n else f" (n = {row['sessions']})"
        labels.append(Label(POINT_NAMES.get(name, name) + fewer, x, y, colour))
    axes.margins(x=0.12)
    axes.set(xlabel="tokens saved, % of an uncompacted agent's", ylabel=KNOWN[half], ylim=(-6, 108))
    name_ends(figure, axes, labels)
    return figure


def _sessions(rows: pd.DataFrame) -> str:
    """How many sessions the points rest on: `n = 10 sessions`, `n = 2 to 3 of 3 sessions`."""
    fewest, largest, total = (
        int(rows["sessions"].min()),
        int(rows["sessions"].max()),
        int(rows["of"].max()),
    )
    reach = f"{fewest:,}" if fewest == largest else f"{fewest:,} to {largest:,}"
    return (
        f"n = {some(total, 'session')}"
        if fewest == total
        else f"n = {reach} of {some(total, 'session')}"
    )


def equal_size(findings: Findings) -> Figure:
    """What each strategy keeps when all are cut to the same share of the same history."""
    run = findings.tables
    half = run.leading("matched")
    title = f"{HALVES[half].capitalize()} when all are cut to the same size"
    rows, budgets = findings.figures.by_size, run.shares
    larger = {(name, share) for share in budgets for name in run.unranked(share)}
    rows = rows[[pair not in larger for pair in zip(rows["strategy"], rows["share"], strict=True)]]
    if rows.empty:
        return words(
            title, "Nothing to draw: no session had a boundary that could be scored at equal size."
        )
    n = int(rows["sessions"].max())
    figure, axes = paper(
        title, f"n = {some(n, 'session')} · higher is better", height=4.6, width=HALF
    )
    # what is cut to no size is drawn over the others
    is_uncut = rows["strategy"].isin(["none", "null"])
    rows = rows.assign(x=100 * rows["share"].where(is_uncut | rows["used"].isna(), rows["used"]))
    ends = _curves(axes, run, rows, rows["strategy"].unique(), "mean")
    axes.set(xlabel="really kept, % of the history's tokens", ylabel=KNOWN[half], ylim=(-6, 106))
    axes.margins(x=0.1)
    name_ends(figure, axes, ends)
    return figure


def rounds(findings: Findings) -> Figure:
    """What outlives one compaction, two, three: how losses chain under a strategy's own trigger."""
    run = findings.tables
    title = "What survives one compaction, two, three, …"
    rows = findings.figures.by_round
    if rows.empty or rows["round"].max() < 2:
        return words(title, "Nothing to draw: nothing survived more than one compaction.")
    n = int(rows["sessions"].max())
    rows = rows[(rows["sessions"] >= n / 3) & (rows["round"] <= MOST_ROUNDS)]
    note = (
        f"n = {some(int(rows['sessions'].min()), 'session')} or more a point, of {n} · higher is"
        " better"
    )
    figure, axes = paper(title, note, height=3.8)
    names = rows["strategy"].unique()
    start = pd.DataFrame({"strategy": names, "round": 0, "surviving": 1.0, "low": 1.0, "high": 1.0})
    rows = pd.concat([start, rows])
    ends = _curves(axes, run, rows.assign(x=rows["round"]), names, "surviving", len(names))
    axes.set_xticks(range(int(rows["round"].max()) + 1))
    axes.set(
        xlabel="compactions since it was stated",
        ylabel="entities still in the context, %",
        ylim=(-6, 106),
    )
    name_ends(figure, axes, ends)
    return figure


def _curves(
    axes: Axes,
    run: Tables,
    rows: pd.DataFrame,
    names: Sequence[str],
    column: str,
    abreast: int | None = None,
) -> list[Label]:
    """A line a strategy over `x`, shares with their 95 % intervals, side by side; the labels for
    their ends.
    """
    look, ends = looks(run.strategies), []
    middle = ((len(run.contenders) if abreast is None else abreast) - 1) / 2
    for i, name in enumerate(names):
        points, reference = rows[rows["strategy"] == name], name in REFERENCES
        x = points["x"].to_numpy(dtype=float) + (0.0 if reference else 0.05 * (i - middle))
        mean, low, high = (
            100 * points[field].to_numpy(dtype=float) for field in (column, "low", "high")
        )
        axes.errorbar(
            x,
            mean,
            [mean - low, high - mean],
            linestyle="--" if reference else "-",
            color=look[name].colour,
            marker=look[name].mark,
            ms=7,
            mec="none",
            lw=1.8,
            elinewidth=1.5,
        )
        ends.append(Label(name, float(x[-1]), float(mean[-1]), look[name].colour))
    return ends


def spending(findings: Findings, session: str | None = None) -> Figure:
    """What one session has cost after each request, under each strategy, with where compaction
    has paid off.
    """
    run = findings.tables
    title = "What one session has cost, request by request"
    session = typical(run) if session is None else session
    rows = run.steps[(run.steps["session"] == session) & run.steps["usd"].notna()].sort_values(
        "request"
    )
    if rows.empty:
        return words(
            title, "Nothing to draw: no session with prices was replayed request by request."
        )
    n = int(rows["request"].nunique())
    note = (
        f"n = {some(n, 'request')} of one session · ● no dearer than without compaction from here ·"
        " lower is cheaper"
    )
    figure, axes = paper(title, note)
    break_even = run.costs[run.costs["session"] == session].set_index("strategy")["even_at"]
    by_strategy = rows.groupby("strategy")
    rows = rows.assign(
        y=by_strategy["usd"].cumsum(),
        marked=by_strategy.cumcount() == rows["strategy"].map(break_even),
    )
    names = by_cost(run)
    ends = _steps(axes, rows, [name for name in names if name in by_strategy.groups], names)
    axes.set(
        xlabel="request",
        ylabel="all requests so far, USD",
        ylim=(0, 1.08 * max(end.y for end in ends)),
    )
    axes.margins(x=0.01)
    name_ends(figure, axes, ends)
    return figure


def _steps(
    axes: Axes, rows: pd.DataFrame, names: Sequence[str], all_names: Sequence[str]
) -> list[Label]:
    """A line a strategy over the requests, with a dot where a row is `marked`; the labels for
    their ends.
    """
    look, ends = looks(all_names), []
    for name in names:
        steps, colour = rows[rows["strategy"] == name].sort_values("request"), look[name].colour
        axes.plot(
            steps["request"], steps["y"], "--" if name in REFERENCES else "-", color=colour, lw=1.7
        )
        marked = steps[steps["marked"] & (name not in REFERENCES)]
        if len(marked):
            axes.plot(marked["request"], marked["y"], "o", color=colour, ms=7, mec="none")
        ends.append(
            Label(name, float(steps["request"].iloc[-1]), float(steps["y"].iloc[-1]), colour)
        )
    return ends
