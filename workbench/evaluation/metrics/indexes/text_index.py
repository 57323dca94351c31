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
from workbench.evaluation.metrics.indexes.arrays import columns_of
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
        extractor = self.inverted_index.extractor
        return np.array(extractor.read(text, self.inverted_index.spans), dtype=np.int64)

    def read(self, texts: Iterable[str]) -> IndexedTexts:
        """What some texts say, with the words and entities of this session."""
        spans_by_text = [self.spans(text) for text in texts]
        spans = together(spans_by_text)
        span_counts = [len(of_text) for of_text in spans_by_text]
        text = np.repeat(np.arange(len(spans_by_text)), span_counts)
        _, holds_entity = self.inverted_index.holdings(spans.tolist())
        entity_row, entities = pairs_of(holds_entity)
        return IndexedTexts(spans, text, entity_row, entities)

    def words(self, spans: Ints) -> sparse.csr_array:
        """(rows, words) 1 where a span, of the session or of a text, holds a word."""
        return self.inverted_index.holdings(spans.tolist())[0]


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
        slots: dict[Entity, int] = {}
        pairs: list[tuple[int, int]] = []
        for index, message in enumerate(self._index.messages):
            for entity in statements(message):
                slot = slots.setdefault(entity, len(slots))
                pairs.append((slot, index))
        self.entities = tuple(slots)
        self.slot, self.message = columns_of(pairs, 2)
        self.first = first_row(self.message, self.slot, (self._index.n, len(slots)))
        kinds = [KINDS.index(entity.kind) for entity in self.entities]
        self.kinds: Ints = integers(kinds)
        self._weights = self._words()
        self._enough = ENOUGH * np.asarray(self._weights.sum(axis=0))

    def _words(self) -> sparse.csr_array:
        """(words, statements) the idf of each word that a statement has."""
        index = self._index
        pairs: list[tuple[int, int]] = []
        for slot, entity in enumerate(self.entities):
            pairs += [(word, slot) for word in index.word_numbers(entity.text)]
        words, slots = columns_of(pairs, 2)
        shape = (index.words, len(self.entities))
        return sparse.csr_array((index.idf[words], (words, slots)), shape=shape)

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each statement whether a context of these messages and texts still states it."""
        is_held = kept_mask(self.slot[mask[self.message]], len(self.entities))
        spans = [self._texts.spans(text) for text in dict.fromkeys(texts)]
        _, stated = self.stating(together(spans))
        is_held[stated] = True
        return is_held

    def stating(self, spans: Ints) -> tuple[Ints, Ints]:
        """Each of these spans, by its place, with each statement that it has enough words of."""
        weights = (self._texts.words(spans) @ self._weights).tocoo()
        is_enough = weights.data >= self._enough[weights.col]
        return weights.row[is_enough], weights.col[is_enough]
