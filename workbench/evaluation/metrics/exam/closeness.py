"""How close the words of a cue stand to each candidate, in lines."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.evaluation.metrics.exam.item import RELATED, Item
from workbench.evaluation.metrics.exam.tokens import Lines, Names, Vocabulary, joined

REACH = 4.0
"""The distance over which closeness halves: 1 / (1 + distance / `REACH`)."""
DENIAL = 0.25
"""What remains of a score where a line calls a name obsolete and the evidence does not; nothing
where it says `not`.

The same remains where the evidence denies a name and a line does not.
"""
OTHER_SIDE = 0.25
"""What a word counts that stands before a name and behind it in the evidence, or the other way
round.
"""


class Hits(NamedTuple):
    """The scores of candidates in lines, one row for each line that holds one; `cell` is item times
    width + candidate.

    Of open work, `done` says whether the line calls it done.
    """

    cell: Ints
    line: Ints
    score: Floats
    done: Flags | bool = False


class Cues:
    """The cues of some items, made ready to be looked up in lines.

    Args:
        cues: of each item, by weight.
        sides: of each item, as `Item.sides`.
        vocabulary: of the lines.
    """

    def __init__(
        self,
        cues: Sequence[Mapping[str, float]],
        sides: Sequence[Mapping[str, int]],
        vocabulary: Vocabulary,
    ) -> None:
        rows = sorted(
            (vocabulary.features[name], i, weight, side.get(name, 0))
            for i, (cue, side) in enumerate(zip(cues, sides, strict=True))
            for name, weight in cue.items()
        )
        feature, item, self._weight, self._side = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        self._feature, self._item = feature.astype(np.int64), item.astype(np.int64)

    def near(
        self, lines: Lines, item: Ints, first: Ints, last: Ints, beyond: bool = True
    ) -> Floats:
        """How close an item's cue stands to each of some places: the sum of its parts, each by its
        nearest place.

        Args:
            lines: any.
            item: (places,) whose cue is looked for.
            first: (places,) the row of the lines' segments with which each place begins.
            last: (places,) the row with which it ends.
            beyond: whether a part that occurs inside a place is also looked for behind it.
        """
        n, line = max(lines.count, 1), lines.segment_line[first]
        row = lines.features_of(np.unique(line))
        at, cue = joined(lines.feature[row], self._feature)
        at = row[at]
        order = np.lexsort((cue, self._item[cue] * n + lines.feature_line[at]))
        at, cue = at[order], cue[order]
        place, beside = joined(item * n + line, self._item[cue] * n + lines.feature_line[at])
        part, pos = cue[beside], lines.feature_pos[at[beside]]
        before, behind = lines.segment_pos[first][place] - pos, pos - lines.segment_pos[last][place]
        distance = np.maximum(before, behind)
        value = np.where(
            distance > 0, self._weight[part] / (1 + np.maximum(distance, 0) / REACH), 0.0
        )
        side = self._side[part] * np.sign(behind - before)
        value = np.where(side == -1, OTHER_SIDE * value, value)
        value = np.where((side == -RELATED) & ~lines.passive[line[place]], 0.0, value)
        start = starts(place * len(self._feature) + part)
        if not beyond and len(start):
            inside = np.maximum.reduceat(distance <= 0, start)
            value[np.repeat(inside, np.diff(start, append=len(place))) & (behind > 0)] = 0.0
        best = np.maximum.reduceat(value, start) if len(start) else value
        return np.asarray(np.bincount(place[start], best, minlength=len(item)), dtype=np.float64)


class Closeness:
    """Items with a cue, made ready to be looked up in lines; `width` is the number of candidates
    of the largest.
    """

    def __init__(self, items: Sequence[Item], vocabulary: Vocabulary, width: int) -> None:
        asked = [(i, item) for i, item in enumerate(items) if item.cue]
        self.names = Names([name for _, item in asked for name in item.candidates], vocabulary)
        rows = sorted(
            (self.names.place[name], i * width + c)
            for i, item in asked
            for c, name in enumerate(item.candidates)
        )
        self._name, self._cell = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        self._cues = Cues([item.cue for item in items], [item.sides for item in items], vocabulary)
        self._denied = np.array([item.denied for item in items], dtype=bool)
        self._width = width

    def hits(self, lines: Lines) -> Hits:
        """The score of each candidate in each line that holds it, the highest of its places
        there.
        """
        name, row = self.names.found(lines)
        at, pair = joined(name, self._name)
        cell, first = self._cell[pair], row[at]
        item = cell // self._width
        score = self._cues.near(lines, item, first, first + self.names.length[name[at]] - 1)
        score = score * agrees(lines, first, self._denied[item])
        key = cell * max(lines.count, 1) + lines.segment_line[first]
        order = np.argsort(key, kind="stable")
        start = starts(key[order])
        best = np.maximum.reduceat(score[order], start) if len(start) else score
        rows = order[start]
        return Hits(cell[rows], lines.segment_line[first][rows], best)


def agrees(lines: Lines, rows: Ints, denied: Flags | bool) -> Floats:
    """What remains of a name's score at some rows, where the evidence denies it or does not."""
    same = lines.denied[rows] == denied
    found: Floats = np.where(
        same, 1.0, np.where(lines.negated[rows] & ~np.asarray(denied), 0.0, DENIAL)
    )
    return found


def starts(keys: Ints) -> Ints:
    """Where runs of equal keys begin."""
    return np.flatnonzero(
        np.concatenate((np.ones(min(len(keys), 1), dtype=bool), keys[1:] != keys[:-1]))
    )
