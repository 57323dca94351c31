"""How close the words of a cue stand to each candidate, in lines."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.evaluation.metrics.exam.item import RELATED, Item
from workbench.evaluation.metrics.exam.tokens import Lines, Names, Vocabulary, joined
from workbench.evaluation.metrics.indexes.arrays import columns_of, flags

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

    Of open work, `says_done` says whether the line calls it done.
    """

    cell: Ints
    line: Ints
    score: Floats
    says_done: Flags | bool = False


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
        rows: list[tuple[int, int, float, int]] = []
        for item, (cue, side) in enumerate(zip(cues, sides, strict=True)):
            for name, weight in cue.items():
                rows.append((vocabulary.features[name], item, weight, side.get(name, 0)))
        rows.sort()
        columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        self._feature = columns[0].astype(np.int64)
        self._item = columns[1].astype(np.int64)
        self._weight = columns[2]
        self._side = columns[3]

    def near(
        self,
        lines: Lines,
        item: Ints,
        first_row: Ints,
        last_row: Ints,
        behind_inside: bool = True,
    ) -> Floats:
        """How close an item's cue stands to each of some places: the sum of its parts, each by its
        nearest place.

        Args:
            lines: any.
            item: (places,) whose cue is looked for.
            first_row: (places,) the row of the lines' segments with which each place begins.
            last_row: (places,) the row with which it ends.
            behind_inside: whether a part that occurs inside a place is also looked for behind it.
        """
        line = lines.segment_line[first_row]
        place, part, feature_row = self._parts_beside(lines, item, line)
        position = lines.feature_pos[feature_row]
        steps_before = lines.segment_pos[first_row][place] - position
        steps_behind = position - lines.segment_pos[last_row][place]
        distance = np.maximum(steps_before, steps_behind)
        closeness = self._weight[part] / (1 + np.maximum(distance, 0) / REACH)
        value = np.where(distance > 0, closeness, 0.0)
        side = self._side[part] * np.sign(steps_behind - steps_before)
        value = np.where(side == -1, OTHER_SIDE * value, value)
        is_reversed = (side == -RELATED) & ~lines.passive[line[place]]
        value = np.where(is_reversed, 0.0, value)
        part_starts = starts(place * len(self._feature) + part)
        if not len(part_starts):
            return _sums(place, value, len(item))
        if not behind_inside:
            is_inside = np.maximum.reduceat(distance <= 0, part_starts)
            row_counts = np.diff(part_starts, append=len(place))
            value[np.repeat(is_inside, row_counts) & (steps_behind > 0)] = 0.0
        nearest = np.maximum.reduceat(value, part_starts)
        return _sums(place[part_starts], nearest, len(item))

    def _parts_beside(self, lines: Lines, item: Ints, line: Ints) -> tuple[Ints, Ints, Ints]:
        """Each place with each part of its item's cue in its line: place, part, and the part's row
        in the lines' features.
        """
        line_count = max(lines.count, 1)
        row = lines.features_of(np.unique(line))
        match, part = joined(lines.feature[row], self._feature)
        row = row[match]
        order = np.lexsort((part, self._item[part] * line_count + lines.feature_line[row]))
        row = row[order]
        part = part[order]
        part_key = self._item[part] * line_count + lines.feature_line[row]
        place, match = joined(item * line_count + line, part_key)
        return place, part[match], row[match]


def _sums(place: Ints, values: Floats, place_count: int) -> Floats:
    """(places,) the sum of the values of each place."""
    return np.asarray(np.bincount(place, values, minlength=place_count), dtype=np.float64)


class Closeness:
    """Items with a cue, made ready to be looked up in lines; `width` is the most candidates."""

    def __init__(self, items: Sequence[Item], vocabulary: Vocabulary, width: int) -> None:
        with_cue = [(number, item) for number, item in enumerate(items) if item.cue]
        names: list[str] = []
        for _, item in with_cue:
            names += item.candidates
        self.names = Names(names, vocabulary)
        rows: list[tuple[int, int]] = []
        for number, item in with_cue:
            for cell, name in enumerate(item.candidates, start=number * width):
                rows.append((self.names.place[name], cell))
        rows.sort()
        self._name, self._cell = columns_of(rows, 2)
        cues = [item.cue for item in items]
        sides = [item.sides for item in items]
        self._cues = Cues(cues, sides, vocabulary)
        self._denied = flags(item.denied for item in items)
        self._width = width

    def hits(self, lines: Lines) -> Hits:
        """The highest score of each candidate in each line that holds it."""
        name, row = self.names.found(lines)
        match, pair = joined(name, self._name)
        cell = self._cell[pair]
        first_row = row[match]
        last_row = first_row + self.names.length[name[match]] - 1
        line = lines.segment_line[first_row]
        item = cell // self._width
        score = self._cues.near(lines, item, first_row, last_row)
        score = score * agrees(lines, first_row, self._denied[item])
        cell_in_line = cell * max(lines.count, 1) + line
        order = np.argsort(cell_in_line, kind="stable")
        cell_starts = starts(cell_in_line[order])
        best = np.maximum.reduceat(score[order], cell_starts) if len(cell_starts) else score
        rows = order[cell_starts]
        return Hits(cell[rows], line[rows], best)


def agrees(lines: Lines, rows: Ints, denied: Flags | bool) -> Floats:
    """What remains of a name's score at some rows, where the evidence denies it or does not."""
    is_same = lines.denied[rows] == denied
    only_line_negates = lines.negated[rows] & ~np.asarray(denied)
    share_where_different = np.where(only_line_negates, 0.0, DENIAL)
    share: Floats = np.where(is_same, 1.0, share_where_different)
    return share


def starts(keys: Ints) -> Ints:
    """Where runs of equal keys begin."""
    begins = np.ones(min(len(keys), 1), dtype=bool)
    return np.flatnonzero(np.concatenate((begins, keys[1:] != keys[:-1])))
