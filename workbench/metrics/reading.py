"""Texts that are not of the session, read with the session's words and atoms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeAlias

import numpy as np

from workbench.metrics.background import BUILTIN_BACKGROUND
from workbench.metrics.postings import Postings
from workbench.metrics.ragged import Ints, row_starts
from workbench.transcript.atoms import Atom

TOGETHER = 512
"""Readings of several texts that are remembered."""

_Row: TypeAlias = tuple[list[int], list[int], list[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What some texts say, span by span; a span is a row.

    Attributes:
        spans: the number of each row's span.
        word_start, words: the words of each row; those that the session does not have are left out.
        atoms: the session's atoms, one entry for each row that holds it; `atom_row` says which.
        every: the numbers of all atoms, also of those that the session does not have; `every_row` says where.
    """

    spans: Ints
    word_start: Ints
    words: Ints
    atoms: Ints
    atom_row: Ints
    every: Ints
    every_row: Ints


class Reader:
    """Reads texts for one session, each once."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._readings: dict[str, Reading] = {}
        self._together: dict[tuple[str, ...], Reading] = {}
        self._stands_for: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._rows: dict[int, _Row] = {}
        self._texts: list[str] = []
        self._names: list[Atom] = list(postings.names)

    def read(self, text: str) -> Reading:
        """The reading of a text, made now or before."""
        found = self._readings.get(text)
        if found is None:
            found = self._readings[text] = self._made(text)
        return found

    def read_all(self, texts: Iterable[str]) -> Reading:
        """All texts as one reading, remembered; those without an atom of the session are left out."""
        key = tuple(texts)
        known = self._together.get(key)
        if known is None:
            found = [one for text in dict.fromkeys(key) if len((one := self.read(text)).every)]
            known = found[0] if len(found) == 1 else _joined(found)
            if len(self._together) >= TOGETHER:
                self._together.clear()
            self._together[key] = known
        return known

    def name(self, number: int) -> Atom:
        """The atom of that number, also of one that only a read text holds."""
        if number >= len(self._names):
            known = list(self._postings.miner.atoms)
            self._names += [Atom(kind, text) for kind, text in known[len(self._names) :]]
        return self._names[number]

    def stands_for(self, number: int) -> int:
        """The session's atom that an atom is the same as, -1 if the session does not have it."""
        if number not in self._stands_for:
            p = self._postings
            stands = int(p.stands_for[number]) if number < len(p.names) else -1
            name = self.name(number)
            if stands < 0 and name.kind == "path" and (known := p.files.of(name.text)):
                stands = int(p.stands_for[p.paths[known]])
            self._stands_for[number] = -1 if stands >= 0 and p.folder[stands] else stands
        return self._stands_for[number]

    def first_said(self, number: int) -> int:
        """The message that first says an atom, or names its file; n if none does, -1 where any model knows it."""
        first = self._first.get(number)
        if first is None:
            first = self._first[number] = self._first_said(number)
        return first

    def _first_said(self, number: int) -> int:
        p, name, stands = self._postings, self.name(number), self.stands_for(number)
        if name in BUILTIN_BACKGROUND:
            return -1
        if name.kind == "path" and stands >= 0 and number >= len(p.names) and not p.files.is_ending(name.text):
            return p.n
        return int(p.first_known[stands]) if stands >= 0 else p.n

    def text(self, span: int) -> str:
        """The text of a span, also of one that only a read text holds."""
        if span >= len(self._texts):
            self._texts += islice(self._postings.miner.spans, len(self._texts), None)
        return self._texts[span]

    def spans(self, text: str) -> list[int]:
        """The numbers of a text's spans, in order."""
        return self._postings.miner.read(text)

    def words_of(self, spans: Sequence[int]) -> tuple[Ints, Ints]:
        """Of spans, where each one's words begin among all words, with the end, and the words that the session has."""
        words, row = _flat([row[0] for row in self._rows_of(spans)])
        return row_starts(row, len(spans)), words

    def _rows_of(self, spans: Iterable[int]) -> list[_Row]:
        known = self._rows
        return [known.get(span) or self._row(span) for span in spans]

    def _made(self, text: str) -> Reading:
        spans = list(dict.fromkeys(self.spans(text)))
        rows = self._rows_of(spans)
        words, word_row = _flat([row[0] for row in rows])
        atoms, atom_row = _flat([row[1] for row in rows])
        every, every_row = _flat([row[2] for row in rows])
        starts = row_starts(word_row, len(spans))
        return Reading(np.array(spans, dtype=np.int64), starts, words, atoms, atom_row, every, every_row)

    def _row(self, span: int) -> _Row:
        """The words, the session's atoms and all atoms of a span; worked out once, since lines come again."""
        found = self._features(span)
        every = [~feature for feature in found if feature < 0]
        atoms = [stands for number in every if (stands := self.stands_for(number)) >= 0]
        row = self._rows[span] = ([word for word in found if 0 <= word < self._postings.words], atoms, every)
        return row

    def _features(self, span: int) -> list[int]:
        p = self._postings
        if span >= p.spans:
            return p.miner.features_of(span)
        words = p.span_word[p.word_start[span] : p.word_start[span + 1]].tolist()
        atoms = p.span_atom[p.atom_start[span] : p.atom_start[span + 1]].tolist()
        return [*words, *(~atom for atom in atoms)]


def _flat(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """The items of all rows, and the row of each."""
    sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    items = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(sizes.sum()))
    return items, np.repeat(np.arange(len(rows)), sizes)


def _joined(readings: Sequence[Reading]) -> Reading:
    rows = np.cumsum([0] + [len(one.spans) for one in readings])
    words = np.cumsum([0] + [len(one.words) for one in readings])
    none = [np.zeros(0, dtype=np.int64)]
    return Reading(
        np.concatenate(none + [one.spans for one in readings]),
        np.concatenate([one.word_start[:-1] + base for one, base in zip(readings, words, strict=False)] + [words[-1:]]),
        np.concatenate(none + [one.words for one in readings]),
        np.concatenate(none + [one.atoms for one in readings]),
        np.concatenate(none + [one.atom_row + base for one, base in zip(readings, rows, strict=False)]),
        np.concatenate(none + [one.every for one in readings]),
        np.concatenate(none + [one.every_row + base for one, base in zip(readings, rows, strict=False)]),
    )
