"""Texts looked up with one session's words, entities and statements (demands, decisions, open
work).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse

from workbench.base.ragged import Flags, Ints, kept_mask, together
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
        return np.array(
            self.inverted_index.extractor.read(text, self.inverted_index.spans), dtype=np.int64
        )

    def read(self, texts: Iterable[str]) -> IndexedTexts:
        """What some texts say, with the words and entities of this session."""
        every = [self.spans(text) for text in texts]
        spans = together(every)
        text = np.repeat(np.arange(len(every)), list(map(len, every)))
        return IndexedTexts(spans, text, *pairs_of(self.inverted_index.holdings(spans.tolist())[1]))

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
        self._texts, self._index = texts, texts.inverted_index
        found: dict[Entity, int] = {}
        made = (
            (entity, i)
            for i, message in enumerate(self._index.messages)
            for entity in statements(message)
        )
        pairs = [(found.setdefault(entity, len(found)), i) for entity, i in made]
        self.entities = tuple(found)
        self.slot, self.message = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.first = first_row(self.message, self.slot, (self._index.n, len(found)))
        self.kinds: Ints = np.array(
            [KINDS.index(entity.kind) for entity in self.entities], dtype=np.int64
        )
        self._weights = self._words()
        self._enough = ENOUGH * np.asarray(self._weights.sum(axis=0))

    def _words(self) -> sparse.csr_array:
        """(words, statements) the idf of each word that a statement has."""
        p = self._index
        pairs = [
            (number, slot)
            for slot, entity in enumerate(self.entities)
            for number in p.word_numbers(entity.text)
        ]
        word, slot = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return sparse.csr_array((p.idf[word], (word, slot)), shape=(p.words, len(self.entities)))

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each statement whether a context of these messages and texts still states it."""
        held = kept_mask(self.slot[mask[self.message]], len(self.entities))
        spans = [self._texts.spans(text) for text in dict.fromkeys(texts)]
        held[self.stating(together(spans))[1]] = True
        return held

    def stating(self, spans: Ints) -> tuple[Ints, Ints]:
        """Each of these spans, as its place among them, with each statement that it has enough
        words of.
        """
        weights = (self._texts.words(spans) @ self._weights).tocoo()
        enough = weights.data >= self._enough[weights.col]
        return weights.row[enough], weights.col[enough]
