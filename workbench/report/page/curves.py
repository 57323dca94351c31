"""Charts with a line for each strategy: over the size that is kept, and over compactions."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation, Transform

from workbench.base.formats import some
from workbench.base.palette import REFERENCES, looks
from workbench.base.ragged import Floats
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES
from workbench.report.page.plot_style import AXIS_NAMES, HALF, Label, name_ends, paper, words

POINTS = 72
"""Of paper, in an inch."""
BESIDE = 6.0
"""Points of paper between two strategies at one place of an axis, so that no interval hides
another; all together are no wider than `ABREAST`.
"""
ABREAST = 24.0
MOST_ROUNDS = 12


def equal_size(findings: Findings) -> Figure:
    """What each strategy keeps when all are cut to the same share of the same history."""
    run = findings.tables
    half = run.leading("matched")
    title = f"{HALVES[half].capitalize()} when all are cut to the same size"
    rows = findings.figures.by_size
    for share in run.shares:
        is_unranked = rows["strategy"].isin(run.unranked(share))
        is_at_share = rows["share"] == share
        rows = rows[~(is_unranked & is_at_share)]
    if rows.empty:
        return words(
            title,
            "Nothing to draw: no session had a boundary that could be scored at the same size.",
        )
    note = f"{_sessions_at_sizes(rows)} · higher is better"
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


def _sessions_at_sizes(rows: pd.DataFrame) -> str:
    """On how many sessions the points stand, and whether these are fewer at some sizes."""
    by_size = rows.groupby("share")["sessions"].max()
    fewest, most = int(by_size.min()), int(by_size.max())
    if fewest == most:
        return f"n = {some(most, 'session')}"
    return f"n = {fewest} to {some(most, 'session')}, not the same at each size"


def rounds(findings: Findings) -> Figure:
    """What outlives one compaction, two, three: how losses chain under a strategy's own trigger."""
    run = findings.tables
    title = "What survives one compaction, two, three, …"
    rows = findings.figures.by_round
    if rows.empty or rows["round"].max() < 2:
        return words(title, "Nothing to draw: nothing survived more than one compaction.")
    session_count = int(rows["sessions"].max())
    has_enough_sessions = rows["sessions"] >= session_count / 3
    is_early = rows["round"] <= MOST_ROUNDS
    rows = rows[has_enough_sessions & is_early]
    fewest_sessions = int(rows["sessions"].min())
    fewest = some(fewest_sessions, "session")
    note = f"n = {fewest} or more a point, of {session_count} · higher is better"
    figure, axes = paper(title, note, height=3.8)
    names = rows["strategy"].unique()
    start = pd.DataFrame({"strategy": names})
    start = start.assign(
        round=0,
        surviving=1.0,
        low=1.0,
        high=1.0,
    )
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
        points = rows_with(rows, strategy=name)
        style = styles[name]
        is_reference = name in REFERENCES
        x = points["x"].to_numpy(dtype=float)
        mean = _per_cent(points, column)
        intervals = None
        shift = 0.0
        if not is_reference:
            intervals = _reach(points, mean)
            distance = min(BESIDE, ABREAST / abreast)
            shift = distance * (index - middle)
        axes.errorbar(
            x,
            mean,
            intervals,
            transform=_moved(axes, shift),
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


def _reach(points: pd.DataFrame, mean: Floats) -> list[Floats]:
    """How far the intervals of points reach down from their means, and up."""
    low = _per_cent(points, "low")
    high = _per_cent(points, "high")
    return [mean - low, high - mean]


def _moved(axes: Axes, shift: float) -> Transform:
    """The places of the axes, moved to the right by so many points of paper."""
    inches = shift / POINTS
    step = ScaledTranslation(inches, 0, axes.figure.dpi_scale_trans)
    return axes.transData + step


def _per_cent(rows: pd.DataFrame, column: str) -> Floats:
    """A column of shares in per cent."""
    shares = rows[column].to_numpy(dtype=float)
    per_cent: Floats = 100 * shares
    return per_cent
