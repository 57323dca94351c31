"""Texts that are not of the session, such as summaries, looked up with the session's words and entities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from workbench.metrics.indexes.inverted_index import InvertedIndex, pairs_of
from workbench.ragged import Ints


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
        self._spans: dict[str, Ints] = {}
        self._later = inverted_index.holdings(())
        """Words and entities of the spans that the extractor met after the session."""

    def spans(self, text: str) -> Ints:
        """The numbers of a text's spans, in order; a quoted line is the line that it quotes."""
        found = self._spans.get(text)
        if found is None:
            p = self.inverted_index
            found = self._spans[text] = np.array(p.extractor.read(text, p.spans), dtype=np.int64)
        return found

    def read(self, texts: Iterable[str]) -> IndexedTexts:
        """What some texts say."""
        every = [self.spans(text) for text in texts]
        spans = np.concatenate((np.zeros(0, dtype=np.int64), *every))
        text = np.repeat(np.arange(len(every)), list(map(len, every)))
        p, own = self.inverted_index, spans < self.inverted_index.spans
        old, new = pairs_of(p.span_entities, spans[own]), pairs_of(self._known()[1], spans[~own] - p.spans)
        rows = np.concatenate((np.flatnonzero(own)[old[0]], np.flatnonzero(~own)[new[0]]))
        return IndexedTexts(spans, text, rows, np.concatenate((old[1], new[1])))

    def words(self, spans: Ints) -> sparse.csr_array:
        """(rows, words) 1 where a span, of the session or of a text, holds a word."""
        p, own = self.inverted_index, spans < self.inverted_index.spans
        if own.all():
            return p.span_words[spans]
        both = (p.span_words[spans[own]], self._known()[0][spans[~own] - p.spans])
        return sparse.vstack(both, format="csr")[np.argsort(np.argsort(~own, kind="stable"))]

    def _known(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Words and entities of all spans that the extractor has met after the session."""
        first, end = self.inverted_index.spans + self._later[0].shape[0], len(self.inverted_index.texts)
        if first < end:
            new = self.inverted_index.holdings(range(first, end))
            words, entities = (sparse.vstack(both, format="csr") for both in zip(self._later, new, strict=True))
            self._later = words, entities
        return self._later
