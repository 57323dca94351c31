"""Where names stand in lines, and rows joined by their keys."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.base.ragged import Ints, integers, ranges, together
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary

LONGEST = 64
"""Segments of a name that are compared."""
_FACTOR = np.uint64(1_000_003)


class _NamesOfLength(NamedTuple):
    """The names of one length: their keys in growing order, and the number of each."""

    length: int
    keys: NDArray[np.uint64]
    numbers: Ints


class Names:
    """Names to look for, each once.

    Attributes:
        place: the number of each name.
        length: (names,) segments of each; a name without any is never found.
    """

    def __init__(self, names: Sequence[str], vocabulary: Vocabulary) -> None:
        self.place: dict[str, int] = {}
        for name in names:
            if name not in self.place:
                self.place[name] = len(self.place)
        phrases: list[tuple[int, ...]] = []
        first_segments: set[int] = set()
        for name in self.place:
            phrase = vocabulary.phrase(name)
            phrases.append(phrase[:LONGEST])
            first_segments.update(phrase[:1])
        self.length: Ints = integers(map(len, phrases))
        self._first_segments = integers(sorted(first_segments))
        self._of_length: list[_NamesOfLength] = []
        lengths = set(self.length.tolist())
        lengths.discard(0)
        for length in sorted(lengths):
            names_of_length = self._names_of_length(length, phrases)
            self._of_length.append(names_of_length)

    def _names_of_length(self, length: int, phrases: Sequence[tuple[int, ...]]) -> _NamesOfLength:
        is_of_length = self.length == length
        numbers = np.flatnonzero(is_of_length)
        phrases_of_length = [phrases[number] for number in numbers.tolist()]
        segments = np.array(phrases_of_length, dtype=np.uint64)
        segments += np.uint64(1)
        keys = segments[:, 0]
        for column in range(1, length):
            next_segments = segments[:, column]
            keys = keys * _FACTOR + next_segments
        order = np.argsort(keys, kind="stable")
        return _NamesOfLength(
            length=length,
            keys=keys[order],
            numbers=numbers[order],
        )

    def found(self, lines: Lines) -> tuple[Ints, Ints]:
        """Each name with each row of the lines' segments at which it begins."""
        padding = np.full(LONGEST, -1)
        padded_segment = np.append(lines.segment, padding)
        segment = padded_segment.astype(np.uint64)
        segment += np.uint64(1)
        line = np.append(lines.segment_line, padding)
        may_begin = np.isin(lines.segment, self._first_segments)
        start = np.flatnonzero(may_begin)
        key = segment[start]
        key_length = 1
        found_names: list[Ints] = []
        found_rows: list[Ints] = []
        for length, keys, numbers in self._of_length:
            while key_length < length:
                next_segment = segment[start + key_length]
                key = key * _FACTOR + next_segment
                key_length += 1
            place, match = joined(key, keys)
            row = start[place]
            last_row = row + length - 1
            lies_in_one_line = line[row] == line[last_row]
            name = numbers[match]
            found_names.append(name[lies_in_one_line])
            found_rows.append(row[lies_in_one_line])
        return together(found_names), together(found_rows)


def joined(values: NDArray[np.integer], keys: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Each row of values with each row of the sorted keys that equals it."""
    start = np.searchsorted(keys, values, "left")
    stop = np.searchsorted(keys, values, "right")
    return ranges(start, stop - start)
