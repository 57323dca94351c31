"""Which statements of a session a context still states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from workbench.extraction.entities import LEXICAL, STATEMENTS, Entity, Kind
from workbench.extraction.statements import statements
from workbench.extraction.words import words
from workbench.metrics.inverted_index import InvertedIndex
from workbench.metrics.reading import Reader
from workbench.ragged import Flags, Floats, Ints, gather, row_starts, table_of
from workbench.transcript.message import Message

ENOUGH = 0.6
"""The share of a statement's words, weighted by idf, that one span must have in order to state it."""


class Stated:
    """The statements of one session with the messages that make them.

    Attributes:
        entities: each statement once, in order of first mention.
        first: for each the first message that makes it.
        kinds: for each the place of its kind in `KINDS`.
    """

    def __init__(self, messages: Sequence[Message], inverted_index: InvertedIndex, reader: Reader) -> None:
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
        self._kind = np.array([STATEMENTS.index(entity.kind) for entity in self.entities], dtype=np.int64)
        self.kinds: Ints = len(LEXICAL) + self._kind
        self._inverted_index, self._reader = inverted_index, reader
        self._index_words()
        self._read: dict[str, Flags] = {}
        self._known: set[int] = set()
        self._stating: dict[int, list[int]] = {}

    def _index_words(self) -> None:
        """For each word the statements that have it, and for each statement the weight of its words."""
        p = self._inverted_index
        numbers = p.extractor.words
        pairs = [
            (number, slot)
            for slot, entity in enumerate(self.entities)
            for word in words(entity.text)
            if (number := numbers.get(word, p.words)) < p.words
        ]
        word, slot = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self._starts, order = table_of(word, p.words)
        self._slots = slot[order]
        self._weight: Floats = np.bincount(slot, p.idf[word], minlength=len(self.entities)).astype(np.float64)

    def held(self, mask: Flags, texts: Iterable[str] = ()) -> Flags:
        """For each statement whether a context of these messages and texts still states it."""
        held = np.zeros(len(self.entities), dtype=bool)
        held[self._slot[mask[self._message]]] = True
        for flags in self._each(dict.fromkeys(texts)):
            held |= flags
        return held

    def of_texts(self, texts: Sequence[str], wanted: Flags) -> tuple[Ints, Ints]:
        """The statements in the wanted ones of texts: the place of each one's text among them, and the statement."""
        places = np.flatnonzero(wanted)
        stated = [np.flatnonzero(flags) for flags in self._each([texts[at] for at in places.tolist()])]
        return places.repeat([len(one) for one in stated]), np.concatenate((np.zeros(0, dtype=np.int64), *stated))

    def _each(self, texts: Collection[str]) -> Iterator[Flags]:
        """What each of some texts states; what their spans state is worked out for all at once."""
        self._learn(chain.from_iterable(self._reader.spans(text) for text in texts if text not in self._read))
        return map(self.stated_in, texts)

    def of_messages(self, messages: Ints) -> tuple[Ints, Ints]:
        """The statements that messages make: the place of each one's message among these, and the statement."""
        starts, order = table_of(self._message, self._inverted_index.n)
        owner, at = gather(starts, messages)
        return owner, self._slot[order][at]

    def stated_in(self, text: str) -> Flags:
        """For each statement whether one span of a text has enough of its words; worked out once a text."""
        found = self._read.get(text)
        if found is None:
            found = self._read[text] = self.stated_by(self._reader.spans(text))
        return found

    def spans(self, text: str) -> Sequence[int]:
        """The spans of a text, by number."""
        return self._reader.spans(text)

    def stated_by(self, spans: Iterable[int]) -> Flags:
        """For each statement whether one of these spans has enough of its words; worked out once a span."""
        every = set(spans)
        self._learn(every)
        covered = np.zeros(len(self.entities), dtype=bool)
        covered[[slot for span in self._stating.keys() & every for slot in self._stating[span]]] = True
        return covered

    def stating(self, spans: Iterable[int]) -> list[int]:
        """Those of these spans that have enough words of some statement, as often as they stand there."""
        every = tuple(spans)
        self._learn(every)
        return [span for span in every if span in self._stating]

    def _learn(self, spans: Iterable[int]) -> None:
        """Work out what spans state, where it is not known; many at once cost least."""
        new = list(set(spans) - self._known)
        if new:
            self._known.update(new)
            rows, slots = self._pairs(*self._reader.words_of(new))
            for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
                self._stating.setdefault(new[row], []).append(slot)

    def said(self) -> Iterator[tuple[int, int]]:
        """Each statement, as its place in `entities`, with each message that makes it."""
        return zip(self._slot.tolist(), self._message.tolist(), strict=True)

    def pairs_of_spans(self, spans: Ints) -> tuple[Ints, Ints]:
        """Of spans of the session, each one's place in `spans` with each statement that has enough words in it."""
        p = self._inverted_index
        owner, found = gather(p.word_start, spans)
        return self._pairs(row_starts(owner, len(spans)), p.span_word[found])

    def _pairs(self, word_start: Ints, words: Ints) -> tuple[Ints, Ints]:
        """Rows of words, each with each statement that has enough of its words there."""
        n = len(self.entities)
        owner, at = gather(self._starts, words)
        if not len(at):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        row = np.repeat(np.arange(len(word_start) - 1), np.diff(word_start))
        keys, pair = np.unique(row[owner] * n + self._slots[at], return_inverse=True)
        weight = np.bincount(pair, self._inverted_index.idf[words[owner]])
        slot = keys % n
        enough = weight >= ENOUGH * self._weight[slot]
        return keys[enough] // n, slot[enough]

    def recall(self, at: int, mask: Flags, texts: Iterable[str]) -> dict[Kind, tuple[int, int]]:
        """By kind: how many statements of `messages[:at]` are still stated, and how many there are."""
        past = self.first < at
        whole = np.bincount(self._kind[past], minlength=len(STATEMENTS))
        held = np.bincount(self._kind[past & self.held(mask, texts)], minlength=len(STATEMENTS))
        return {kind: (int(held[i]), int(whole[i])) for i, kind in enumerate(STATEMENTS) if whole[i]}
