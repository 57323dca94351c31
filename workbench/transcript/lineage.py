"""Which messages a context has from the one that it grew out of, so that none of them need be looked at again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from workbench.transcript.quick import quickly_made

if TYPE_CHECKING:
    from workbench.transcript.roll import Roll

MOST = 6
"""Ancestors that a context knows: a stage asks again at the next compaction, some steps later."""

ALL = sys.maxsize


class Mark:
    """Stands for one context, and holds what was found out about it.

    Attributes:
        settled: how many of its first messages somebody found to need nothing, by the `id()` of who found it.
        roll: who stands in it; taken away by the context that it is followed to.
    """

    __slots__ = ("roll", "settled")

    def __init__(self) -> None:
        self.settled: dict[int, tuple[object, int]] = {}
        self.roll: Roll | None = None


@quickly_made
@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """A context and those that it grew out of, newest first: each with how much it has in common with them.

    Attributes:
        steps: a mark for each, and how many messages and sizes of that context are this one's first and last ones: the
            same objects. What lies between them may differ.
    """

    steps: tuple[tuple[Mark, int, int], ...]

    @classmethod
    def new(cls) -> Self:
        """Of a context that was put together from nothing that is known."""
        return cls(((Mark(), ALL, ALL),))

    def grown(self, head: int, tail: int) -> Lineage:
        """Of a context that has the first `head` and the last `tail` messages of this one's."""
        older = [
            (mark, first if first < head else head, last if last < tail else tail)  # `min` takes three times as long
            for mark, first, last in self.steps[: MOST - 1]
        ]
        return Lineage(((Mark(), ALL, ALL), *older))

    def shared(self, older: Lineage) -> tuple[int, int]:
        """How many of the first and of the last messages are those of an older context; nothing where it is no kin."""
        mark = older.steps[0][0]
        for known, head, tail in self.steps:
            if known is mark:
                return head, tail
        return 0, 0

    def settled(self, by: object) -> int:
        """How many of the first messages need nothing, as far as `by` said so of this context or an older one."""
        for mark, head, _ in self.steps:
            known = mark.settled.get(id(by))
            if known is not None:
                return min(known[1], head)
        return 0

    def settle(self, by: object, many: int) -> None:
        """Note that so many of the first messages need nothing, whatever comes behind them."""
        self.steps[0][0].settled[id(by)] = (by, many)  # who is named lives as long as the note: no other has its id
