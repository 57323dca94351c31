"""For many sets of weighted words at once: how much of each set one stretch of a context has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from scipy import sparse

from workbench.base.ragged import Floats, Ints, integers, ranges, together

ANYWHERE = 1 << 40
"""A window that is longer than any context."""
PAIRS_AT_ONCE = 1_000_000
"""Words of sets in sentences that are looked at together."""
UNKNOWN = -1
"""In the place of the number of a word that a vocabulary does not have."""


@dataclass(frozen=True, slots=True)
class PlacedWords:
    """The words of a vocabulary in a text.

    Attributes:
        numbers: of the words in their vocabulary, in the text's order.
        places: where each stands, counted in content words.
        length: how many content words the text has.
    """

    numbers: Ints
    places: Ints
    length: int

    @classmethod
    def of(cls, words: Sequence[str], vocabulary: Mapping[str, int]) -> PlacedWords:
        """The words of a text that a vocabulary has.

        Args:
            words: the text's content words.
            vocabulary: a number for each word.
        """
        numbers = np.fromiter(map(vocabulary.get, words, repeat(UNKNOWN)), np.int64, len(words))
        places = np.flatnonzero(numbers != UNKNOWN)
        return cls(numbers[places], places, len(words))

    @classmethod
    def joined(cls, parts: Sequence[PlacedWords]) -> PlacedWords:
        """Several texts, one behind the other."""
        lengths = integers(part.length for part in parts)
        starts = np.cumsum(lengths) - lengths
        places = together(part.places + start for part, start in zip(parts, starts, strict=True))
        return cls(together(part.numbers for part in parts), places, int(lengths.sum()))


@dataclass(frozen=True, slots=True)
class WordWindow:
    """Weighted words to look for, and within how many words of a context."""

    weights: Mapping[str, float]
    window: int


class WordWindows:
    """Looks for all of its sets of words in a context at once.

    Args:
        sought: the sets; the result has their order.
        vocabulary: a number for each of their words, and perhaps for others.
    """

    def __init__(self, sought: Sequence[WordWindow], vocabulary: Mapping[str, int]) -> None:
        windows = dict.fromkeys(word_set.window for word_set in sought)
        self._groups = [_SameWindow.of(window, sought, vocabulary) for window in windows]
        totals = [sum(word_set.weights.values()) or 1.0 for word_set in sought]
        self._totals = np.array(totals, dtype=np.float64)
        self._words = len(vocabulary)

    def best_shares(self, text: PlacedWords) -> Floats:
        """(sets,) the largest weighted share of each set that stands within its window, 0 to 1."""
        order = np.argsort(text.numbers, kind="stable")
        by_word = PlacedWords(text.numbers[order], text.places[order], text.length)
        best = np.zeros(len(self._totals))
        for group in self._groups:
            best += group.largest_weights(by_word, self._words, len(best))
        return np.clip(best / self._totals, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _SameWindow:
    """The sets with one window, as entries: a word with its weight in a set."""

    window: int
    sets: Ints
    words: Ints
    weights: Floats

    @classmethod
    def of(
        cls, window: int, sought: Sequence[WordWindow], vocabulary: Mapping[str, int]
    ) -> _SameWindow:
        sets: list[int] = []
        words: list[int] = []
        weights: list[float] = []
        for number, word_set in enumerate(sought):
            if word_set.window == window:
                sets += [number] * len(word_set.weights)
                words += [vocabulary[word] for word in word_set.weights]
                weights += word_set.weights.values()
        return cls(window, integers(sets), integers(words), np.array(weights, dtype=np.float64))

    def largest_weights(self, by_word: PlacedWords, vocabulary: int, sets: int) -> Floats:
        """(sets,) the largest weight of each set in one window of a text whose words are ordered
        by number.
        """
        if self.window >= by_word.length:
            counts = np.bincount(by_word.numbers, minlength=vocabulary)
            is_there = counts[self.words] > 0
            sums = np.bincount(self.sets, self.weights * is_there, minlength=sets)
            return sums.astype(np.float64)
        runs = _WordRuns.of(by_word, self.window)
        run_counts = np.bincount(runs.words, minlength=vocabulary)
        first_runs = np.cumsum(run_counts) - run_counts
        entry, run = ranges(first_runs[self.words], run_counts[self.words])
        if not len(run):
            return np.zeros(sets)
        changes = _WeightChanges.of(
            self.sets[entry],
            self.weights[entry],
            runs.begins[run],
            runs.ends[run],
        )
        return changes.largest_sums(sets, by_word.length)


@dataclass(frozen=True, slots=True)
class _WordRuns:
    """Where words count: each from its place on until its window ends; places of a word that are
    nearer than a window are one run.

    Attributes:
        words: (runs,) the number of the word.
        begins, ends: (runs,) the places at which it begins and ends to count.
    """

    words: Ints
    begins: Ints
    ends: Ints

    @classmethod
    def of(cls, by_word: PlacedWords, window: int) -> _WordRuns:
        """The runs of a text whose words are ordered by number."""
        numbers = by_word.numbers
        places = by_word.places
        is_new_word = numbers[1:] != numbers[:-1]
        is_far = places[1:] - places[:-1] >= window
        begins_run = np.append(True, is_new_word | is_far)[: len(numbers)]
        ends_run = np.append(begins_run[1:], True)[: len(numbers)]
        window_ends = places[ends_run] + window
        return cls(
            words=numbers[begins_run],
            begins=places[begins_run],
            ends=np.minimum(window_ends, by_word.length),
        )


@dataclass(frozen=True, slots=True)
class _WeightChanges:
    """How the weights of sets change along a text: what a word adds where it begins to count is
    taken off where it ends.

    Attributes:
        sets: (changes,) the set of each.
        weights: (changes,) what is added.
        moments: (changes,) when, twice the place: what ends at a place goes before what begins.
    """

    sets: Ints
    weights: Floats
    moments: Ints

    @classmethod
    def of(cls, sets: Ints, weights: Floats, begins: Ints, ends: Ints) -> _WeightChanges:
        """The changes of words that count from their begins to their ends, each in one set."""
        return cls(
            sets=np.tile(sets, 2),
            weights=np.concatenate((weights, -weights)),
            moments=np.concatenate((2 * begins + 1, 2 * ends)),
        )

    def largest_sums(self, set_count: int, text_length: int) -> Floats:
        """(sets,) the largest sum of weights that each set has at any moment."""
        moments_a_set = 2 * text_length + 2
        order = np.argsort(self.sets * moments_a_set + self.moments, kind="stable")
        sets = self.sets[order]
        running_sums = np.cumsum(self.weights[order])
        begins_set = np.append(True, sets[1:] != sets[:-1])
        starts = np.flatnonzero(begins_set)
        sums_before = np.where(starts > 0, running_sums[starts - 1], 0.0)
        largest = np.zeros(set_count)
        largest[sets[starts]] = np.maximum.reduceat(running_sums, starts) - sums_before
        return largest


@dataclass(frozen=True, slots=True)
class SentenceShares:
    """Sets of words in sentences: each pair with the weighted share of the set that is there."""

    sets: Ints
    sentences: Ints
    shares: Floats


class SentenceWords:
    """Looks for sets of weighted words in single sentences.

    Args:
        sought: the weights of the words of each set.
        vocabulary: a number for each of the words.
    """

    def __init__(
        self, sought: Sequence[Mapping[str, float]], vocabulary: Mapping[str, int]
    ) -> None:
        sets: list[int] = []
        words: list[int] = []
        weights: list[float] = []
        for number, word_set in enumerate(sought):
            sets += [number] * len(word_set)
            words += [vocabulary[word] for word in word_set]
            weights += word_set.values()
        shape = (len(sought), len(vocabulary))
        self._weights = sparse.csr_array((weights, (sets, words)), shape=shape, dtype=np.float64)
        self._sets_with = np.bincount(integers(words), minlength=len(vocabulary))
        self._totals = np.array([sum(word_set.values()) or 1.0 for word_set in sought])

    def shares_above(self, bar: float, text: PlacedWords) -> SentenceShares:
        """The sets of which a sentence has more than a share; a place is a sentence's number."""
        # some sentences at a time: most pairs are below the bar, and all of them may be many
        pair_counts = np.bincount(text.places, self._sets_with[text.numbers], minlength=text.length)
        batch = (np.cumsum(pair_counts) // PAIRS_AT_ONCE)[text.places]
        parts = []
        for number in np.unique(batch):
            is_now = batch == number
            parts.append(self._above(bar, text.numbers[is_now], text.places[is_now]))
        return SentenceShares(
            together(part.sets for part in parts),
            together(part.sentences for part in parts),
            np.concatenate([np.zeros(0), *(part.shares for part in parts)]),
        )

    def _above(self, bar: float, words: Ints, sentences: Ints) -> SentenceShares:
        distinct, column = np.unique(sentences, return_inverse=True)
        shape = (self._weights.shape[1], len(distinct))
        is_there = sparse.csr_array((np.ones(len(words)), (words, column)), shape=shape)
        is_there.sum_duplicates()
        is_there.data[:] = 1
        weights = (self._weights @ is_there).tocoo()
        shares = weights.data / self._totals[weights.row]
        is_above = shares > bar
        sets = weights.row[is_above].astype(np.int64)
        return SentenceShares(
            sets, distinct[weights.col[is_above]], np.minimum(shares[is_above], 1.0)
        )
