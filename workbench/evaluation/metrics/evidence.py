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
        self,
        index: InvertedIndex,
        boundary: int,
        entities: Ints,
        use_place: Ints,
    ) -> None:
        """Find the evidence in `messages[:boundary]` of entities, (slots,), each used at a place,
        (slots,).
        """
        self._index = index
        self.entities = entities
        last_place = self._last_places(boundary)
        self.pair_slot, self.pair_span = self._pairs(last_place)
        pair_place = last_place[self.pair_span]
        best_pair = self._best_pair(pair_place, use_place)
        self.span = self.pair_span[best_pair]
        self.place = pair_place[best_pair]
        self._other_words = self._words_without_own()

    def __len__(self) -> int:
        return len(self.entities)

    def _last_places(self, boundary: int) -> Ints:
        """(spans,) the last place of each span that the history says; -1 where it says none."""
        index = self._index
        last_place: Ints = np.full(index.spans, -1)
        history_end = index.message_start[boundary]
        is_thought = index.thought[:history_end]
        places = np.flatnonzero(~is_thought)
        spans = index.place_span[places]
        # in order: the last one stays
        last_place[spans] = places
        return last_place

    def _pairs(self, last_place: Ints) -> tuple[Ints, Ints]:
        """The slot and the span of each pair, slot by slot."""
        index = self._index
        spans: list[Ints] = []
        span_counts: list[int] = []
        for entity in self.entities.tolist():
            spans_of_entity = index.spans_with_entity(entity)
            spans.append(spans_of_entity)
            span_counts.append(len(spans_of_entity))
        slots = np.arange(len(self))
        slot = np.repeat(slots, span_counts)
        span = together(spans)
        in_history = last_place[span] >= 0
        return slot[in_history], span[in_history]

    def _best_pair(self, pair_place: Ints, use_place: Ints) -> Ints:
        """For each slot the pair whose span is its evidence."""
        index = self._index
        use_span = index.place_span[use_place]
        use_span_of_pair = use_span[self.pair_slot]
        use_words = index.span_words[use_span_of_pair]
        pair_words = index.span_words[self.pair_span]
        shared = pair_words.multiply(use_words)
        shared_weight = shared @ index.idf
        overlap = shared_weight.round(9)
        has_most = overlap == self._largest(overlap)
        candidate_place = np.where(has_most, pair_place, -1)
        is_latest = candidate_place == self._largest(candidate_place)
        return np.flatnonzero(is_latest)

    def _largest(self, values: NDArray[np.number]) -> NDArray[np.number]:
        """For each pair the largest value of all pairs of its slot."""
        slot_count = len(self)
        largest = np.full(slot_count, -1, dtype=values.dtype)
        np.maximum.at(largest, self.pair_slot, values)
        return largest[self.pair_slot]

    def _words_without_own(self) -> sparse.csr_array:
        """(slots, words) the words of each one's evidence that are not of its entity's name."""
        index = self._index
        slots: list[int] = []
        words: list[int] = []
        for slot, entity in enumerate(self.entities.tolist()):
            name = index.names[entity].text
            for word in index.word_numbers(name):
                slots.append(slot)
                words.append(word)
        evidence_words = index.span_words[self.span]
        name_words = incidence(
            integers(slots),
            integers(words),
            evidence_words.shape,
        )
        own_words = evidence_words.multiply(name_words)
        other_words = evidence_words - own_words
        other_words.eliminate_zeros()
        return other_words

    def grade(self, slots: Ints, span_words: sparse.csr_array) -> tuple[Flags, Floats]:
        """Bound and coverage of slots, (k,), each in a span of these words, (k, words)."""
        idf = self._index.idf
        other_words = self._other_words[slots]
        product = span_words.multiply(other_words)
        shared = product.tocsr()
        shared_count = np.diff(shared.indptr)
        other_count = np.diff(other_words.indptr)
        enough = np.minimum(ENOUGH, other_count)
        bound = shared_count >= enough
        shared_weight = shared @ idf
        weight = other_words @ idf
        coverage = np.ones(len(slots))
        has_weight = weight > 0
        np.divide(
            shared_weight,
            weight,
            out=coverage,
            where=has_weight,
        )
        return bound, np.minimum(coverage, 1.0)
