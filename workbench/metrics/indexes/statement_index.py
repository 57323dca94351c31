"""The statements of one session (demands, decisions, open work): who makes them, and which texts still state them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from workbench.extraction.entities import KINDS, Entity
from workbench.extraction.statements import statements
from workbench.metrics.indexes.text_index import TextIndex
from workbench.ragged import Flags, Ints

ENOUGH = 0.6
"""The share of a statement's words, weighted by idf, that one span must have in order to state it."""


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
        made = ((entity, i) for i, message in enumerate(self._index.messages) for entity in statements(message))
        pairs = [(found.setdefault(entity, len(found)), i) for entity, i in made]
        self.entities = tuple(found)
        self.slot, self.message = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.first: Ints = np.full(len(found), self._index.n)
        self.first[self.slot[::-1]] = self.message[::-1]
        self.kinds: Ints = np.array([KINDS.index(entity.kind) for entity in self.entities], dtype=np.int64)
        self._weights = self._words()
        self._enough = ENOUGH * np.asarray(self._weights.sum(axis=0))
        self._stated: dict[str, Flags] = {}

    def _words(self) -> sparse.csr_array:
        """(words, statements) the idf of each word that a statement has."""
        p = self._index
        pairs = [(number, slot) for slot, entity in enumerate(self.entities) for number in p.word_numbers(entity.text)]
        word, slot = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return sparse.csr_array((p.idf[word], (word, slot)), shape=(p.words, len(self.entities)))

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each statement whether a context of these messages and texts still states it."""
        held: Flags = np.zeros(len(self.entities), dtype=bool)
        held[self.slot[mask[self.message]]] = True
        for stated in self.stated_in(texts).values():
            held |= stated
        return held

    def stated_in(self, texts: Iterable[str]) -> dict[str, Flags]:
        """By text, for each statement whether one span of it has enough of its words; worked out once a text."""
        every = dict.fromkeys(texts)
        if new := [text for text in every if text not in self._stated]:
            spans = [self._texts.spans(text) for text in new]
            row, slot = self.stating(np.concatenate(spans))
            found = np.zeros((len(new), len(self.entities)), dtype=bool)
            found[np.repeat(np.arange(len(new)), list(map(len, spans)))[row], slot] = True
            self._stated |= dict(zip(new, found, strict=True))
        return {text: self._stated[text] for text in every}

    def stated_by(self, spans: Ints) -> Flags:
        """For each statement whether one of these spans has enough of its words."""
        covered = np.zeros(len(self.entities), dtype=bool)
        covered[self.stating(spans)[1]] = True
        return covered

    def stating(self, spans: Ints) -> tuple[Ints, Ints]:
        """Each of these spans, as its place among them, with each statement that it has enough words of."""
        weights = (self._texts.words(spans) @ self._weights).tocoo()
        enough = weights.data >= self._enough[weights.col]
        return weights.row[enough], weights.col[enough]
