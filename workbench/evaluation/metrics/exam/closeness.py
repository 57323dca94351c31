"""How close the words of a cue stand to each candidate, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.base.ragged import Flags, Floats, Ints, ranges
from workbench.evaluation.metrics.exam.item import RELATED, Item
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.names import Names, joined
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary
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

MOST_PLACES = 50
"""Places of one name that are read in one line: the first ones. A line that says a name more often
is a table.
"""
PAIRS_AT_ONCE = 500_000
"""Places with parts of a cue that are looked at together."""


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
        pairs = zip(cues, sides, strict=True)
        for item, (cue, cue_sides) in enumerate(pairs):
            for name, weight in cue.items():
                feature = vocabulary.features[name]
                side = cue_sides.get(name, 0)
                rows.append((feature, item, weight, side))
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
        words = self._words_in(lines, item, line)
        key = item * max(lines.count, 1) + line
        first_words = np.searchsorted(words.key, key)
        end_words = np.searchsorted(words.key, key, "right")
        word_counts = end_words - first_words
        sums = np.zeros(len(item))
        # some places at a time: a long line may have many, each with many parts
        batch = np.cumsum(word_counts) // PAIRS_AT_ONCE
        last_places = np.flatnonzero(np.diff(batch, append=-1))
        begin = 0
        for last_place in last_places.tolist():
            end = last_place + 1
            batch_rows = slice(begin, end)
            place, word = ranges(
                first_words[batch_rows],
                word_counts[batch_rows],
            )
            values = self._nearest(
                lines,
                words,
                place,
                word,
                first_row[batch_rows],
                last_row[batch_rows],
                behind_inside,
            )
            sums[batch_rows] = _sums(place, values, end - begin)
            begin = end
        return sums

    def _words_in(self, lines: Lines, item: Ints, line: Ints) -> _CueWords:
        """The parts of the items' cues in the lines of some places, each part of a line once."""
        line_count = max(lines.count, 1)
        row = lines.features_of(np.unique(line))
        features = np.unique(self._feature)
        # small numbers, which are sorted many times as fast
        number = numbers_among(features, lines.feature[row])
        is_of_cue = number < len(features)
        row = row[is_of_cue]
        # by feature; the lines of each follow one another, and so do its places in them
        by_feature = np.argsort(number[is_of_cue], kind="stable")
        row = row[by_feature]
        feature = lines.feature[row]
        feature_line = lines.feature_line[row]
        begin = starts(feature * line_count + feature_line)
        end = np.append(begin[1:], len(row))
        match, part = joined(feature[begin], self._feature)
        line_of_match = feature_line[begin[match]]
        key = self._item[part] * line_count + line_of_match
        order = np.lexsort((part, key))
        match = match[order]
        position = lines.feature_pos[row]
        span = int(position.max(initial=0)) + 2
        feature_key = feature * span
        return _CueWords(
            key=key[order],
            part=part[order],
            begin=begin[match],
            end=end[match],
            position=position,
            feature_key=feature_key,
            place_key=feature_key + position,
        )

    def _nearest(
        self,
        lines: Lines,
        words: _CueWords,
        place: Ints,
        word: Ints,
        first_row: Ints,
        last_row: Ints,
        behind_inside: bool,
    ) -> Floats:
        """(pairs,) how close a place stands to the nearest place of a part of the cue."""
        begin = words.begin[word]
        end = words.end[word]
        part = words.part[word]
        place_begin = lines.segment_pos[first_row]
        place_end = lines.segment_pos[last_row]
        first_position = place_begin[place]
        last_position = place_end[place]
        next_inside = words.next_from(begin, first_position)
        next_behind = words.next_from(begin, last_position + 1)
        is_before = next_inside > begin
        is_behind = next_behind < end
        if not behind_inside:
            is_behind &= next_behind == next_inside
        row_before = np.where(is_before, next_inside - 1, begin)
        row_behind = np.where(is_behind, next_behind, begin)
        steps_before = first_position - words.position[row_before]
        steps_behind = words.position[row_behind] - last_position
        line = lines.segment_line[first_row]
        passive = lines.passive[line][place]
        value_before = self._value(part, steps_before, -1, passive)
        value_behind = self._value(part, steps_behind, 1, passive)
        nearest: Floats = np.maximum(
            np.where(is_before, value_before, 0.0),
            np.where(is_behind, value_behind, 0.0),
        )
        return nearest

    def _value(self, part: Ints, steps: Ints, side: int, passive: Flags) -> Floats:
        """(pairs,) what a part of a cue counts so many steps before (-1) or behind (1) a place."""
        distance = np.maximum(steps, 0) / REACH
        value = self._weight[part] / (1 + distance)
        side_of_part = self._side[part] * side
        value = np.where(side_of_part == -1, OTHER_SIDE * value, value)
        is_reversed = (side_of_part == -RELATED) & ~passive
        return np.where(is_reversed, 0.0, value)


