"""What filled each request of a recorded agent, as areas over time, with its compactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import pandas as pd

from workbench.report.explorer.scale import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Scale
from workbench.report.explorer.sources import COLOURS

HEIGHT = 260
"""Of the picture."""
MOST_COLUMNS = 400
"""Requests that are drawn; of more, every second, third and so on."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The area of one kind of source.

    Attributes:
        source: the kind.
        colour: of the area.
        points: its corners.
    """

    source: str
    colour: str
    points: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A compaction of the recorded agent, at the first request after it."""

    request: int
    label: str


@dataclass(frozen=True, slots=True)
class AreaChart:
    """The picture, whose place of a request is `scale.x(request)`.

    Attributes:
        layers: each on top of those before.
        prompts: the corners of the line of whole prompts.
        marks: where the agent compacted.
    """

    scale: Scale
    layers: list[Layer]
    prompts: str
    marks: list[Mark]

    width: int = WIDTH
    left_edge: int = LEFT
    right_edge: int = WIDTH - RIGHT
    top: int = TOP

    @property
    def floor(self) -> int:
        """Where no tokens are drawn."""
        return self.scale.height - BOTTOM


def area_chart(rows: pd.DataFrame, compactions: Mapping[int, str]) -> AreaChart | None:
    """What filled each request; None without one.

    Args:
        rows: as `wb.composition` has them.
        compactions: what the agent did before the message of each of these indices.
    """
    if rows.empty:
        return None
    tokens = rows.pivot_table(
        index="request",
        columns="source",
        values="tokens",
        aggfunc="sum",
        fill_value=0.0,
    )
    prompts = tokens.sum(axis=1)
    tokens = tokens.clip(lower=0.0)
    most_tokens = float(tokens.sum(axis=1).max() or 1.0)
    last_request = len(tokens) - 1
    scale = Scale(max(last_request, 1), 1.06 * most_tokens, HEIGHT)
    step = ceil(len(tokens) / MOST_COLUMNS)
    marks: list[Mark] = []
    for message, kind in compactions.items():
        marks.append(Mark(first_request(rows, message), f"{kind} before message {message}"))
    return AreaChart(
        scale=scale,
        layers=_layers(scale, tokens.iloc[::step]),
        prompts=" ".join(scale.corners(prompts.iloc[::step].items())),
        marks=marks,
    )


def first_request(rows: pd.DataFrame, message: int) -> int:
    """The first request whose answer is the message or comes after it; else the last one.

    Args:
        rows: as `wb.composition` has them.
        message: its index.
    """
    answers = rows.groupby("request")["message"].first()
    earlier_count = int((answers < message).sum())
    return min(earlier_count, len(answers) - 1)


def _layers(scale: Scale, tokens: pd.DataFrame) -> list[Layer]:
    """An area a source, each on top of those before."""
    layers: list[Layer] = []
    below = pd.Series(0.0, index=tokens.index)
    for source, colour in COLOURS.items():
        if source not in tokens:
            continue
        above = below + tokens[source]
        corners = scale.corners(above.items())
        corners += reversed(scale.corners(below.items()))
        layers.append(Layer(source, colour, " ".join(corners)))
        below = above
    return layers
