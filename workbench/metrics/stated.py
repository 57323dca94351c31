"""Which statements of a session a context still states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.metrics.postings import Postings
from workbench.metrics.ragged import Flags
from workbench.metrics.reading import Reading
from workbench.transcript.atoms import STATEMENTS, Atom, Kind
from workbench.transcript.message import Message
from workbench.transcript.statements import statements
from workbench.transcript.words import words

ENOUGH = 0.6
"""The share of a statement's words, weighted by idf, that one span must have in order to state it."""


class Stated:
    """The statements of one session with the messages that make them.

    Attributes:
        atoms: each statement once, in order of first mention.
        messages: for each the messages that make it.
    """

    def __init__(self, messages: Sequence[Message], postings: Postings) -> None:
        found: dict[Atom, list[int]] = {}
        for i, message in enumerate(messages):
            for atom in statements(message):
                found.setdefault(atom, []).append(i)
        self.atoms = tuple(found)
        self.messages = tuple(tuple(held) for held in found.values())
        self._postings = postings
        self._by_word: dict[int, list[int]] = {}
        self._weight = np.zeros(len(self.atoms))
        for slot, atom in enumerate(self.atoms):
            for word in words(atom.text):
                number = postings.miner.words.get(word, postings.words)
                if number < postings.words:
                    self._by_word.setdefault(number, []).append(slot)
                    self._weight[slot] += postings.idf[number]

    def held(self, mask: Flags, reading: Reading) -> Flags:
        """For each statement whether a context of these messages and texts still states it."""
        held = np.array([bool(mask[list(where)].any()) for where in self.messages], dtype=bool)
        return held | self.stated_in(reading)

    def stated_in(self, reading: Reading) -> Flags:
        """For each statement whether one span of a reading has enough of its words."""
        best = np.zeros(len(self.atoms))
        idf = self._postings.idf
        for row in range(len(reading.spans)):
            sums: dict[int, float] = {}
            for word in reading.words[reading.word_start[row] : reading.word_start[row + 1]].tolist():
                for slot in self._by_word.get(word, ()):
                    sums[slot] = sums.get(slot, 0.0) + float(idf[word])
            for slot, weight in sums.items():
                best[slot] = max(best[slot], weight)
        return (self._weight > 0) & (best >= ENOUGH * self._weight)

    def recall(self, at: int, mask: Flags, reading: Reading) -> dict[Kind, tuple[int, int]]:
        """By kind: how many statements of `messages[:at]` are still stated, and how many there are."""
        past = np.array([where[0] < at for where in self.messages], dtype=bool)
        if not past.any():
            return {}
        held = self.held(mask, reading) & past
        found: dict[Kind, tuple[int, int]] = {}
        for kind in STATEMENTS:
            is_kind = np.array([atom.kind == kind for atom in self.atoms], dtype=bool)
            if (past & is_kind).any():
                found[kind] = (int((held & is_kind).sum()), int((past & is_kind).sum()))
        return found
