"""Values that were replaced: whether a context still gives the old one alone."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeAlias

import numpy as np

from workbench.base.ragged import Flags, kept_mask
from workbench.engine.extraction.words import words
from workbench.evaluation.metrics.indexes.text_index import TextIndex
from workbench.evaluation.metrics.state.value_changes import (
    ENOUGH,
    Change,
    spans_about,
    token,
    value_changes,
)

_Given: TypeAlias = tuple[int, bool]
"""A change's number, and whether its new value is given, not the old one."""


class Changes:
    """The values of one session that were replaced, and which spans give which."""

    def __init__(self, texts: TextIndex) -> None:
        self._index, self._texts = texts.inverted_index, texts
        self.changes = value_changes(self._index)
        self._again = np.array(
            [self._replaced_at(change) for change in self.changes], dtype=np.int64
        )
        self._at = np.array([change.at for change in self.changes], dtype=np.int64)
        rows = [row for number in range(len(self.changes)) for row in self._places(number)]
        self._message, self._number, is_new = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        self._is_new: Flags = is_new.astype(bool)
        self._given_by = cache(self._read_span)

    def stale(self, at: int, mask: Flags, texts: Iterable[str] = ()) -> tuple[int, int]:
        """Of how many values replaced in `messages[:at]` these messages and texts give the old one
        alone; and of all.

        A value that was replaced twice counts once, with the newest.
        """
        here = (self._at < at) & (self._again >= at)
        held = mask[self._message] & (self._message < at)
        spans = (
            {span for text in texts for span in self._texts.spans(text).tolist()}
            if here.any()
            else ()
        )
        given = {one for span in spans for one in self._given_by(span)}
        old, new = (
            (
                kept_mask(self._number[held & (self._is_new == which)], len(here))
                | kept_mask([number for number, is_new in given if is_new == which], len(here))
            )[here]
            for which in (False, True)
        )
        return int((old & ~new).sum()), int(here.sum())

    def _replaced_at(self, change: Change) -> int:
        """When the new value was replaced in its turn; n if never."""
        about = set(change.about)
        later = (
            other.at
            for other in self.changes
            if other.at > change.at and other.old == change.new and about & set(other.about)
        )
        return min(later, default=self._index.n)

    def _places(self, number: int) -> Iterator[tuple[int, int, bool]]:
        """Each message that gives the value, with the change's number and whether it gives the
        new one.
        """
        change, p = self.changes[number], self._index
        spans, counts, known = spans_about(p, change.about)
        for span in spans[counts >= min(ENOUGH, len(change.about), known)].tolist():
            new = _gives(p.texts[span], change)
            for at in p.messages_of(span) if new is not None else ():
                if at >= change.at if new else at < change.at:
                    yield at, number, bool(new)
        yield change.at, number, True  # the message that says so

    def _read_span(self, span: int) -> tuple[_Given, ...]:
        """The changes of which a span gives a value."""
        line = self._index.texts[span]
        found = ((number, _gives(line, change)) for number, change in enumerate(self.changes))
        return tuple((number, new) for number, new in found if new is not None)


def _gives(line: str, change: Change) -> bool | None:
    """Whether a line gives the new value of what the change is about; False: the old one alone;
    None: neither.
    """
    new = change.new in line and token(change.new).search(line) is not None
    if not new and not (change.old in line and token(change.old).search(line)):
        return None
    there = set(words(line))
    return (
        new
        if sum(word in there for word in change.about) >= min(ENOUGH, len(change.about))
        else None
    )
