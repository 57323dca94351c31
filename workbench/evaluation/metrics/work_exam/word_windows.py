"""For many sets of weighted words at once: how much of each set one stretch of a context has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
        word_count = len(words)
        numbers_of_words = map(vocabulary.get, words, repeat(UNKNOWN))
        numbers = np.fromiter(numbers_of_words, np.int64, word_count)
        is_of_vocabulary = numbers != UNKNOWN
        places = np.flatnonzero(is_of_vocabulary)
        return cls(
            numbers=numbers[places],
            places=places,
            length=word_count,
        )

    @classmethod
    def joined(cls, parts: Sequence[PlacedWords]) -> PlacedWords:
        """Several texts, one behind the other."""
        lengths = integers(part.length for part in parts)
        starts = np.cumsum(lengths) - lengths
        word_counts = integers(len(part.places) for part in parts)
        places = together(part.places for part in parts)
        return cls(
            numbers=together(part.numbers for part in parts),
            places=places + np.repeat(starts, word_counts),
            length=int(lengths.sum()),
        )


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
        self._groups: list[_SameWindow] = []
        for window in windows:
            group = _SameWindow.of(window, sought, vocabulary)
            self._groups.append(group)
        self._totals = _totals([word_set.weights for word_set in sought])
        self._words = len(vocabulary)

    def best_shares(self, text: PlacedWords) -> Floats:
        """(sets,) the largest weighted share of each set that stands within its window, 0 to 1."""
        order = np.argsort(text.numbers, kind="stable")
        by_word = PlacedWords(
            numbers=text.numbers[order],
            places=text.places[order],
            length=text.length,
        )
        set_count = len(self._totals)
        best = np.zeros(set_count)
        for group in self._groups:
            # zero for the sets of other groups
            best += group.largest_weights(by_word, self._words, set_count)
        shares = best / self._totals
        return np.clip(shares, 0.0, 1.0)


def _totals(word_sets: Iterable[Mapping[str, float]]) -> Floats:
    """(sets,) the weight of all words of each set; 1 for a set without weight."""
    totals: list[float] = []
    for weights in word_sets:
        total = sum(weights.values())
        totals.append(total or 1.0)
    return np.array(totals, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _SameWindow:
    """The sets with one window, as entries: a word with its weight in a set."""

    window: int
    sets: Ints
    words: Ints
    weights: Floats

    @classmethod
    def of(
        cls,
        window: int,
        sought: Sequence[WordWindow],
        vocabulary: Mapping[str, int],
    ) -> _SameWindow:
        sets: list[int] = []
        words: list[int] = []
        weights: list[float] = []
        for number, word_set in enumerate(sought):
            if word_set.window != window:
                continue
            for word, weight in word_set.weights.items():
                sets.append(number)
                words.append(vocabulary[word])
                weights.append(weight)
        return cls(
            window=window,
            sets=integers(sets),
            words=integers(words),
            weights=np.array(weights, dtype=np.float64),
        )

    def largest_weights(self, by_word: PlacedWords, vocabulary: int, sets: int) -> Floats:
        """(sets,) the largest weight of each set in one window of a text whose words are ordered
        by number.
        """
        if self.window >= by_word.length:
            return self._weights_in(by_word, vocabulary, sets)
        runs = _WordRuns.of(by_word, self.window)
        run_counts = np.bincount(runs.words, minlength=vocabulary)
        first_runs = np.cumsum(run_counts) - run_counts
        entry, run = ranges(
            first_runs[self.words],
            run_counts[self.words],
        )
        if not len(run):
            return np.zeros(sets)
        changes = _WeightChanges.of(
            self.sets[entry],
            self.weights[entry],
            runs.begins[run],
            runs.ends[run],
        )
        return changes.largest_sums(sets, by_word.length)

    def _weights_in(self, text: PlacedWords, vocabulary: int, sets: int) -> Floats:
        """(sets,) the weight of each set in a whole text."""
        counts = np.bincount(text.numbers, minlength=vocabulary)
        is_there = counts[self.words] > 0
        weights = self.weights * is_there
        sums = np.bincount(self.sets, weights, minlength=sets)
        return sums.astype(np.float64)


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
        word_count = len(numbers)
        is_new_word = numbers[1:] != numbers[:-1]
        distances = places[1:] - places[:-1]
        is_far = distances >= window
        # a text without words has no run
        begins_run = np.append(True, is_new_word | is_far)
        begins_run = begins_run[:word_count]
        ends_run = np.append(begins_run[1:], True)
        ends_run = ends_run[:word_count]
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
        begin_moments = 2 * begins + 1
        end_moments = 2 * ends
        return cls(
            sets=np.tile(sets, 2),
            weights=np.concatenate((weights, -weights)),
            moments=np.concatenate((begin_moments, end_moments)),
        )

    def largest_sums(self, set_count: int, text_length: int) -> Floats:
        """(sets,) the largest sum of weights that each set has at any moment."""
        moments_a_set = 2 * text_length + 2
        keys = self.sets * moments_a_set + self.moments
        order = np.argsort(keys, kind="stable")
        sets = self.sets[order]
        weights = self.weights[order]
        running_sums = np.cumsum(weights)
        is_other_set = sets[1:] != sets[:-1]
        begins_set = np.append(True, is_other_set)
        starts = np.flatnonzero(begins_set)
        last_sums = running_sums[starts - 1]
        sums_before = np.where(starts > 0, last_sums, 0.0)
        largest_running = np.maximum.reduceat(running_sums, starts)
        largest = np.zeros(set_count)
        set_numbers = sets[starts]
        largest[set_numbers] = largest_running - sums_before
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
        self,
        sought: Sequence[Mapping[str, float]],
        vocabulary: Mapping[str, int],
    ) -> None:
        sets: list[int] = []
        words: list[int] = []
        weights: list[float] = []
        for number, word_set in enumerate(sought):
            for word, weight in word_set.items():
                sets.append(number)
                words.append(vocabulary[word])
                weights.append(weight)
        word_count = len(vocabulary)
        self._weights = sparse.csr_array(
            (weights, (sets, words)),
            shape=(len(sought), word_count),
            dtype=np.float64,
        )
        self._sets_with = np.bincount(integers(words), minlength=word_count)
        self._totals = _totals(sought)

    def shares_above(self, bar: float, text: PlacedWords) -> SentenceShares:
        """The sets of which a sentence has more than a share; a place is a sentence's number."""
        # some sentences at a time: most pairs are below the bar, and all of them may be many
        set_counts = self._sets_with[text.numbers]
        pair_counts = np.bincount(text.places, set_counts, minlength=text.length)
        batch_of_sentence = np.cumsum(pair_counts) // PAIRS_AT_ONCE
        batch = batch_of_sentence[text.places]
        parts: list[SentenceShares] = []
        shares: list[Floats] = [np.zeros(0)]
        for number in np.unique(batch):
            is_of_batch = batch == number
            words = text.numbers[is_of_batch]
            sentences = text.places[is_of_batch]
            part = self._above(bar, words, sentences)
            parts.append(part)
            shares.append(part.shares)
        return SentenceShares(
            sets=together(part.sets for part in parts),
            sentences=together(part.sentences for part in parts),
            shares=np.concatenate(shares),
        )

    def _above(self, bar: float, words: Ints, sentences: Ints) -> SentenceShares:
        distinct, column = np.unique(sentences, return_inverse=True)
        ones = np.ones(len(words))
        word_count = self._weights.shape[1]
        is_there = sparse.csr_array(
            (ones, (words, column)),
            shape=(word_count, len(distinct)),
        )
        is_there.sum_duplicates()
        is_there.data[:] = 1
        product = self._weights @ is_there
        weights = product.tocoo()
        totals = self._totals[weights.row]
        shares = weights.data / totals
        is_above = shares > bar
        sets = weights.row[is_above]
        columns = weights.col[is_above]
        return SentenceShares(
            sets=sets.astype(np.int64),
            sentences=distinct[columns],
            shares=np.minimum(shares[is_above], 1.0),
        )
