"""The statements of one session (demands, decisions, open work): who makes them, and which texts still state them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from workbench.extraction.entities import LEXICAL, STATEMENTS, Entity
from workbench.extraction.statements import statements
from workbench.extraction.words import words
from workbench.metrics.indexes.inverted_index import InvertedIndex
from workbench.metrics.indexes.text_index import TextIndex
from workbench.ragged import Flags, Ints
from workbench.transcript.message import Message

ENOUGH = 0.6
"""The share of a statement's words, weighted by idf, that one span must have in order to state it."""


class StatementIndex:
    """The statements of one session with the messages that make them.

    Attributes:
        entities: each statement once, in order of first mention.
        first: (statements,) the first message that makes each.
        kinds: (statements,) the place of each one's kind in `KINDS`.
    """

    def __init__(self, messages: Sequence[Message], inverted_index: InvertedIndex, texts: TextIndex) -> None:
        found: dict[Entity, int] = {}
        pairs = [
            (found.setdefault(entity, len(found)), i)
            for i, message in enumerate(messages)
            for entity in statements(message)
        ]
        self.entities = tuple(found)
        self._slot, self._message = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.first: Ints = np.full(len(found), inverted_index.n)
        self.first[self._slot[::-1]] = self._message[::-1]
        kinds = [STATEMENTS.index(entity.kind) for entity in self.entities]
        self.kinds: Ints = len(LEXICAL) + np.array(kinds, dtype=np.int64)
        self._index, self._texts = inverted_index, texts
        self._weights = self._words()
        self._enough = ENOUGH * np.asarray(self._weights.sum(axis=0))
        self._stating: dict[int, list[int]] = {}
        self._stated_in: dict[str, Flags] = {}

    def _words(self) -> sparse.csr_array:
        """(words, statements) the idf of each word that a statement has."""
        p = self._index
        pairs = [
            (number, slot)
            for slot, entity in enumerate(self.entities)
            for word in words(entity.text)
            if (number := p.word(word)) >= 0
        ]
        word, slot = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return sparse.csr_array((p.idf[word], (word, slot)), shape=(p.words, len(self.entities)))

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each statement whether a context of these messages and texts still states it."""
        held: Flags = np.zeros(len(self.entities), dtype=bool)
        held[self._slot[mask[self._message]]] = True
        every = dict.fromkeys(texts)
        self._learn(chain.from_iterable(self._texts.spans(text) for text in every if text not in self._stated_in))
        for text in every:
            held |= self.stated_in(text)
        return held

    def stated_in(self, text: str) -> Flags:
        """For each statement whether one span of a text has enough of its words; worked out once a text."""
        found = self._stated_in.get(text)
        if found is None:
            found = self._stated_in[text] = self.stated_by(self._texts.spans(text))
        return found

    def stated_by(self, spans: Iterable[int]) -> Flags:
        """For each statement whether one of these spans has enough of its words."""
        covered = np.zeros(len(self.entities), dtype=bool)
        covered[list(chain.from_iterable(self.by_span(spans).values()))] = True
        return covered

    def stating(self, text: str) -> list[int]:
        """The spans of a text that have enough words of some statement, as often as they stand there."""
        spans = self._texts.spans(text)
        found = self.by_span(spans)
        return [span for span in spans if span in found]

    def by_span(self, spans: Iterable[int]) -> dict[int, list[int]]:
        """The statements that each span has enough words of; spans without any are left out."""
        every = set(spans)
        self._learn(every)
        return {span: found for span in every if (found := self._stating[span])}

    def _learn(self, spans: Iterable[int]) -> None:
        """Find what spans state, where it is not known: many at once cost least."""
        new = [span for span in set(spans) if span not in self._stating]
        if not new:
            return
        self._stating |= {span: [] for span in new}
        found = [self._texts.row(span)[0] for span in new]
        starts, columns = np.cumsum([0, *map(len, found)]), np.concatenate(found)
        rows = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(new), self._index.words))
        weights = (rows @ self._weights).tocoo()
        enough = weights.data >= self._enough[weights.col]
        for row, slot in zip(weights.row[enough].tolist(), weights.col[enough].tolist(), strict=True):
            self._stating[new[row]].append(slot)

    def said(self) -> Iterator[tuple[int, int]]:
        """Each statement, as its place in `entities`, with each message that makes it."""
        return zip(self._slot.tolist(), self._message.tolist(), strict=True)
