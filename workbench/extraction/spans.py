"""The spans of one session, each under its number, without a second copy of what was said."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_SMALLEST = 1 << 10
_BITS = (1 << 31) - 1


class Spans:
    """Numbers texts in the order in which they are first met; a text stays where it was said.

    A table with open addressing over plain arrays: some 20 bytes a span, where a dict of texts takes 200.

    Attributes:
        fresh: the texts that were newly numbered; whoever works on them empties it.
    """

    def __init__(self) -> None:
        self._sources: list[str] = []
        self._source = array("i")  # by span: the text that holds it, where it begins there, and how long it is
        self._start = array("i")
        self._size = array("H")
        self._hash = array("i")
        self._table = array("i", bytes(4 * _SMALLEST))  # number + 1 of the span that a slot holds, 0 for none
        self.fresh: list[str] = []

    def __len__(self) -> int:
        return len(self._start)

    def __getitem__(self, number: int) -> str:
        start = self._start[number]
        return self._sources[self._source[number]][start : start + self._size[number]]

    @property
    def sizes(self) -> array[int]:
        """How many characters each span has, as 16 bits each. It may not grow while somebody holds a view of it."""
        return self._size

    def texts(self, first: int) -> list[str]:
        """The texts of the spans from this number on."""
        sources, sizes = self._sources, self._size[first:]
        places = zip(self._source[first:], self._start[first:], sizes, strict=True)
        return [sources[source][start : start + size] for source, start, size in places]

    def known(self, pieces: Sequence[str]) -> list[int]:
        """The numbers of texts, -1 for one that has none."""
        table, hashes = self._table, self._hash
        mask = len(table) - 1
        found: list[int] = []
        for piece in pieces:
            key = hash(piece) & _BITS
            slot = key & mask
            while (number := table[slot]) and not (hashes[number - 1] == key and self[number - 1] == piece):
                slot = (slot + 1) & mask
            found.append(number - 1)
        return found

    def numbers(self, pieces: Sequence[str], source: str) -> list[int]:
        """The numbers of texts, new ones for new texts.

        Args:
            pieces: different texts, in the order in which they stand in the source, each shorter than 2^16 characters.
            source: the text that they were cut from; it is kept if it holds a new one.
        """
        if 2 * (len(self) + len(pieces)) > len(self._table):
            self._grow(len(self) + len(pieces))
        table, hashes, known = self._table, self._hash, len(self)
        mask, count = len(table) - 1, known
        keys = [hash(piece) & _BITS for piece in pieces]
        found: list[int] = []
        new: list[int] = []
        for i, key in enumerate(keys):
            slot = key & mask
            while number := table[slot]:
                # What came with the same source is not written down yet: its texts are all different.
                if number <= known and hashes[number - 1] == key and self[number - 1] == pieces[i]:
                    found.append(number - 1)
                    break
                slot = (slot + 1) & mask
            else:
                found.append(count)
                count += 1
                table[slot] = count
                new.append(i)
        if len(new) == len(pieces):
            self._take(pieces, keys, source)
        elif new:
            self._take([pieces[i] for i in new], [keys[i] for i in new], source)
        return found

    def _take(self, new: Sequence[str], keys: list[int], source: str) -> None:
        """Write down where new texts stand."""
        find, at, here = source.find, 0, len(self._sources)
        self._sources.append(source)
        starts = [at := find(piece, at) for piece in new]
        places = [here] * len(new)
        if -1 in starts:  # something inside one was left out: it stands nowhere as it is
            starts = list(map(find, new))
            for i in [i for i, start in enumerate(starts) if start < 0]:
                places[i], starts[i] = len(self._sources), 0
                self._sources.append(new[i])
        self._source.fromlist(places)
        self._start.fromlist(starts)
        self._size.fromlist(list(map(len, new)))
        self._hash.fromlist(keys)
        self.fresh += new

    def _grow(self, wanted: int) -> None:
        slots = len(self._table)
        while slots < 2 * wanted:
            slots *= 2
        table = self._table = array("i", bytes(4 * slots))
        mask = slots - 1
        for number, key in enumerate(self._hash, 1):
            slot = key & mask
            while table[slot]:
                slot = (slot + 1) & mask
            table[slot] = number
