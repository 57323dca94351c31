"""What all charts share: colours, labels that do not overlap, and SVG that takes its colours
from the page.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from workbench.base.markup import render
from workbench.evaluation.metrics import NAMES, WORK

HALF = 5.6
"""Inches of a chart that is beside another."""
AXIS_NAMES = {
    WORK: "questions about the work answered, %",
    NAMES: "names told, %",
}
"""What the axis of each half of the headline counts."""
INK = "#1f2328"
MUTED = "#656d76"
RULE = "#d5dae0"
_THEMED = {
    INK: "currentColor",
    MUTED: "var(--muted, #656d76)",
    RULE: "var(--rule, #d5dae0)",
}
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": RULE,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.fonttype": "path",
    "svg.hashsalt": "workbench",
}


def paper(
    title: str,
    note: str,
    *,
    width: float = 7.6,
    height: float = 4.2,
) -> tuple[Figure, Axes]:
    """An empty figure (sizes in inches) with one axis, a title, and below it n and which
    direction is better.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set_title(title, pad=24)
        note_text = axes.text(
            0,
            1,
            note,
            transform=axes.transAxes,
            va="bottom",
            color=MUTED,
            fontsize=9.5,
            gid="note",
        )
        note_text.set_y(1.02)
    return figure, axes


def words(title: str, sentence: str) -> Figure:
    """A figure that says in words why there is nothing to draw."""
    figure, axes = paper(title, "", height=1.6)
    axes.set_axis_off()
    axes.text(0, 0.75, sentence, transform=axes.transAxes, color=MUTED, va="top", wrap=True)
    ConstrainedLayoutEngine().execute(figure)
    return figure


@dataclass(frozen=True, slots=True)
class Label:
    """A name beside the point that it names, in data coordinates."""

    text: str
    x: float
    y: float
    colour: str = INK


def name_ends(figure: Figure, axes: Axes, labels: Sequence[Label]) -> None:
    """Write each label right of the axis, at the height of its point or as near as the others
    allow.
    """
    ConstrainedLayoutEngine().execute(figure)  # once: labels are placed where they will be drawn
    _make_room(figure, axes, labels)
    low, high = axes.get_ylim()
    points_high = axes.get_window_extent().height * 72 / figure.dpi
    step = (high - low) * 14 / points_high
    ordered = sorted(labels, key=lambda label: label.y)
    heights = apart([label.y for label in ordered], step, low, high)
    for label, height in zip(ordered, heights, strict=True):
        axes.annotate(
            label.text,
            (label.x, label.y),
            (1.035, height),
            xycoords="data",
            textcoords=("axes fraction", "data"),
            va="center",
            color=INK,
            fontsize=9.5,
            fontweight="bold",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": label.colour,
                "lw": 1.0,
                "ls": (0, (1, 2)),
                "relpos": (0, 0.5),
            },
        )


def _make_room(figure: Figure, axes: Axes, labels: Sequence[Label]) -> None:
    """Narrow the axes, so that the longest label fits right of them."""
    longest = max((7.2 * len(label.text) for label in labels), default=0.0)
    points_wide = 72 * figure.get_figwidth()
    room = (longest + 22) / points_wide
    place = axes.get_position()
    right = min(place.x1, 1 - room)
    width = max(0.3, right - place.x0)
    axes.set_position((place.x0, place.y0, width, place.height))


def apart(heights: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Heights at least `step` apart, as near to the wanted ones, which rise, as room between low
    and high allows.

    This is isotonic regression by pooling neighbours: to import scipy's would cost each page a
    fifth of a second.
    """
    offsets = step * np.arange(len(heights))
    shifted = np.asarray(heights) - offsets
    pools: list[list[float]] = []
    for height in shifted.tolist():
        pools.append([height])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            last_pool = pools.pop()
            pools[-1] = pools[-1] + last_pool
    pooled: list[float] = []
    for pool in pools:
        pooled += [fmean(pool)] * len(pool)
    highest = max(low, high - offsets.max(initial=0))
    placed = np.clip(pooled, low, highest) + offsets
    return [float(height) for height in placed]


def svg(figure: Figure, name: str, alt: str = "") -> str:
    """The figure as one `<svg>` element that takes its ink from the page; its ids start with
    `name`.
    """
    out = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(
            out,
            format="svg",
            metadata={"Date": None, "Creator": None},
            transparent=True,
        )
    text = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.DOTALL)
    text = re.sub(r'( id="|xlink:href="#|url\(#)', rf"\g<1>{name}-", text)
    for colour, themed in _THEMED.items():
        text = text.replace(colour, themed)
    _, _, drawing = text.partition("<svg ")
    return render("report/figure.svg", alt=alt, drawing=drawing)


def png(figure: Figure) -> bytes:
    """The figure as a crisp picture on white, for places that show no SVG."""
    out = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(out, format="png", dpi=144, facecolor="white")
    return out.getvalue()
