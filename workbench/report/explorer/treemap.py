"""A treemap: rectangles that fill a picture, each as large as its share and as square as may be."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from workbench.report.explorer.sources import COLOURS, OTHER, source_words

WIDTH = 1000
HEIGHT = 320
LABEL_WIDTH = 8
"""Room that a letter of a label takes."""
LABEL_HEIGHT = 20
"""Room that a line of it takes."""
BLACK = "#111"
WHITE = "#fff"
LIGHT = 0.19
"""The luminance of a colour, 0 to 1, from which black letters are read better on it than white
ones: there the contrasts of WCAG 2.2 are equal.
"""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle in the picture."""

    x: float
    y: float
    width: float
    height: float

    def beside(self, area: float) -> Rectangle:
        """What is left of it when a part of its area is taken along the shorter side."""
        if self.width >= self.height:
            used = area / self.height
            return replace(
                self,
                x=self.x + used,
                width=self.width - used,
            )
        used = area / self.width
        return replace(
            self,
            y=self.y + used,
            height=self.height - used,
        )

    def rounded(self) -> Rectangle:
        """The same to a tenth."""
        return Rectangle(
            x=round(self.x, 1),
            y=round(self.y, 1),
            width=round(self.width, 1),
            height=round(self.height, 1),
        )


def squarified(areas: Sequence[float], room: Rectangle) -> Iterator[Rectangle]:
    """A rectangle an area, in their order, which together fill the room.

    Source: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000: a row along the shorter side
    takes the next area for as long as that makes its rectangles no longer.

    Args:
        areas: above 0, largest first; their sum is the area of the room.
        room: to be filled.
    """
    row: list[float] = []
    for area in areas:
        side = min(room.width, room.height)
        if row and _worst_ratio([*row, area], side) > _worst_ratio(row, side):
            yield from _laid_out(row, room)
            room = room.beside(sum(row))
            row = []
        row.append(area)
    yield from _laid_out(row, room)


def _worst_ratio(row: Sequence[float], side: float) -> float:
    """How many times as long as wide the longest rectangle of a row is."""
    thickness = sum(row) / max(side, 1e-9)
    ratios = []
    for area in row:
        length = area / max(thickness, 1e-9)
        ratios.append(max(length / thickness, thickness / length))
    return max(ratios)


def _laid_out(row: Sequence[float], room: Rectangle) -> Iterator[Rectangle]:
    """The rectangles of a row along the shorter side of a room."""
    is_upright = room.width >= room.height
    side = min(room.width, room.height)
    thickness = sum(row) / max(side, 1e-9)
    x = room.x
    y = room.y
    for area in row:
        length = area / max(thickness, 1e-9)
        if is_upright:
            yield Rectangle(x, y, thickness, length)
            y += length
        else:
            yield Rectangle(x, y, length, thickness)
            x += length


@dataclass(frozen=True, slots=True)
class Tile:
    """A rectangle with who filled it.

    Attributes:
        place: in the picture.
        colour, ink: of the rectangle, and of the letters on it.
        who: in words.
        tokens, share: of the request.
        label: as much of `who` as fits; empty where nothing does.
        is_tall: whether the share fits below it.
    """

    place: Rectangle
    colour: str
    ink: str
    who: str
    tokens: int
    share: float
    label: str
    is_tall: bool


def treemap(rows: pd.DataFrame) -> list[Tile]:
    """What fills the context of one request, the largest first.

    Args:
        rows: of one request, as `wb.composition` has them.
    """
    is_positive = rows["tokens"] > 0
    positive = rows[is_positive].sort_values("tokens", ascending=False)
    total = float(positive["tokens"].sum())
    if not total:
        return []
    prompt = max(float(rows["tokens"].sum()), 1.0)
    areas = positive["tokens"] * WIDTH * HEIGHT / total
    picture = Rectangle(0, 0, WIDTH, HEIGHT)
    places = squarified(areas.tolist(), picture)
    tiles = []
    for row, place in zip(positive.to_dict("records"), places, strict=True):
        tiles.append(_tile(row, place, prompt))
    return tiles


def _tile(row: Mapping[Hashable, object], place: Rectangle, prompt: float) -> Tile:
    source = str(row["source"])
    tokens = float(str(row["tokens"]))
    who = source_words(source, str(row["name"]))
    colour = COLOURS.get(source, OTHER)
    has_two_lines = place.height >= 2 * LABEL_HEIGHT
    has_six_letters = place.width >= 6 * LABEL_WIDTH
    return Tile(
        place=place.rounded(),
        colour=colour,
        ink=_ink(colour),
        who=who,
        tokens=round(tokens),
        share=tokens / prompt,
        label=_label(who, str(row["name"]), place),
        is_tall=has_two_lines and has_six_letters,
    )


def _ink(colour: str) -> str:
    """The letters that are read best on a colour such as `#d9cd5c`."""
    red = _light(colour[1:3])
    green = _light(colour[3:5])
    blue = _light(colour[5:7])
    luminance = 0.2126 * red
    luminance += 0.7152 * green
    luminance += 0.0722 * blue
    if luminance > LIGHT:
        return BLACK
    return WHITE


def _light(hexadecimal: str) -> float:
    """How much light a channel of sRGB gives, 0 to 1."""
    value = int(hexadecimal, 16)
    signal = value / 255
    if signal <= 0.04045:
        return signal / 12.92
    lifted = signal + 0.055
    lifted /= 1.055
    return float(lifted**2.4)


def _label(who: str, name: str, place: Rectangle) -> str:
    """As much of `who` as fits into a rectangle; of a tool's calls or results its name, where only
    that fits: the colour says the rest.
    """
    letters = int((place.width - 12) / LABEL_WIDTH)
    if letters < 3 or place.height < LABEL_HEIGHT:
        return ""
    if len(who) <= letters:
        return who
    if name:
        who = name
    if len(who) <= letters:
        return who
    beginning = who[: letters - 1].rstrip()
    return f"{beginning}…"
