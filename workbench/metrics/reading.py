"""Texts that are not of the session, read with the session's words and entities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from workbench.extraction.entities import Entity
from workbench.extraction.words import spans as pieces
from workbench.metrics.background import BUILTIN_BACKGROUND
from workbench.metrics.inverted_index import InvertedIndex
from workbench.ragged import Flags, Ints, flat_rows

TOGETHER = 512
"""Readings of several texts that are remembered."""
TEXTS = 8_192
"""Texts whose spans are."""
LONG = 1_000
"""Characters of a text that is looked for in another one before it is cut into spans."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What some texts say, span by span; a span is a row.

    Attributes:
        spans: the number of each row's span.
        word_start, words: the words of each row; those that the session does not have are left out.
        entities: the session's entities, one entry for each row that holds it; `entity_row` says which.
        every: the numbers of all entities, also of those that the session does not have; `every_row` says where.
    """

    spans: Ints
    word_start: Ints
    words: Ints
    entities: Ints
    entity_row: Ints
    every: Ints
    every_row: Ints


class Reader:
    """Reads texts for one session, each once."""

    def __init__(self, inverted_index: InvertedIndex) -> None:
        self._inverted_index = inverted_index
        self._readings: dict[str, Reading] = {}
        self._together: dict[tuple[str, ...], Reading] = {}
        self._stands_for: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._rows: dict[int, int] = {}
        self._words = _Rows(inverted_index.word_start, inverted_index.span_word)
        self._every = _Rows(inverted_index.entity_start, inverted_index.span_entity)
        self._entities = _Rows(inverted_index.entity_start, inverted_index.span_entity)
        self._spans: dict[str, Sequence[int]] = {}
        self._latest: tuple[str, Sequence[int]] = "", ()
        self._pieces: dict[str, int] = {}
        self._names: list[Entity] = list(inverted_index.names)
        self._each: tuple[tuple[str, ...], Reading, Ints] | None = None

    def read(self, text: str) -> Reading:
        """The reading of a text, made now or before."""
        self._learn_all((text,))
        return self._readings[text]

    def read_all(self, texts: Iterable[str]) -> Reading:
        """All texts as one reading, remembered; those without an entity of the session are left out."""
        key = tuple(texts)
        known = self._together.get(key)
        if known is None:
            different = dict.fromkeys(key)
            self._learn_all(different)
            found = [one for text in different if len((one := self._readings[text]).every)]
            known = found[0] if len(found) == 1 else _joined(found)
            if len(self._together) >= TOGETHER:
                self._together.clear()
            self._together[key] = known
        return known

    def read_each(self, texts: tuple[str, ...]) -> tuple[Reading, Ints]:
        """All texts as one reading, and for each of its rows the place of its text among them.

        Whoever asks for the same tuple again at once is given the same: one replay has many boundaries.
        """
        if self._each is None or self._each[0] is not texts:
            self._learn_all(texts)
            found = [(i, one) for i, text in enumerate(texts) if len((one := self._readings[text]).every)]
            places = np.array([i for i, _ in found], dtype=np.int64)
            rows = np.repeat(places, [len(one.spans) for _, one in found])
            self._each = texts, _joined([one for _, one in found]), rows
        return self._each[1:]

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

    def first_said(self, number: int) -> int:
        """The message that first says an entity, or names its file; n if none does, -1 where any model knows it."""
        first = self._first.get(number)
        if first is None:
            first = self._first[number] = self._first_said(number)
        return first

    def _first_said(self, number: int) -> int:
        p, name, stands = self._inverted_index, self.name(number), self.stands_for(number)
        if name in BUILTIN_BACKGROUND:
            return -1
        if name.kind == "path" and stands >= 0 and number >= len(p.names) and not p.files.is_ending(name.text):
            return p.n
        return int(p.first_known[stands]) if stands >= 0 else p.n

    def text(self, span: int) -> str:
        """The text of a span, also of one that only a read text holds."""
        return self._inverted_index.texts[span]

    def spans(self, text: str) -> Sequence[int]:
        """The numbers of a text's spans, in order; a quoted line is the line that it quotes."""
        found = self._spans.get(text)
        if found is None:
            if len(self._spans) >= TEXTS:
                self._spans.clear()
            found = self._inside(text)
            if found is None:
                found = self._inverted_index.extractor.read(text, self._pieces, self._inverted_index.spans)
            self._spans[text] = found
        if len(text) >= LONG:
            self._latest = text, found
        return found

    def _inside(self, text: str) -> Sequence[int] | None:
        """The spans of a long text that stands in the one asked for before, as a summary does between lead and tail."""
        whole, spans = self._latest
        first = whole.find(text[:LONG]) if len(text) >= LONG else -1
        if first < 0 or not whole.startswith(text, first):
            return None
        lead, tail = whole[:first], whole[first + len(text) :]
        if lead[-1:] not in ("", "\n") or tail[:1] not in ("", "\n"):
            return None
        before, after = (sum(1 for _ in pieces(part)) for part in (lead, tail))
        return spans[before : len(spans) - after]

    def words_of(self, spans: Sequence[int]) -> tuple[Ints, Ints]:
        """Of spans, where each one's words begin among all words, with the end, and the words that the session has."""
        return self._words.rows(*self._placed(np.array(spans, dtype=np.int64)))

    def _learn_all(self, texts: Iterable[str]) -> None:
        """Read the texts that are not known yet: many at once cost least."""
        new = [text for text in texts if text not in self._readings]
        if not new:
            return
        each = [list(dict.fromkeys(self.spans(text))) for text in new]
        spans = np.array(list(chain.from_iterable(each)), dtype=np.int64)
        placed = self._placed(spans)
        word_start, words = self._words.rows(*placed)
        entity_start, entities = self._entities.rows(*placed)
        every_start, every = (entity_start, entities) if placed[0].all() else self._every.rows(*placed)
        row = np.arange(len(spans))
        entity_row = np.repeat(row, np.diff(entity_start))
        every_row = entity_row if every is entities else np.repeat(row, np.diff(every_start))
        first = 0
        for text, own in zip(new, each, strict=True):
            end = first + len(own)
            word, entity, one = word_start[first : end + 1], entity_start[[first, end]], every_start[[first, end]]
            self._readings[text] = Reading(
                spans[first:end], word - word[0], words[word[0] : word[-1]],
                entities[entity[0] : entity[1]], entity_row[entity[0] : entity[1]] - first,
                every[one[0] : one[1]], every_row[one[0] : one[1]] - first,
            )  # fmt: skip
            first = end

    def _placed(self, spans: Ints) -> tuple[Flags, Ints]:
        """For each span whether the session has it, and its row: among the session's spans, or among the others."""
        own, known, places = spans < self._inverted_index.spans, self._rows, spans.copy()
        others = spans[~own].tolist()  # mostly few
        for span in others:
            if span not in known:
                self._learn(span)
        places[~own] = [known[span] for span in others]
        return own, places

    def _learn(self, span: int) -> None:
        """Take in a span that the session does not have."""
        self._rows[span] = len(self._rows)
        found = self._inverted_index.extractor.features_of(span)
        every = [~feature for feature in found if feature < 0]
        self._words.add([word for word in found if 0 <= word < self._inverted_index.words])
        self._entities.add([stands for number in every if (stands := self.stands_for(number)) >= 0])
        self._every.add(every)


