"""The evidence of needed entities: the span of the history that shares most with the use."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.base.ragged import Flags, Floats, Ints, integers, together
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex, incidence

ENOUGH = 2
"""How many of the evidence's other words an entity needs beside it to be bound; all where there
are fewer.
"""


class Evidence:
    """The evidence of needed entities at one boundary.

    An entity is a *slot*; a *pair* is a slot with a span of the history that holds its entity.

    Attributes:
        pair_slot, pair_span: (pairs,) slot by slot.
        entities: (slots,) the number of each one in the index.
        span, place: (slots,) the span that is each one's evidence, and its last place in the
            history.
    """

    def __init__(
        self, index: InvertedIndex, boundary: int, entities: Ints, use_place: Ints
    ) -> None:
        """Find the evidence in `messages[:boundary]` of entities, (slots,), each used at a place,
        (slots,).
        """
        self._index = index
        self.entities = entities
        self.pair_slot, self.pair_span, last_place = self._pairs(boundary)
        best_pair = self._best_pair(last_place, use_place)
        self.span = self.pair_span[best_pair]
        self.place = last_place[best_pair]
        self._other_words = self._words_without_own()

    def __len__(self) -> int:
        return len(self.entities)

    def _pairs(self, boundary: int) -> tuple[Ints, Ints, Ints]:
        """The slot and the span of each pair, slot by slot, and the span's last place."""
        index = self._index
        last_place: Ints = np.full(index.spans, -1)
        places = np.flatnonzero(~index.thought[: index.message_start[boundary]])
        last_place[index.place_span[places]] = places  # in order: the last one stays
        spans = [index.spans_with_entity(entity) for entity in self.entities.tolist()]
        span_counts = [len(of_entity) for of_entity in spans]
        slot = np.repeat(np.arange(len(self)), span_counts)
        span = together(spans)
        place = last_place[span]
        in_history = place >= 0
        return slot[in_history], span[in_history], place[in_history]

    def _best_pair(self, last_place: Ints, use_place: Ints) -> Ints:
        """For each slot the pair whose span is its evidence."""
        index = self._index
        use_span = index.place_span[use_place][self.pair_slot]
        shared = index.span_words[self.pair_span].multiply(index.span_words[use_span])
        overlap = (shared @ index.idf).round(9)
        has_most = overlap == self._largest(overlap)
        latest = np.where(has_most, last_place, -1)
        return np.flatnonzero(latest == self._largest(latest))

    def _largest(self, values: NDArray[np.number]) -> NDArray[np.number]:
        """For each pair the largest value of all pairs of its slot."""
        largest = np.full(len(self), -1, dtype=values.dtype)
        np.maximum.at(largest, self.pair_slot, values)
        return largest[self.pair_slot]

    def _words_without_own(self) -> sparse.csr_array:
        """(slots, words) the words of each one's evidence that are not of its entity's name."""
        index = self._index
        slots: list[int] = []
        words: list[int] = []
        for slot, entity in enumerate(self.entities.tolist()):
            own_words = index.word_numbers(index.names[entity].text)
            slots += [slot] * len(own_words)
            words += own_words
        evidence_words = index.span_words[self.span]
        name_words = incidence(integers(slots), integers(words), evidence_words.shape)
        other_words = evidence_words - evidence_words.multiply(name_words)
        other_words.eliminate_zeros()
        return other_words

    def grade(self, slots: Ints, span_words: sparse.csr_array) -> tuple[Flags, Floats]:
        """Bound and coverage of slots, (k,), each in a span of these words, (k, words)."""
        idf = self._index.idf
        other_words = self._other_words[slots]
        shared = span_words.multiply(other_words).tocsr()
        shared_count = np.diff(shared.indptr)
        other_count = np.diff(other_words.indptr)
        bound = shared_count >= np.minimum(ENOUGH, other_count)
        weight = other_words @ idf
        coverage = np.ones(len(slots))
        np.divide(shared @ idf, weight, out=coverage, where=weight > 0)
        return bound, np.minimum(coverage, 1.0)
