"""Values that were replaced: whether a context still gives the old one, the new one, both or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np

from workbench.extraction.words import words
from workbench.metrics.indexes.inverted_index import InvertedIndex
from workbench.metrics.indexes.text_index import TextIndex
from workbench.metrics.state.value_changes import ENOUGH, Change, spans_about, token, value_changes
from workbench.ragged import Flags
from workbench.transcript.message import Message

_Given: TypeAlias = tuple[int, bool, bool]
"""A change's number, whether its old value is given, and whether its new one is."""


class Changes:
    """The values of one session that were replaced, and which spans give which."""

    def __init__(self, messages: Sequence[Message], inverted_index: InvertedIndex, texts: TextIndex) -> None:
        self._p, self._texts = inverted_index, texts
        self.changes = value_changes(messages, inverted_index)
        self._again = np.array([self._replaced_at(change) for change in self.changes], dtype=np.int64)
        self._at = np.array([change.at for change in self.changes], dtype=np.int64)
        rows = [row for number in range(len(self.changes)) for row in self._places(number)]
        self._message, self._number, is_new = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        self._is_new: Flags = is_new.astype(bool)
        self._values = {value for change in self.changes for value in (change.old, change.new)}
        self._given_in: dict[str, tuple[_Given, ...]] = {}
        self._given_by: dict[int, tuple[_Given, ...]] = {}

    def states(self, at: int, mask: Flags, texts: Iterable[str] = ()) -> dict[str, int]:
        """Of the values replaced in `messages[:at]`, how many a context gives as `latest`, `both`, `stale` or `none`.

        A value that was replaced twice counts once, with the newest.

        Args:
            at: the boundary.
            mask: which messages the context holds whole.
            texts: its other texts.
        """
        here = (self._at < at) & (self._again >= at)
        old, new = np.zeros(len(self.changes), dtype=bool), np.zeros(len(self.changes), dtype=bool)
        held = mask[self._message] & (self._message < at)
        new[self._number[held & self._is_new]] = True
        old[self._number[held & ~self._is_new]] = True
        given = set(chain.from_iterable(map(self._given, dict.fromkeys(texts))))
        old[[number for number, gives_old, _ in given if gives_old]] = True
        new[[number for number, _, gives_new in given if gives_new]] = True
        old, new = old[here], new[here]
        return {
            "latest": int((new & ~old).sum()), "both": int((new & old).sum()),
            "stale": int((old & ~new).sum()), "none": int((~old & ~new).sum()),
        }  # fmt: skip

    def _replaced_at(self, change: Change) -> int:
        """When the new value was replaced in its turn; n if never."""
        about = set(change.about)
        later = (
            other.at
            for other in self.changes
            if other.at > change.at and other.old == change.new and about & set(other.about)
        )
        return min(later, default=self._p.n)

    def _places(self, number: int) -> Iterator[tuple[int, int, int]]:
        """Each message that gives the value, with the change's number and whether it gives the new one."""
        change, p = self.changes[number], self._p
        spans, counts, known = spans_about(p, change.about)
        for span in spans[counts >= min(ENOUGH, len(change.about), known)].tolist():
            old, new = _gives(p.texts[span], change)
            for place in p.places_of(span).tolist() if old or new else ():
                at = int(p.place_message[place])
                if not p.thought[place] and (at >= change.at if new else at < change.at):
                    yield at, number, int(new)
        yield change.at, number, 1  # the message that says so

    def _given(self, text: str) -> tuple[_Given, ...]:
        """What a text gives; worked out once a text, and once a span."""
        found = self._given_in.get(text)
        if found is None:
            spans = set(self._texts.spans(text)) if self.changes else set()
            for span in spans.difference(self._given_by):
                self._given_by[span] = self._given_at(self._texts.text(span))
            rows = chain.from_iterable(map(self._given_by.__getitem__, spans))
            found = self._given_in[text] = tuple(set(rows))
        return found

    def _given_at(self, line: str) -> tuple[_Given, ...]:
        """The changes of which a line gives a value."""
        there = {value for value in self._values if value in line}
        if not there:
            return ()
        rows = (
            (number, *_gives(line, change))
            for number, change in enumerate(self.changes)
            if change.new in there or change.old in there
        )
        return tuple(row for row in rows if row[1] or row[2])


def _gives(line: str, change: Change) -> tuple[bool, bool]:
    """Whether a line gives the old value alone, and whether it gives the new one, of what the change is about."""
    if change.new in line and token(change.new).search(line):
        return False, _beside(line, change)
    return bool(change.old in line and token(change.old).search(line)) and _beside(line, change), False


def _beside(line: str, change: Change) -> bool:
    enough, low = min(ENOUGH, len(change.about)), line.lower()
    if sum(word in low for word in change.about) < enough:  # a quick look: most lines have not even the letters
        return False
    there = set(words(line))
    return sum(word in there for word in change.about) >= enough
