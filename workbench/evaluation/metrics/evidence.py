"""The evidence of each needed entity: the span of the history that says most of what its use
says.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from workbench.base.ragged import Flags, Floats, Ints, together
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
        span, place: (slots,) the span that is each one's evidence, and its last place in the
            history.
    """

    def __init__(self, index: InvertedIndex, at: int, entities: Ints, use_place: Ints) -> None:
        """Find the evidence in `messages[:at]` of entities, (slots,), each used at a place,
        (slots,).
        """
        self._index, self._entities = index, entities
        self.pair_slot, self.pair_span, last = self._pairs(at)
        self.span, self.place = self._chosen(last, use_place)
        self._rest = self._other_words()

    def __len__(self) -> int:
        return len(self._entities)

    def _pairs(self, at: int) -> tuple[Ints, Ints, Ints]:
        """The slot and the span of each pair, slot by slot, and the last place of the span in
        the history.
        """
        p = self._index
        last: Ints = np.full(p.spans, -1)
        places = np.flatnonzero(~p.thought[: p.message_start[at]])
        last[p.place_span[places]] = places  # in order: the last one stays
        spans = [p.spans_with_entity(entity) for entity in self._entities.tolist()]
        slot = np.repeat(np.arange(len(self)), [len(one) for one in spans])
        span = together(spans)
        held = last[span] >= 0
        return slot[held], span[held], last[span[held]]

    def _chosen(self, last: Ints, use_place: Ints) -> tuple[Ints, Ints]:
        """For each slot the span that is its evidence, and its last place."""
        p = self._index
        used_in = p.place_span[use_place][self.pair_slot]
        shared = p.span_words[self.pair_span].multiply(p.span_words[used_in])
        overlap = (shared @ p.idf).round(9)
        latest = np.where(overlap == self._largest(overlap), last, -1)
        chosen = np.flatnonzero(latest == self._largest(latest))
        return self.pair_span[chosen], last[chosen]

    def _largest(self, values: NDArray[np.number]) -> NDArray[np.number]:
        """For each pair the largest value of all pairs of its slot."""
        largest = np.full(len(self), -1, dtype=values.dtype)
        np.maximum.at(largest, self.pair_slot, values)
        return largest[self.pair_slot]

    def _other_words(self) -> sparse.csr_array:
        """(slots, words) the words of each one's evidence that are not its own."""
        p = self._index
        rest = p.span_words[self.span]
        names = [p.names[entity].text for entity in self._entities.tolist()]
        own = [(slot, word) for slot, name in enumerate(names) for word in p.word_numbers(name)]
        slots, words = np.array(own, dtype=np.int64).reshape(-1, 2).T
        rest = rest - rest.multiply(incidence(slots, words, rest.shape))
        rest.eliminate_zeros()
        return rest

    def grade(self, slots: Ints, span_words: sparse.csr_array) -> tuple[Flags, Floats]:
        """Bound and coverage of slots, (k,), each in a span of these words, (k, words), that
        holds its entity.
        """
        idf, rest = self._index.idf, self._rest[slots]
        shared = span_words.multiply(rest).tocsr()
        bound = np.diff(shared.indptr) >= np.minimum(ENOUGH, np.diff(rest.indptr))
        whole = rest @ idf
        share = np.divide(shared @ idf, whole, out=np.ones(len(slots)), where=whole > 0)
        return bound, np.minimum(share, 1.0)