@dataclass(frozen=True, slots=True, eq=False)
class _CueWords:
    """The parts of cues that some lines have: a row for each part of an item and each line.

    Attributes:
        key: (rows,) of the item and the line, growing.
        part: (rows,) of the cue.
        begin, end: (rows,) where the part's places in the line are, in `position`.
        position: (places,) of the lines' features, by feature, then by position.
        feature_key, place_key: (places,) of the feature, and of the feature and the position.
    """

    key: Ints
    part: Ints
    begin: Ints
    end: Ints
    position: Ints
    feature_key: Ints
    place_key: Ints

    def next_from(self, begin: Ints, position: Ints) -> Ints:
        """The first place at a position or behind it, of those of the feature that begins there."""
        key = self.feature_key[begin] + position
        return np.searchsorted(self.place_key, key)


def _sums(place: Ints, values: Floats, place_count: int) -> Floats:
    """(places,) the sum of the values of each place."""
    sums = np.bincount(place, values, minlength=place_count)
    return np.asarray(sums, dtype=np.float64)


class Closeness:
    """Items with a cue, made ready to be looked up in lines; `width` is the most candidates."""

    def __init__(self, items: Sequence[Item], vocabulary: Vocabulary, width: int) -> None:
        names: list[str] = []
        for item in items:
            if item.cue:
                names += item.candidates
        self.names = Names(names, vocabulary)
        rows: list[tuple[int, int]] = []
        for number, item in enumerate(items):
            if not item.cue:
                continue
            for cell, name in enumerate(item.candidates, start=number * width):
                place = self.names.place[name]
                rows.append((place, cell))
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
        line = lines.segment_line[row]
        if len(line) and np.bincount(line).max() > MOST_PLACES:
            is_read = among_first(name * lines.count + line, MOST_PLACES)
            name = name[is_read]
            row = row[is_read]
        match, pair = joined(name, self._name)
        cell = self._cell[pair]
        first_row = row[match]
        length = self.names.length[name[match]]
        last_row = first_row + length - 1
        line = lines.segment_line[first_row]
        item = cell // self._width
        score = self._cues.near(lines, item, first_row, last_row)
        score = score * agrees(lines, first_row, self._denied[item])
        cell_in_line = cell * max(lines.count, 1) + line
        order = np.argsort(cell_in_line, kind="stable")
        cell_starts = starts(cell_in_line[order])
        best = score
        if len(cell_starts):
            best = np.maximum.reduceat(score[order], cell_starts)
        rows = order[cell_starts]
        return Hits(cell[rows], line[rows], best)


def agrees(lines: Lines, rows: Ints, denied: Flags | bool) -> Floats:
    """What remains of a name's score at some rows, where the evidence denies it or does not."""
    is_same = lines.denied[rows] == denied
    only_line_negates = lines.negated[rows] & ~np.asarray(denied)
    share_where_different = np.where(only_line_negates, 0.0, DENIAL)
    share: Floats = np.where(is_same, 1.0, share_where_different)
    return share


def numbers_among(distinct: Ints, values: Ints) -> NDArray[np.unsignedinteger]:
    """The place of each value among some distinct ones, their number for any other; in as few
    bits as will do.
    """
    largest = max(distinct.max(initial=0), values.max(initial=0))
    smallest_type = np.min_scalar_type(len(distinct))
    table = np.full(int(largest) + 1, len(distinct), dtype=smallest_type)
    table[distinct] = np.arange(len(distinct))
    return table[values]


def among_first(keys: Ints, row_limit: int) -> Flags:
    """Whether each row is among the first so many with its key."""
    is_among_first: Flags = ranks(keys) < row_limit
    return is_among_first


def ranks(keys: Ints) -> Ints:
    """How many earlier rows have each row's key."""
    order = np.argsort(keys, kind="stable")
    begin = starts(keys[order])
    row_counts = np.diff(begin, append=len(keys))
    rank = np.zeros(len(keys), dtype=np.int64)
    begin_of_row = np.repeat(begin, row_counts)
    rank[order] = np.arange(len(keys)) - begin_of_row
    return rank


def starts(keys: Ints) -> Ints:
    """Where runs of equal keys begin."""
    first_begins = np.ones(min(len(keys), 1), dtype=bool)
    is_other_key = keys[1:] != keys[:-1]
    begins = np.concatenate((first_begins, is_other_key))
    return np.flatnonzero(begins)
