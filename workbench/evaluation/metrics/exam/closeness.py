"""How close the words of a cue stand to each candidate, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.base.ragged import Flags, Floats, Ints, growing, ranges
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

    @classmethod
    def none(cls) -> Hits:
        """Those of no lines."""
        numbers = np.zeros(0, dtype=np.int64)
        flags_of_rows = np.zeros(0, dtype=bool)
        return cls(
            cell=numbers,
            line=numbers,
            score=np.zeros(0),
            says_done=flags_of_rows,
        )


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
                row = (feature, item, weight, side)
                rows.append(row)
        rows.sort()
        table = np.array(rows, dtype=np.float64)
        columns = table.reshape(-1, 4).T
        feature_column, item_column, weights, sides_of_rows = columns
        self._feature = feature_column.astype(np.int64)
        self._item = item_column.astype(np.int64)
        self._weight = weights
        self._side = sides_of_rows

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
        line_count = max(lines.count, 1)
        key = item * line_count + line
        first_words = np.searchsorted(words.key, key)
        end_words = np.searchsorted(words.key, key, "right")
        word_counts = end_words - first_words
        sums = np.zeros(len(item))
        # some places at a time: a long line may have many, each with many parts
        batch = np.cumsum(word_counts) // PAIRS_AT_ONCE
        steps_between_batches = np.diff(batch, append=-1)
        last_places = np.flatnonzero(steps_between_batches)
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
            place_count = end - begin
            sums[batch_rows] = _sums(place, values, place_count)
            begin = end
        return sums

    def _words_in(self, lines: Lines, item: Ints, line: Ints) -> _CueWords:
        """The parts of the items' cues in the lines of some places, each part of a line once."""
        line_count = max(lines.count, 1)
        row = self._rows_of_cues(lines, np.unique(line))
        feature = lines.feature[row]
        feature_line = lines.feature_line[row]
        line_key = feature * line_count + feature_line
        begin = starts(line_key)
        next_begins = begin[1:]
        end = np.append(next_begins, len(row))
        distinct_feature = feature[begin]
        match, part = joined(distinct_feature, self._feature)
        first_row = begin[match]
        line_of_match = feature_line[first_row]
        item_of_match = self._item[part]
        key = item_of_match * line_count + line_of_match
        order = np.lexsort((part, key))
        match = match[order]
        position = lines.feature_pos[row]
        last_position = int(position.max(initial=0))
        feature_key = feature * (last_position + 2)
        return _CueWords(
            key=key[order],
            part=part[order],
            begin=begin[match],
            end=end[match],
            position=position,
            feature_key=feature_key,
            place_key=feature_key + position,
        )

    def _rows_of_cues(self, lines: Lines, distinct_lines: Ints) -> Ints:
        """The rows of the features of some lines that a cue has.

        They are in order of the feature; the lines of each follow one another, and so do its places
        in them.
        """
        row = lines.features_of(distinct_lines)
        features = np.unique(self._feature)
        # small numbers, which are sorted many times as fast
        number = numbers_among(features, lines.feature[row])
        is_of_cue = number < len(features)
        row = row[is_of_cue]
        number_of_cue = number[is_of_cue]
        by_feature = np.argsort(number_of_cue, kind="stable")
        return row[by_feature]

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
        next_behind = next_inside
        if behind_inside:
            next_behind = words.next_from(begin, last_position + 1)
        is_before = next_inside > begin
        is_behind = next_behind < end
        row_before = np.where(is_before, next_inside - 1, begin)
        row_behind = np.where(is_behind, next_behind, begin)
        steps_before = first_position - words.position[row_before]
        steps_behind = words.position[row_behind] - last_position
        is_behind &= steps_behind > 0
        line = lines.segment_line[first_row]
        is_passive = lines.passive[line]
        passive = is_passive[place]
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
        weight = self._weight[part]
        value = weight / (1 + distance)
        side_of_part = self._side[part] * side
        is_on_other_side = side_of_part == -1
        value = np.where(is_on_other_side, OTHER_SIDE * value, value)
        is_related_otherwise = side_of_part == -RELATED
        is_reversed = is_related_otherwise & ~passive
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
            first_cell = number * width
            for cell, name in enumerate(item.candidates, start=first_cell):
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
        name, row = self._places_to_read(lines)
        match, pair = joined(name, self._name)
        cell = self._cell[pair]
        first_row = row[match]
        name_of_match = name[match]
        length = self.names.length[name_of_match]
        last_row = first_row + length - 1
        line = lines.segment_line[first_row]
        item = cell // self._width
        closeness = self._cues.near(lines, item, first_row, last_row)
        is_denied = self._denied[item]
        score = closeness * agrees(lines, first_row, is_denied)
        line_count = max(lines.count, 1)
        cell_in_line = cell * line_count + line
        order = np.argsort(cell_in_line, kind="stable")
        cell_starts = starts(cell_in_line[order])
        best = score
        if len(cell_starts):
            sorted_score = score[order]
            best = np.maximum.reduceat(sorted_score, cell_starts)
        rows = order[cell_starts]
        return Hits(
            cell=cell[rows],
            line=line[rows],
            score=best,
        )

    def _places_to_read(self, lines: Lines) -> tuple[Ints, Ints]:
        """Each name with each row at which it begins; of a name in one line the first places."""
        name, row = self.names.found(lines)
        line = lines.segment_line[row]
        if not len(line):
            return name, row
        place_counts = np.bincount(line)
        if place_counts.max() <= MOST_PLACES:
            return name, row
        name_in_line = name * lines.count + line
        is_read = among_first(name_in_line, MOST_PLACES)
        return name[is_read], row[is_read]


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
    largest_distinct = distinct.max(initial=0)
    largest_value = values.max(initial=0)
    table_size = int(max(largest_distinct, largest_value)) + 1
    distinct_count = len(distinct)
    smallest_type = np.min_scalar_type(distinct_count)
    table = np.full(table_size, distinct_count, dtype=smallest_type)
    table[distinct] = np.arange(distinct_count)
    return table[values]


def among_first(keys: Ints, row_limit: int) -> Flags:
    """Whether each row is among the first so many with its key."""
    is_among_first: Flags = ranks(keys) < row_limit
    return is_among_first


def ranks(keys: Ints) -> Ints:
    """How many earlier rows have each row's key; keys are 0 or larger."""
    order = growing(keys)
    key_count = len(keys)
    begin = starts(keys[order])
    row_counts = np.diff(begin, append=key_count)
    begin_of_row = np.repeat(begin, row_counts)
    rank = np.zeros(key_count, dtype=np.int64)
    rank[order] = np.arange(key_count) - begin_of_row
    return rank


def starts(keys: Ints) -> Ints:
    """Where runs of equal keys begin."""
    # no keys, no run
    first_count = min(len(keys), 1)
    first_begins = np.ones(first_count, dtype=bool)
    is_other_key = keys[1:] != keys[:-1]
    begins = np.concatenate((first_begins, is_other_key))
    return np.flatnonzero(begins)
