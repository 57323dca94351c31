"""Texts that are not of the session, such as summaries, looked up with the session's words and entities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from workbench.extraction.entities import Entity, plain
from workbench.extraction.words import words
from workbench.metrics.background import BUILTIN_BACKGROUND
from workbench.metrics.indexes.inverted_index import InvertedIndex, row_of, rows_of
from workbench.ragged import Ints

NOTHING: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class IndexedText:
    """What one or more texts say, span by span; a span is a row, and a text's rows begin with the session's own spans.

    Attributes:
        spans: (rows,) the number of each row's span.
        word_start, words: the words of each row, (rows + 1,) and flat; words that the session does not have are left
            out.
        entities: the session's entities, one entry for each row that holds one; `entity_row` says which row.
        text: (rows,) the place of each row's text among the texts.
    """

    spans: Ints
    word_start: Ints
    words: Ints
    entities: Ints
    entity_row: Ints
    text: Ints


class TextIndex:
    """Looks up texts for one session, each once."""

    def __init__(self, inverted_index: InvertedIndex) -> None:
        self._inverted_index = inverted_index
        self._texts: dict[str, IndexedText] = {}
        self._spans: dict[str, Sequence[int]] = {}
        self._rows: dict[int, tuple[Ints, Ints]] = {}
        self._stands_for: dict[int, int] = {}
        self._inside: dict[Entity, int] = {}
        self._every: dict[str, list[tuple[int, int]]] = {}
        self._first: dict[int, int] = {}
        self._names: list[Entity] = list(inverted_index.names)

    def read(self, text: str) -> IndexedText:
        """One text."""
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = self._indexed(dict.fromkeys(self.spans(text)))
        return found

    def _indexed(self, spans: Iterable[int]) -> IndexedText:
        """One text of these spans: those of the session, looked up together, and then the others."""
        p = self._inverted_index
        numbers = np.fromiter(spans, dtype=np.int64)
        own = numbers[numbers < p.spans]
        new = numbers[numbers >= p.spans]
        rows = [self.row(span) for span in new.tolist()]
        words, word_counts = rows_of(p.span_words, own)
        entities, entity_counts = rows_of(p.span_entities, own)
        of_words = [*word_counts.tolist(), *(len(found) for found, _ in rows)]
        of_entities = [*entity_counts.tolist(), *(len(found) for _, found in rows)]
        return IndexedText(
            np.concatenate((own, new)),
            np.cumsum([0, *of_words]),
            np.concatenate((words, *(found for found, _ in rows))),
            np.concatenate((entities, *(found for _, found in rows))),
            np.repeat(np.arange(len(numbers)), of_entities),
            np.zeros(len(numbers), dtype=np.int64),
        )

    def read_all(self, texts: Iterable[str]) -> IndexedText:
        """Several texts as one; those without an entity of the session are left out."""
        read = [(place, self.read(text)) for place, text in enumerate(texts)]
        found = [(place, one) for place, one in read if len(one.entities)]
        return read[0][1] if len(read) == 1 else _joined(found)

    def spans(self, text: str) -> Sequence[int]:
        """The numbers of a text's spans, in order; a quoted line is the line that it quotes."""
        found = self._spans.get(text)
        if found is None:
            p = self._inverted_index
            found = self._spans[text] = p.extractor.read(text, p.spans)
        return found

    def row(self, span: int) -> tuple[Ints, Ints]:
        """The words and the entities of a span that the session has too."""
        p = self._inverted_index
        if span < p.spans:
            return row_of(p.span_words, span), row_of(p.span_entities, span)
        found = self._rows.get(span)
        if found is None:
            features = p.extractor.features_of(span)
            entities = [stands for f in features if f < 0 and (stands := self.stands_for(~f)) >= 0]
            known = np.array(sorted(f for f in features if 0 <= f < p.words), dtype=np.int64)
            found = self._rows[span] = known, np.array(entities, dtype=np.int64)
        return found

    def every_entity(self, texts: Iterable[str]) -> list[tuple[int, int]]:
        """Each entity of texts with its span, as numbers; also entities that the session does not have."""
        every = dict.fromkeys(texts)
        for text in every:
            if text not in self._every:
                spans = dict.fromkeys(self.spans(text))
                self._every[text] = [(number, span) for span in spans for number in self._entities_of(span)]
        return list(chain.from_iterable(self._every[text] for text in every))

    def _entities_of(self, span: int) -> list[int]:
        p = self._inverted_index
        if span < p.spans:
            entities: list[int] = row_of(p.span_entities, span).tolist()
            return entities
        return [~feature for feature in p.extractor.features_of(span) if feature < 0]

    def text(self, span: int) -> str:
        """The text of a span, also of one that only a read text holds."""
        return self._inverted_index.texts[span]

    def name(self, number: int) -> Entity:
        """The entity of that number, also of one that only a read text holds."""
        if number >= len(self._names):
            known = list(self._inverted_index.extractor.entities)
            self._names += [Entity(kind, text) for kind, text in known[len(self._names) :]]
        return self._names[number]

    def stands_for(self, number: int) -> int:
        """The session's entity that an entity is the same as, -1 if the session does not have it."""
        if number not in self._stands_for:
            p = self._inverted_index
            stands = int(p.stands_for[number]) if number < len(p.names) else -1
            name = self.name(number)
            if stands < 0 and name.kind == "path" and (known := p.files.of(name.text)):
                stands = int(p.stands_for[p.paths[known]])
            self._stands_for[number] = -1 if stands >= 0 and p.folder[stands] else stands
        return self._stands_for[number]

    def first_inside(self, name: Entity) -> int:
        """The first message that holds a name's characters inside something else; n if none does."""
        found = self._inside.get(name)
        if found is None:
            found = self._inside[name] = self._first_inside(name)
        return found

    def _first_inside(self, name: Entity) -> int:
        p = self._inverted_index
        if name.kind == "path" and p.files.is_ending(name.text):
            return p.first_ending.get(name.text.lstrip("/"), p.n)
        text = plain(name.text)
        needle = text.split(" ")[0] if name.kind == "number" else text
        numbers = {word: p.word(word) for word in words(needle)}
        if not numbers or min(numbers.values()) < 0:
            return p.n
        spans = p.spans_with_word(max(numbers, key=lambda word: float(p.idf[numbers[word]])))
        firsts = p.span_first[spans]
        order = np.argsort(firsts, kind="stable").tolist()
        return next((int(firsts[i]) for i in order if needle in plain(p.texts[spans[i]])), p.n)

    def first_said(self, number: int) -> int:
        """The message that first says an entity, or names its file; n if none does, -1 where any model knows it."""
        found = self._first.get(number)
        if found is None:
            found = self._first[number] = self._first_said(number)
        return found

    def _first_said(self, number: int) -> int:
        p, name, stands = self._inverted_index, self.name(number), self.stands_for(number)
        if name in BUILTIN_BACKGROUND:
            return -1
        if name.kind == "path" and stands >= 0 and number >= len(p.names) and not p.files.is_ending(name.text):
            return p.n
        return int(p.first_known[stands]) if stands >= 0 else p.n


def _joined(found: Sequence[tuple[int, IndexedText]]) -> IndexedText:
    """Texts one after another, each with its place among all texts."""
    texts = [one for _, one in found]
    rows, words = np.cumsum([0, *(len(one.spans) for one in texts)]), np.cumsum([0, *(len(one.words) for one in texts)])
    starts = [one.word_start[:-1] + first for one, first in zip(texts, words, strict=False)]
    return IndexedText(
        np.concatenate((NOTHING, *(one.spans for one in texts))),
        np.concatenate((*starts, words[-1:])),
        np.concatenate((NOTHING, *(one.words for one in texts))),
        np.concatenate((NOTHING, *(one.entities for one in texts))),
        np.concatenate((NOTHING, *(one.entity_row + first for one, first in zip(texts, rows, strict=False)))),
        np.repeat(np.array([place for place, _ in found], dtype=np.int64), [len(one.spans) for one in texts]),
    )
