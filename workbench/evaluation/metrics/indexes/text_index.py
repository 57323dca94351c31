"""Texts looked up with one session's words, entities and statements (demands, decisions, open
work).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse

from workbench.base.ragged import Flags, Ints, integers, kept_mask, together
from workbench.engine.extraction.entities import KINDS, Entity
from workbench.engine.extraction.statements import statements
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex, first_row, pairs_of

ENOUGH = 0.6
"""The share of a statement's words, weighted by idf, that one span must have in order to state
it.
"""


@dataclass(frozen=True, slots=True, eq=False)
class IndexedTexts:
    """What some texts say, a row a span, in order.

    Attributes:
        spans: (rows,) the number of each row's span.
        text: (rows,) the place of each row's text among the texts.
        entity_row, entities: each row with each of the session's entities that it holds.
    """

    spans: Ints
    text: Ints
    entity_row: Ints
    entities: Ints


class TextIndex:
    """Looks up texts for one session, each once."""

    def __init__(self, inverted_index: InvertedIndex) -> None:
        self.inverted_index = inverted_index
        self.spans = cache(self._numbered)
        """The numbers of a text's spans, in order; a quoted line is the line that it quotes."""

    def _numbered(self, text: str) -> Ints:
        index = self.inverted_index
        spans = index.extractor.read(text, index.spans)
        return np.array(spans, dtype=np.int64)

    def read(self, texts: Iterable[str]) -> IndexedTexts:
        """What some texts say, with the words and entities of this session."""
        spans_by_text = [self.spans(text) for text in texts]
        span_counts = [len(of_text) for of_text in spans_by_text]
        text_count = len(spans_by_text)
        places = np.arange(text_count)
        spans = together(spans_by_text)
        holds_entity = self.inverted_index.entities_in(spans.tolist())
        entity_row, entities = pairs_of(holds_entity)
        return IndexedTexts(
            spans=spans,
            text=np.repeat(places, span_counts),
            entity_row=entity_row,
            entities=entities,
        )

    def words(self, spans: Ints) -> sparse.csr_array:
        """(rows, words) 1 where a span, of the session or of a text, holds a word."""
        return self.inverted_index.words_in(spans.tolist())


class StatementIndex:
    """The statements of one session with the messages that make them.

    Attributes:
        entities: each statement once, in order of first mention.
        slot, message: each statement, as its place in `entities`, with each message that makes it.
        first: (statements,) the first message that makes each.
        kinds: (statements,) the place of each one's kind in `KINDS`.
    """

    def __init__(self, texts: TextIndex) -> None:
        self._texts = texts
        self._index = texts.inverted_index
        index = self._index
        slots: dict[Entity, int] = {}
        slot_of_pair: list[int] = []
        message_of_pair: list[int] = []
        for number, message in enumerate(index.messages):
            for entity in statements(message):
                if entity not in slots:
                    slots[entity] = len(slots)
                slot_of_pair.append(slots[entity])
                message_of_pair.append(number)
        self.entities = tuple(slots)
        self.slot = integers(slot_of_pair)
        self.message = integers(message_of_pair)
        shape = (index.n, len(slots))
        self.first = first_row(self.message, self.slot, shape)
        kinds = [KINDS.index(entity.kind) for entity in self.entities]
        self.kinds: Ints = integers(kinds)
        self._weights = self._words()
        weight_sums = np.asarray(self._weights.sum(axis=0))
        self._enough = ENOUGH * weight_sums

    def _words(self) -> sparse.csr_array:
        """(words, statements) the idf of each word that a statement has."""
        index = self._index
        word_of_pair: list[int] = []
        slot_of_pair: list[int] = []
        for slot, entity in enumerate(self.entities):
            for word in index.word_numbers(entity.text):
                word_of_pair.append(word)
                slot_of_pair.append(slot)
        words = integers(word_of_pair)
        slots = integers(slot_of_pair)
        weights = index.idf[words]
        shape = (index.words, len(self.entities))
        return sparse.csr_array((weights, (words, slots)), shape=shape)

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each statement whether a context of these messages and texts still states it."""
        is_made = mask[self.message]
        held_slots = self.slot[is_made]
        statement_count = len(self.entities)
        is_held = kept_mask(held_slots, statement_count)
        distinct_texts = dict.fromkeys(texts)
        spans = together(self._texts.spans(text) for text in distinct_texts)
        _, stated = self.stating(spans)
        is_held[stated] = True
        return is_held

    def stating(self, spans: Ints) -> tuple[Ints, Ints]:
        """Each of these spans, by its place, with each statement that it has enough words of."""
        span_words = self._texts.words(spans)
        product = span_words @ self._weights
        weights = product.tocoo()
        enough = self._enough[weights.col]
        is_enough = weights.data >= enough
        place = weights.row[is_enough]
        slot = weights.col[is_enough]
        return place, slot
