"""The words of lines with their places, as flat arrays: what stands near what.

A chunk counts one in distance; marks add more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.base.ragged import Flags, Ints, growing, integers, ranges
from workbench.evaluation.metrics.exam.tokens import tokens
from workbench.evaluation.metrics.exam.vocabulary import Small, Vocabulary

NEAR = 3
"""How many chunks a word such as `not` denies."""


@dataclass(frozen=True, slots=True, eq=False)
class LineWords:
    """The features of some lines, each feature of a line once: by line, then by feature.

    Attributes:
        line, feature: (words,) of each.
        begin, end: (words,) where its places are, in `position`.
        position: (places,) where it stands, growing.
        word_key: (words,) the place key of a word at the position 0.
        place_key: (places,) of the word and the position, growing.
    """

    line: Ints
    feature: Ints
    begin: Ints
    end: Ints
    position: Ints
    word_key: Ints
    place_key: Ints

    @classmethod
    def of(cls, feature: Ints, line: Ints, position: Ints) -> LineWords:
        """Those of some places, line after line, with the feature and the position of each."""
        by_feature = growing(feature)
        by_line = growing(line[by_feature])
        order = by_feature[by_line]
        feature = feature[order]
        line = line[order]
        position = position[order]
        is_other_feature = feature[1:] != feature[:-1]
        is_other_line = line[1:] != line[:-1]
        place_count = len(order)
        # no places, no word
        begins_word = np.append(True, is_other_feature | is_other_line)
        begin = np.flatnonzero(begins_word[:place_count])
        end = np.append(begin, place_count)[1:]
        last_position = int(position.max(initial=0))
        word_key = np.arange(len(begin)) * (last_position + 2)
        key_of_place = np.repeat(word_key, end - begin)
        return cls(
            line=line[begin],
            feature=feature[begin],
            begin=begin,
            end=end,
            position=position,
            word_key=word_key,
            place_key=key_of_place + position,
        )

    def in_lines(self, lines: Ints) -> Ints:
        """The words of some lines."""
        start = np.searchsorted(self.line, lines)
        stop = np.searchsorted(self.line, lines, "right")
        _, words = ranges(start, stop - start)
        return words

    def next_from(self, word: Ints, position: Ints) -> Ints:
        """The first place of each word at a position or behind it; its end where there is none."""
        key = self.word_key[word] + position
        return np.searchsorted(self.place_key, key)


class Lines:
    """The chunks of some lines. Places count on from line to line.

    Attributes:
        count: number of lines; `start`: (lines,) the place before each one's first chunk.
        segment, segment_pos, segment_line: (segments,) number, place and line of each segment.
        feature, feature_pos, feature_line: (features,) the same of features.
        denied: (segments,) whether a word of its clause denies it; `negated`: whether one such as
            `not` does.
        passive: (lines,) whether a word such as `by` may turn the direction of its relations.
    """

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        self.count = len(texts)
        numbers = _token_numbers(texts, vocabulary)
        token = vocabulary.properties(numbers)
        place = np.cumsum(token.step, dtype=np.int64)
        line = np.cumsum(token.ends_line, dtype=np.int64)
        earlier_clauses = np.cumsum(token.ends_clause, dtype=np.int64)
        clause = line + earlier_clauses
        is_last_of_line = token.ends_line > 0
        line_ends = place[is_last_of_line]
        self.start = np.concatenate(([0], line_ends))
        self.segment, row = vocabulary.segments_of(numbers)
        self.segment_pos = place[row]
        self.segment_line = line[row]
        denied, negated = _denied(token.denial, token.is_chunk, clause)
        self.denied = denied[row]
        self.negated = negated[row]
        self.feature, row = vocabulary.features_of(numbers)
        self.feature_pos = place[row]
        self.feature_line = line[row]
        self.passive: Flags = np.zeros(self.count, dtype=bool)
        turns = token.turns > 0
        turned_lines = line[turns]
        self.passive[turned_lines] = True
        negates = token.negates > 0
        self._negations = place[negates]

    @cached_property
    def words(self) -> LineWords:
        """Each feature of each line once, with its places."""
        return LineWords.of(self.feature, self.feature_line, self.feature_pos)

    def negated_before(self, position: Ints, reach: int) -> Flags:
        """Whether a negation stands before each place, at most so far."""
        first_position = position - reach
        earlier_count = np.searchsorted(self._negations, position)
        too_early_count = np.searchsorted(self._negations, first_position)
        return earlier_count > too_early_count


def _token_numbers(texts: Sequence[str], vocabulary: Vocabulary) -> Ints:
    """The numbers of the tokens of some lines, one line after the other."""
    return integers(vocabulary[token] for token in _tokens_of(texts))


def _tokens_of(texts: Iterable[str]) -> Iterator[str]:
    """The tokens of some lines, each of which ends with a mark; never those of all at once."""
    for text in texts:
        line = text.replace("\n", " ")
        yield from tokens(f"{line}\n")


def _denied(denial: Small, is_chunk: Small, clause: Ints) -> tuple[Flags, Flags]:
    """For each token whether a word of its clause denies it, and whether that is one of `DENIES`.

    Args:
        denial: see `Properties.denial`.
        is_chunk: whether a token is a chunk.
        clause: the number of the clause, in growing order.
    """
    token_count = len(clause)
    denied = np.zeros(token_count, dtype=bool)
    negated = np.zeros(token_count, dtype=bool)
    chunks = np.flatnonzero(is_chunk)
    denies = (denial > 0) & (denial < 5)
    rows = np.flatnonzero(denies)
    chunk_places = np.searchsorted(chunks, rows)
    clause_ends = np.searchsorted(clause, clause[rows], "right")
    denying_words = zip(
        rows.tolist(),
        chunk_places.tolist(),
        clause_ends.tolist(),
        strict=True,
    )
    for row, chunk, clause_end in denying_words:
        kind = denial[row]
        start = row + 1
        stop = token_count
        if kind == 3:
            nearest_chunk = max(chunk - NEAR, 0)
            start = chunks[nearest_chunk]
        if kind in (1, 4):
            last_chunk = min(chunk + NEAR, len(chunks) - 1)
            stop = chunks[last_chunk] + 1
        if kind == 4:
            # "from 500 to 750" denies 500
            is_to = denial[start:stop] == 5
            to_steps = np.flatnonzero(is_to)
            stop = start
            if len(to_steps):
                stop = start + to_steps[0]
        stop = min(stop, clause_end)
        flags = denied
        if kind == 1:
            flags = negated
        is_same_clause = clause[start:stop] == clause[row]
        flags[start:stop] |= is_same_clause
    return denied | negated, negated
