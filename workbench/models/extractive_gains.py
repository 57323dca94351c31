"""What lines gain by the exact names in them, as arrays: thousands of lines are weighed at every compaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain
from operator import mul
from typing import TYPE_CHECKING, TypeAlias

from workbench.models.extractive_reading import Read, Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known of each atom at hand, once each.

    Attributes:
        atoms: their numbers.
        spoken, heard: how many messages said each, and how many results held it.
        last: the newest message that did; -1 for an atom that only the earlier summary holds.
        slots: for each atom of each candidate its place among `atoms`.
    """

    atoms: Ints
    spoken: Ints
    heard: Ints
    last: Ints
    slots: Ints

    @classmethod
    def of(cls, reads: Sequence[Read], earlier: Sequence[Span], held: Sequence[Sequence[int]], most: int) -> Known:
        """The atoms of what was read and of the candidates; numbers are below `most`."""
        import numpy as np

        spoken, heard = _flat([read.spoken for read in reads]), _flat([read.heard for read in reads])
        before, wanted = _flat([span.atoms for span in earlier]), _flat(held)
        every = np.concatenate((spoken, heard, before, wanted))
        slot = np.empty(most, dtype=np.int64)  # only the places that are written are ever touched
        slot[every] = np.arange(len(every))
        atoms = every[slot[every] == np.arange(len(every))]
        slot[atoms] = np.arange(len(atoms))
        counts = np.bincount(slot[spoken], minlength=len(atoms))
        once = np.zeros(len(atoms), dtype=np.int64)
        once[slot[before]] = 1
        last = np.full(len(atoms), -1)
        at = np.arange(len(reads))
        np.maximum.at(last, slot[spoken], np.repeat(at, [len(read.spoken) for read in reads]))
        np.maximum.at(last, slot[heard], np.repeat(at, [len(read.heard) for read in reads]))
        return cls(atoms, counts + once, np.bincount(slot[heard], minlength=len(atoms)), last, slot[wanted])


def _flat(rows: Sequence[Sequence[int]]) -> Ints:
    import numpy as np

    return np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=sum(map(len, rows)))


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """What candidates gain by their atoms.

    Attributes:
        starts: where each candidate's atoms begin, one entry more than candidates.
        slots, gain: each candidate's atoms, by number, and what it gains by each.
        prose: what each gains by its words alone.
        cost: tokens.
        left: for each atom what is left of its worth.
    """

    starts: Ints
    slots: Ints
    gain: Floats
    prose: Floats
    cost: Floats
    left: Floats

    def best(self, tokens: float, again: float) -> list[int]:
        """The candidates of the most gain a token, of about so many tokens in all, in the order of their choice.

        Args:
            tokens: the most that they may cost, but for the last.
            again: what is left of an atom's worth once a chosen candidate holds it.
        """
        import numpy as np

        worth = self._worth()
        order = np.argsort(-worth, kind="stable")
        fresh = zip((-worth[order]).tolist(), order.tolist(), strict=True)  # what nothing chosen has touched yet
        again_weighed: list[tuple[float, int]] = []
        starts, slots, left = self.starts.tolist(), self.slots.tolist(), self.left.tolist()
        gain, prose, cost = self.gain.tolist(), self.prose.tolist(), self.cost.tolist()
        chosen: list[int] = []
        spent = 0.0
        ahead = next(fresh, None)
        while spent < tokens and (ahead is not None or again_weighed):
            if ahead is None or (again_weighed and again_weighed[0] < ahead):
                before, i = heappop(again_weighed)
            else:
                before, i = ahead
                ahead = next(fresh, None)
            mine = slice(starts[i], starts[i + 1])
            held = slots[mine]
            now = -(sum(map(mul, gain[mine], map(left.__getitem__, held)), prose[i]) / cost[i])
            if now > before:  # it gained more before others were chosen
                heappush(again_weighed, (now, i))
                continue
            chosen.append(i)
            spent += cost[i]
            for atom in held:
                left[atom] *= again
        return chosen

    def _worth(self) -> Floats:
        """Gain a token of each, summed in the same order as one by one."""
        import numpy as np

        n = len(self.cost)
        owner = np.concatenate((np.arange(n), np.repeat(np.arange(n), np.diff(self.starts))))
        gained = np.concatenate((self.prose, self.gain * self.left[self.slots]))
        return np.bincount(owner, gained, minlength=n) / self.cost


def powers(counts: Ints, exponent: float) -> Floats:
    """(1 + count) ** exponent, as Python works it out: the same on every machine's numpy."""
    import numpy as np

    table = [(1 + count) ** exponent for count in range(int(counts.max(initial=0)) + 1)]
    return np.array(table, dtype=np.float64)[counts]
