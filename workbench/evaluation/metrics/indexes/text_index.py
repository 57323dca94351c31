"""Texts looked up with one session's words, entities and statements (demands, decisions, open
work).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse

from workbench.base.ragged import Ints, integers, ranges, together
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
        self._entities = cache(self._spans_with_entities)

    def _numbered(self, text: str) -> Ints:
        index = self.inverted_index
        spans = index.extractor.read(text, index.spans)
        return np.array(spans, dtype=np.int64)

    def _spans_with_entities(self, text: str) -> tuple[Ints, Ints]:
        """The place of each span of a text, with each of the session's entities that it holds."""
        spans = self.spans(text)
        holds_entity = self.inverted_index.entities_in(spans.tolist())
        return pairs_of(holds_entity)

    def read(self, texts: Iterable[str]) -> IndexedTexts:
        """What some texts say, with the words and entities of this session."""
        texts = tuple(texts)
        spans_by_text = [self.spans(text) for text in texts]
        rows_by_text: list[Ints] = []
        entities_by_text: list[Ints] = []
        for text in texts:
            rows, entities = self._entities(text)
            rows_by_text.append(rows)
            entities_by_text.append(entities)
        span_counts = integers(map(len, spans_by_text))
        entity_counts = integers(map(len, entities_by_text))
        text_numbers = np.arange(len(texts))
        first_rows = np.cumsum(span_counts) - span_counts
        rows_in_texts = together(rows_by_text)
        first_rows_of_entities = np.repeat(first_rows, entity_counts)
        return IndexedTexts(
            spans=together(spans_by_text),
            text=np.repeat(text_numbers, span_counts),
            entity_row=rows_in_texts + first_rows_of_entities,
            entities=together(entities_by_text),
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
        bounds = np.arange(index.n + 1)
        self._message_start = np.searchsorted(self.message, bounds)
        self._stated_in = cache(self._stated)
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

    def held(self, messages: Ints, texts: Iterable[str] = ()) -> Ints:
        """The statements that a context of these messages and texts still makes; some of them
        several times.
        """
        start = self._message_start[messages]
        stop = self._message_start[messages + 1]
        _, place = ranges(start, stop - start)
        slots_of_messages = self.slot[place]
        slots_by_text = map(self._stated_in, texts)
        return together((slots_of_messages, *slots_by_text))

    def _stated(self, text: str) -> Ints:
        """The statements that a text makes."""
        spans = self._texts.spans(text)
        _, slots = self.stating(spans)
        return slots

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
