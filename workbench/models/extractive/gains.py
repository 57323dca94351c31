"""What lines gain by the exact names in them, as arrays: thousands of lines are weighed at every compaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.models.extractive.reading import Ints, Reads

Floats: TypeAlias = NDArray[np.float64]


_NONE = (inf, -1)
"""Stands behind the last candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known of each entity at hand, once each.

    Attributes:
        entities: their numbers.
        spoken, heard: how many messages said each, and how many results held it.
        last: the newest message that did; -1 for an entity that only the earlier summary holds.
        slots: for each entity of each candidate its place among `entities`.
    """

    entities: Ints
    spoken: Ints
    heard: Ints
    last: Ints
    slots: Ints

    @classmethod
    def of(cls, reads: Reads, earlier: Ints, wanted: Ints, most: int) -> Known:
        """The entities of what was read, of the earlier summary and of the candidates; numbers are below `most`."""
        every = np.concatenate((reads.spoken, reads.heard, earlier, wanted))
        slot = np.empty(most, dtype=np.int64)  # only the places that are written are ever touched
        slot[every] = np.arange(len(every))
        entities = every[slot[every] == np.arange(len(every))]
        slot[entities] = np.arange(len(entities))
        spoken, heard = slot[reads.spoken], slot[reads.heard]
        counts = np.bincount(spoken, minlength=len(entities))
        once = np.zeros(len(entities), dtype=np.int64)
        once[slot[earlier]] = 1
        said, held = np.full(len(entities), -1), np.full(len(entities), -1)
        said[spoken], held[heard] = reads.spoken_at, reads.heard_at  # in order: the newest stays
        last = np.maximum(said, held)
        return cls(entities, counts + once, np.bincount(heard, minlength=len(entities)), last, slot[wanted])


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """What candidates gain by their entities.

    Attributes:
        starts: where each candidate's entities begin, one entry more than candidates.
        slots, gain: each candidate's entities, by number, and what it gains by each.
        prose: what each gains by its words alone.
        cost: tokens.
        left: for each entity what is left of its worth.
    """

    starts: Ints
    slots: Ints
    gain: Floats
    prose: Floats
    cost: Floats
    left: Floats

    def best(self, tokens: float, again: float) -> Iterator[int]:
        """The candidates of the most gain a token, of about so many tokens in all, in the order of their choice.

        Args:
            tokens: the most that they may cost, but for the last.
            again: what is left of an entity's worth once a chosen candidate holds it.
        """
        below = -self._worth()
        order = np.argsort(below, kind="stable")
        fresh = zip(below[order].tolist(), order.tolist(), strict=True)  # what nothing chosen has touched yet
        weighed: list[tuple[float, int]] = []  # and what has been weighed again since
        starts, slots, left = self.starts.tolist(), self.slots.tolist(), self.left.tolist()
        held = list(map(range, starts, starts[1:]))
        gain, prose, cost = self.gain.tolist(), self.prose.tolist(), self.cost.tolist()
        spent = 0.0
        ahead = next(fresh, _NONE)
        while spent < tokens:
            if weighed and weighed[0] < ahead:
                before, i = heappop(weighed)
            elif ahead is _NONE:
                break
            else:
                before, i = ahead
                ahead = next(fresh, _NONE)
            gained = prose[i]
            for at in held[i]:  # most lines name one thing or two
                gained += gain[at] * left[slots[at]]
            now = -(gained / cost[i])
            if now > before:  # it gained more before others were chosen
                heappush(weighed, (now, i))
                continue
            spent += cost[i]
            for at in held[i]:
                left[slots[at]] *= again
            yield i

    def _worth(self) -> Floats:
        """Gain a token of each, summed in the same order as one by one."""
        n = len(self.cost)
        owner = np.concatenate((np.arange(n), np.repeat(np.arange(n), np.diff(self.starts))))
        gained = np.concatenate((self.prose, self.gain * self.left[self.slots]))
        return np.bincount(owner, gained, minlength=n) / self.cost


def powers(counts: Ints, exponent: float) -> Floats:
    """(1 + count) ** exponent, as Python works it out: the same on every machine's numpy."""
    table = [(1 + count) ** exponent for count in range(int(counts.max(initial=0)) + 1)]
    return np.array(table, dtype=np.float64)[counts]
