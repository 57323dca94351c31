"""Finds many names in many lines at once, by their segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.metrics.exam.tokens import Lines, Vocabulary
from workbench.ragged import Ints, ranges

LONGEST = 8
"""Segments of a name that are compared."""

_NONE: Ints = np.zeros(0, dtype=np.int64)
_FACTOR = np.uint64(1_000_003)


class Names:
    """Names to look for, each once.

    Attributes:
        place: the number of each name.
        length: (names,) segments of each; a name without any is never found.
    """

    def __init__(self, names: Sequence[str], vocabulary: Vocabulary) -> None:
        self.place = {name: number for number, name in enumerate(dict.fromkeys(names))}
        phrases = [vocabulary.phrase(name)[:LONGEST] for name in self.place]
        self.length: Ints = np.array([len(phrase) for phrase in phrases], dtype=np.int64)
        self._first = np.unique(np.array([phrase[0] for phrase in phrases if phrase], dtype=np.int64))
        self._of_length = []
        for length in sorted(set(self.length.tolist()) - {0}):
            which = np.flatnonzero(self.length == length)
            segments = np.array([phrases[one] for one in which.tolist()], dtype=np.uint64) + np.uint64(1)
            key = segments[:, 0]
            for column in range(1, length):
                key = key * _FACTOR + segments[:, column]
            order = np.argsort(key, kind="stable")
            self._of_length.append((length, key[order], which[order]))

    def found(self, lines: Lines) -> tuple[Ints, Ints]:
        """Each name with each row of the lines' segments at which it begins."""
        names, rows = [_NONE], [_NONE]
        start = np.flatnonzero(np.isin(lines.segment, self._first))
        segment = np.append(lines.segment, np.full(LONGEST, -1)).astype(np.uint64) + np.uint64(1)
        line = np.append(lines.segment_line, np.full(LONGEST, -1))
        key, reached = segment[start], 1
        for length, wanted, which in self._of_length:
            while reached < length:
                key = key * _FACTOR + segment[start + reached]
                reached += 1
            place, at = joined(key, wanted)
            row = start[place]
            whole = line[row] == line[row + length - 1]
            names.append(which[at][whole])
            rows.append(row[whole])
        return np.concatenate(names), np.concatenate(rows)


def joined(values: NDArray[np.integer], keys: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Each row of values with each row of the sorted keys that equals it."""
    start = np.searchsorted(keys, values, "left")
    return ranges(start, np.searchsorted(keys, values, "right") - start)
