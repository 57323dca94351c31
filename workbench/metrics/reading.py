"""Texts that are not of the session, read with the session's words and atoms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics.postings import Postings
from workbench.metrics.ragged import Ints
from workbench.transcript.atoms import Atom


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
        self._stands_for: dict[int, int] = {}
        self._names: list[Atom] = list(postings.names)

    def read(self, text: str) -> Reading:
        """The reading of a text, made now or before."""
        found = self._readings.get(text)
        if found is None:
            found = self._readings[text] = self._made(text)
        return found

    def read_all(self, texts: Iterable[str]) -> Reading:
        """All texts as one reading; those without an atom of the session are left out."""
        found = [one for text in dict.fromkeys(texts) if len((one := self.read(text)).every)]
        return found[0] if len(found) == 1 else _joined(found)

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

    def _made(self, text: str) -> Reading:
        p, miner = self._postings, self._postings.miner
        spans = list(dict.fromkeys(miner.read(text)))
        flat: list[int] = []
        lengths = []
        for span in spans:
            features = self._features(span)
            flat += features
            lengths.append(len(features))
        found = np.array(flat, dtype=np.int64)
        row = np.repeat(np.arange(len(spans)), np.array(lengths, dtype=np.int64))
        every, every_row = ~found[found < 0], row[found < 0]
        atoms = np.array([self.stands_for(number) for number in every.tolist()], dtype=np.int64)
        known = (found >= 0) & (found < p.words)
        counts = np.bincount(row[known], minlength=len(spans))
        word_start = np.concatenate(([0], np.cumsum(counts)))
        numbers = np.array(spans, dtype=np.int64)
        has = atoms >= 0
        return Reading(numbers, word_start, found[known], atoms[has], every_row[has], every, every_row)

    def _features(self, span: int) -> list[int]:
        p = self._postings
        if span >= p.spans:
            return p.miner.features_of(span)
        words = p.span_word[p.word_start[span] : p.word_start[span + 1]].tolist()
        atoms = p.span_atom[p.atom_start[span] : p.atom_start[span + 1]].tolist()
        return [*words, *(~atom for atom in atoms)]


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
