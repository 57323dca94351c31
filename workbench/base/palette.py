"""One colour and one mark for each strategy, the same in every chart and distinct for the
colour-blind.
"""

from collections.abc import Iterable
from itertools import cycle
from typing import NamedTuple

REFERENCES = ("none", "oracle", "random", "null")
"""References: they mark the ends of the scale and are no way of compacting."""


class Style(NamedTuple):
    """How a strategy is drawn: a colour as `#rrggbb`, and a mark in matplotlib's letters."""

    colour: str
    mark: str


KNOWN = {
    "none": Style("#8a8f98", "s"),
    "null": Style("#8a8f98", "v"),
    "random": Style("#8a8f98", "x"),
    "oracle": Style("#8a8f98", "*"),
    "truncate": Style("#d55e00", "^"),
    "summarize": Style("#0072b2", "o"),
    "pipeline": Style("#009e73", "D"),
}
# After Okabe and Ito's set of eight, less the yellow that white paper swallows.
OTHERS = (
    Style("#cc79a7", "P"), Style("#e69f00", "X"), Style("#56b4e9", "h"), Style("#8c564b", "<"), Style("#7b61c4", ">"),
    Style("#b5a400", "p"), Style("#17a3b8", "d"), Style("#c23b6b", "H"),
)  # fmt: skip


def looks(strategies: Iterable[str]) -> dict[str, Style]:
    """A look for each strategy. Those that the workbench ships keep theirs in every chart."""
    spare = cycle(OTHERS)
    styles: dict[str, Style] = {}
    for name in strategies:
        if name not in styles:
            if name in KNOWN:
                styles[name] = KNOWN[name]
            else:
                styles[name] = next(spare)
    return styles
