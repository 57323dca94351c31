"""One colour and one mark for each strategy, the same in every chart and told apart by the colour-blind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

REFERENCES = ("none", "oracle", "random", "null")
"""References: they mark the ends of the scale and are no way of compacting."""


@dataclass(frozen=True, slots=True)
class Look:
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
    """A look for each strategy. Those that the workbench ships keep theirs whatever stands beside them."""
    found: dict[str, Look] = {}
    spare = 0
    for name in strategies:
        if name in KNOWN:
            found[name] = KNOWN[name]
        elif name not in found:
            found[name] = OTHERS[spare % len(OTHERS)]
            spare += 1
    return found
