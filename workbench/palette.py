"""One colour and one mark for each strategy, the same in every chart and distinct for the colour-blind."""

from collections.abc import Iterable
from itertools import cycle
from typing import NamedTuple

REFERENCES = ("none", "oracle", "random", "null")
"""References: they mark the ends of the scale and are no way of compacting."""


class Look(NamedTuple):
    """How a strategy is drawn: a colour as `#rrggbb`, and a mark in matplotlib's letters."""

    colour: str
    mark: str


KNOWN = {
    "none": Look("#8a8f98", "s"),
    "null": Look("#8a8f98", "v"),
    "random": Look("#8a8f98", "x"),
    "oracle": Look("#8a8f98", "*"),
    "truncate": Look("#d55e00", "^"),
    "summarize": Look("#0072b2", "o"),
    "pipeline": Look("#009e73", "D"),
}
# After Okabe and Ito's set of eight, less the yellow that white paper swallows.
OTHERS = (
    Look("#cc79a7", "P"), Look("#e69f00", "X"), Look("#56b4e9", "h"), Look("#8c564b", "<"), Look("#7b61c4", ">"),
    Look("#b5a400", "p"), Look("#17a3b8", "d"), Look("#c23b6b", "H"),
)  # fmt: skip


def looks(strategies: Iterable[str]) -> dict[str, Look]:
    """A look for each strategy. Those that the workbench ships keep theirs in every chart."""
    spare = cycle(OTHERS)
    return {name: KNOWN.get(name) or next(spare) for name in dict.fromkeys(strategies)}
