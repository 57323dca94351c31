"""How close the words of a cue stand to each candidate, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, growing, ranges
from workbench.evaluation.metrics.exam.item import RELATED, Item
from workbench.evaluation.metrics.exam.lines import Lines, LineWords
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
        first_position = lines.segment_pos[first_row]
        last_position = lines.segment_pos[last_row]
        # the places of each line in their order: what grows is found many times as fast
        order = np.lexsort((first_position, key))
        key = key[order]
        first_words = np.searchsorted(words.key, key)
        end_words = np.searchsorted(words.key, key, "right")
        sums = np.zeros(len(item))
        # some places at a time: a long line may have many, each with many parts
        word_counts = end_words - first_words
        batch = np.cumsum(word_counts) // PAIRS_AT_ONCE
        steps_between_batches = np.diff(batch, append=-1)
        last_places = np.flatnonzero(steps_between_batches)
        begin = 0
        for last_place in last_places.tolist():
            end = last_place + 1
            batch_rows = order[begin:end]
            words_of_batch = slice(
                first_words[begin],
                end_words[last_place],
            )
            sums[batch_rows] = words.sums_near(
                words_of_batch,
                key[begin:end],
                first_position[batch_rows],
                last_position[batch_rows],
                behind_inside,
            )
            begin = end
        return sums

    def _words_in(self, lines: Lines, item: Ints, line: Ints) -> _CueWords:
        """The parts of the items' cues in the lines of some places, each part of a line once."""
        line_count = max(lines.count, 1)
        word = lines.words.in_lines(np.unique(line))
        match, part = joined(lines.words.feature[word], self._feature)
        word = word[match]
        line_of_word = lines.words.line[word]
        key = self._item[part] * line_count + line_of_word
        order = np.lexsort((part, key))
        part = part[order]
        is_passive = lines.passive[line_of_word[order]]
        return _CueWords(
            key=key[order],
            word=word[order],
            weight_before=self._weights(part, -1, is_passive),
            weight_behind=self._weights(part, 1, is_passive),
            words=lines.words,
        )

    def _weights(self, part: Ints, side: int, is_passive: Flags) -> Floats:
        """(parts,) what parts of a cue count right before (-1) or behind (1) a name, in lines that
        are passive or not.
        """
        weight = self._weight[part]
        side_of_part = self._side[part] * side
        is_on_other_side = side_of_part == -1
        weight = np.where(is_on_other_side, OTHER_SIDE * weight, weight)
        is_related_otherwise = side_of_part == -RELATED
        is_reversed = is_related_otherwise & ~is_passive
        return np.where(is_reversed, 0.0, weight)


@dataclass(frozen=True, slots=True, eq=False)
class _CueWords:
    """The parts of cues that some lines have: a row for each part of an item and each line.

    Attributes:
        key: (rows,) of the item and the line, growing.
        word: (rows,) which of `words` the part is there.
        weight_before, weight_behind: (rows,) what the part counts right before a name, and right behind it.
        words: of the lines.
    """

    key: Ints
    word: Ints
    weight_before: Floats
    weight_behind: Floats
    words: LineWords

    def sums_near(
        self,
        rows: slice,
        key: Ints,
        first_position: Ints,
        last_position: Ints,
        behind_inside: bool,
    ) -> Floats:
        """(names,) what the parts in the lines of some names count, each by its nearest place.

        Args:
            rows: of the parts.
            key: (names,) of the item and the line of each, growing.
            first_position: (names,) where each begins.
            last_position: (names,) where it ends.
            behind_inside: see `Cues.near`.
        """
        key_of_parts = self.key[rows]
        first_names = np.searchsorted(key, key_of_parts)
        end_names = np.searchsorted(key, key_of_parts, "right")
        name_counts = end_names - first_names
        part, name = ranges(first_names, name_counts)
        part += rows.start
        words = self.words
        word = self.word[part]
        begin = words.begin[word]
        end = words.end[word]
        name_begin = first_position[name]
        name_end = last_position[name]
        next_inside = words.next_from(word, name_begin)
        next_behind = next_inside
        if behind_inside:
            next_behind = words.next_from(word, name_end + 1)
        place_before = np.maximum(next_inside - 1, begin)
        place_behind = np.minimum(next_behind, end - 1)
        steps_before = name_begin - words.position[place_before]
        steps_behind = words.position[place_behind] - name_end
        worth_before = _worth(
            self.weight_before[part],
            steps_before,
            next_inside > begin,
        )
        worth_behind = _worth(
            self.weight_behind[part],
            steps_behind,
            next_behind < end,
        )
        nearest = np.maximum(worth_before, worth_behind)
        sums = np.bincount(name, nearest, minlength=len(key))
        return np.asarray(sums, dtype=np.float64)


def _worth(weights: Floats, steps: Ints, is_there: Flags) -> Floats:
    """What weights count so many steps away; nothing where they are not there or on the name."""
    counts = is_there & (steps > 0)
    distance = np.where(counts, steps, np.inf) / REACH
    worth: Floats = weights / (1 + distance)
    return worth


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