class _Rows:
    """The items of spans: those of the session, which never change, and those of others, which come one by one."""

    __slots__ = ("_items", "_others", "_starts")

    def __init__(self, starts: Ints, items: Ints) -> None:
        self._starts, self._items = starts, items
        self._others: list[list[int]] = []

    def add(self, items: list[int]) -> None:
        """One more span that the session does not have."""
        self._others.append(items)

    def rows(self, own: Flags, places: Ints) -> tuple[Ints, Ints]:
        """The items of spans: where each one's begin, with the end, and all items.

        Args:
            own: whether the session has each of m spans.
            places: the row of each, among the session's spans or among the others.
        """
        starts, items = flat_rows(self._starts, self._items, places[own])
        if own.all():
            return starts, items
        others = [self._others[place] for place in places[~own].tolist()]
        counts = np.empty(len(places), dtype=np.int64)
        counts[own], counts[~own] = np.diff(starts), list(map(len, others))
        of_session = np.repeat(own, counts)
        found = np.empty(len(of_session), dtype=np.int64)
        found[of_session], found[~of_session] = items, list(chain.from_iterable(others))
        return np.concatenate(([0], np.cumsum(counts))), found


def _joined(readings: Sequence[Reading]) -> Reading:
    rows = np.cumsum([0] + [len(one.spans) for one in readings])
    words = np.cumsum([0] + [len(one.words) for one in readings])
    none = [np.zeros(0, dtype=np.int64)]
    return Reading(
        np.concatenate(none + [one.spans for one in readings]),
        np.concatenate([one.word_start[:-1] + base for one, base in zip(readings, words, strict=False)] + [words[-1:]]),
        np.concatenate(none + [one.words for one in readings]),
        np.concatenate(none + [one.entities for one in readings]),
        np.concatenate(none + [one.entity_row + base for one, base in zip(readings, rows, strict=False)]),
        np.concatenate(none + [one.every for one in readings]),
        np.concatenate(none + [one.every_row + base for one, base in zip(readings, rows, strict=False)]),
    )
