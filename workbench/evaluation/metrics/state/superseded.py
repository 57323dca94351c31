"""Values that were replaced: whether a context still gives the old one alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from workbench.base.ragged import Flags, integers, kept_mask
from workbench.engine.extraction.words import words
from workbench.evaluation.metrics.indexes.arrays import columns_of
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


class _Place(NamedTuple):
    """A message that gives a value of a change: the new one, or the old one."""

    message: int
    change: int
    gives_new: bool


class Changes:
    """The values of one session that were replaced, and which spans give which."""

    def __init__(self, texts: TextIndex) -> None:
        self._index = texts.inverted_index
        self._texts = texts
        self.changes = value_changes(self._index)
        self._replaced_again = integers(self._replaced_at(change) for change in self.changes)
        self._at = integers(change.at for change in self.changes)
        places: list[_Place] = []
        for number in range(len(self.changes)):
            places += self._places(number)
        messages, numbers, gives_new = columns_of(places, 3)
        self._message = messages
        self._number = numbers
        self._is_new: Flags = gives_new.astype(bool)
        self._given_by = cache(self._read_span)

    def stale(self, boundary: int, mask: Flags, texts: Iterable[str] = ()) -> tuple[int, int]:
        """Of how many values replaced in `messages[:boundary]` these messages and texts give the
        old one alone; and of all.

        A value that was replaced twice counts once, with the newest.
        """
        is_replaced = self._at < boundary
        still_holds = self._replaced_again >= boundary
        is_asked = is_replaced & still_holds
        if not is_asked.any():
            return 0, 0
        is_past = self._message < boundary
        is_held = mask[self._message] & is_past
        holds_old = is_held & ~self._is_new
        holds_new = is_held & self._is_new
        change_count = len(self.changes)
        gives_old = kept_mask(self._number[holds_old], change_count)
        gives_new = kept_mask(self._number[holds_new], change_count)
        for number, is_new in self._given_in(texts):
            if is_new:
                gives_new[number] = True
            else:
                gives_old[number] = True
        is_stale = is_asked & gives_old & ~gives_new
        stale_count = int(is_stale.sum())
        asked_count = int(is_asked.sum())
        return stale_count, asked_count

    def _given_in(self, texts: Iterable[str]) -> set[_Given]:
        """The changes of which texts give a value."""
        changes: set[_Given] = set()
        for text in texts:
            spans = self._texts.spans(text)
            for span in spans.tolist():
                changes_of_span = self._given_by(span)
                changes.update(changes_of_span)
        return changes

    def _replaced_at(self, change: Change) -> int:
        """When the new value was replaced in its turn; n if never."""
        about = set(change.about)
        in_order = sorted(self.changes, key=attrgetter("at"))
        for later in in_order:
            if later.at <= change.at:
                continue
            if later.old != change.new:
                continue
            if not about.isdisjoint(later.about):
                return later.at
        return self._index.n

    def _places(self, number: int) -> Iterator[_Place]:
        """Each message that gives the old value before the change, or the new one since."""
        change = self.changes[number]
        index = self._index
        spans, counts, word_count = spans_about(index, change.about)
        fewest = min(ENOUGH, len(change.about), word_count)
        has_enough = counts >= fewest
        spans_about_it = spans[has_enough]
        for span in spans_about_it.tolist():
            line = index.texts[span]
            gives_new = _gives(line, change)
            if gives_new is None:
                continue
            for message in index.messages_of(span):
                is_since_change = message >= change.at
                if is_since_change == gives_new:
                    yield _Place(message, number, gives_new)
        yield _Place(change.at, number, gives_new=True)  # the message that says so

    def _read_span(self, span: int) -> tuple[_Given, ...]:
        """The changes of which a span gives a value."""
        line = self._index.texts[span]
        changes: list[_Given] = []
        for number, change in enumerate(self.changes):
            gives_new = _gives(line, change)
            if gives_new is not None:
                changes.append((number, gives_new))
        return tuple(changes)


def _gives(line: str, change: Change) -> bool | None:
    """Whether a line gives the new value of what the change is about; False: the old one alone;
    None: neither.
    """
    gives_new = _has_value(line, change.new)
    if not gives_new and not _has_value(line, change.old):
        return None
    line_words = set(words(line))
    words_about = sum(word in line_words for word in change.about)
    enough = min(ENOUGH, len(change.about))
    if words_about < enough:
        return None
    return gives_new


def _has_value(line: str, value: str) -> bool:
    if value not in line:
        return False
    return token(value).search(line) is not None
