"""From when to when each message and each new text stood in a history that was compacted again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from workbench.metrics.view import view
from workbench.ragged import Ints
from workbench.replay.step import Replay
from workbench.transcript.context import Context
from workbench.transcript.message import Message, said_text
from workbench.transcript.session import Session

Key: TypeAlias = int | str
"""A message of the session that stands whole, by its index; or another text."""


@dataclass(frozen=True, slots=True, eq=False)
class Lifetimes:
    """Who stood when, as half-open ranges of whatever counts the time.

    Attributes:
        message: the index of each message that stood whole from `begin` to `end`.
        texts: other texts, each once; `text` is the number of each that stood from `text_begin` to `text_end`.
    """

    message: Ints
    begin: Ints
    end: Ints
    texts: tuple[str, ...]
    text: Ints
    text_begin: Ints
    text_end: Ints

    def counted(self, times: Ints) -> Lifetimes:
        """The same in another count: time k is `times[k]` of this one's; in order."""
        begin, end = np.searchsorted(times, self.begin), np.searchsorted(times, self.end)
        text_begin, text_end = np.searchsorted(times, self.text_begin), np.searchsorted(times, self.text_end)
        here, there = begin < end, text_begin < text_end
        return Lifetimes(
            self.message[here], begin[here], end[here],
            self.texts, self.text[there], text_begin[there], text_end[there],
        )  # fmt: skip


class _Book:
    """Writes down who comes and goes."""

    def __init__(self) -> None:
        self._there: dict[Key, int] = {}
        self._times: dict[Key, int] = {}
        self._messages: list[tuple[int, int, int]] = []
        self._texts: dict[str, int] = {}
        self._texts_stays: list[tuple[int, int, int]] = []

    def come(self, key: Key, at: int) -> None:
        """One more of these is there from now on."""
        times = self._times[key] = self._times.get(key, 0) + 1
        if times == 1:
            self._there[key] = at

    def go(self, key: Key, at: int) -> None:
        """One of these is gone."""
        times = self._times.pop(key) - 1
        if times:
            self._times[key] = times
        else:
            self._write(key, self._there.pop(key), at)

    def lifetimes(self, at: int) -> Lifetimes:
        """All of them; who is still there goes now."""
        for key, begin in self._there.items():
            self._write(key, begin, at)
        message, begin, end = _columns(self._messages)
        text, text_begin, text_end = _columns(self._texts_stays)
        return Lifetimes(message, begin, end, tuple(self._texts), text, text_begin, text_end)

    def _write(self, key: Key, begin: int, end: int) -> None:
        if begin == end:
            return
        if isinstance(key, str):
            self._texts_stays.append((self._texts.setdefault(key, len(self._texts)), begin, end))
        else:
            self._messages.append((key, begin, end))


def _columns(rows: Sequence[tuple[int, int, int]]) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, 3).T


@dataclass(frozen=True, slots=True, eq=False)
class MessageLifetimes:
    """The history as it was kept, before each compaction and after each of its stages: its *moments*, in order.

    Attributes:
        at: the boundary of each moment's compaction; never less than that of the moment before in a natural replay.
        stage: the stage that had just been applied; empty before the first.
        lifetimes: who stood when, counted in moments.
        last: for each compaction its last moment.
        first, stop: the moments to look at.
    """

    at: Ints
    stage: tuple[str, ...]
    lifetimes: Lifetimes
    last: Ints
    first: int
    stop: int

    def until(self, at: int) -> MessageLifetimes:
        """Only the compactions up to a boundary, which must stand in order."""
        return replace(self, stop=int(np.searchsorted(self.at, at, side="right")))

    def of(self, at: int) -> MessageLifetimes:
        """Only the compactions at one boundary, which must stand together."""
        found = np.flatnonzero(self.at == at)
        return replace(self, first=int(found[0]), stop=int(found[-1]) + 1) if len(found) else replace(self, stop=0)


def message_lifetimes(replay: Replay, share: float | None) -> MessageLifetimes:
    """The message lifetimes of a replay's compactions at one budget.

    In a natural replay each begins with what the one before left, so that only changes are looked at.
    """
    session, chained = replay.session, replay.mode == "natural"
    there, at, stage, last = _There(session), list[int](), list[str](), list[int]()
    heard = 0
    for event in (one for one in replay.events if one.share == share):
        done = event.compaction
        if chained:
            there.put(session.messages[heard : event.at], len(at))
            heard = event.at
        if not (chained and there.are(done.before)):
            there.clear(len(at))
            there.put(done.before.messages, len(at))
        at.append(event.at)
        stage.append("")
        for record in done.stages:
            if record.used:
                there.drop(record.dropped, len(at))
                there.put(record.wrote, len(at))
                at.append(event.at)
                stage.append(record.name)
        last.append(len(at) - 1)
    lifetimes = there.book.lifetimes(len(at))
    return MessageLifetimes(
        np.array(at, dtype=np.int64), tuple(stage), lifetimes, np.array(last, dtype=np.int64), 0, len(at)
    )


class _There:
    """Who stands in the history now, by id, and the book of all who ever did."""

    def __init__(self, session: Session) -> None:
        self.book = _Book()
        self._place = session.place
        self._no_id_twice = len(session.index_of) == len(session.messages)
        self._messages: dict[str, Message] = {}

    def are(self, context: Context) -> bool:
        """Whether these are the context's messages, which is known to have grown out of them."""
        return self._no_id_twice and len(self._messages) == len(context.messages)

    def put(self, messages: Iterable[Message], now: int) -> None:
        """These come, each in the place of the one with its id."""
        for message in messages:
            self._go(self._messages.get(message.id), now)
            self._messages[message.id] = message
            self.book.come(self._key(message), now)

    def drop(self, ids: Iterable[str], now: int) -> None:
        """These go."""
        for name in ids:
            self._go(self._messages.pop(name, None), now)

    def clear(self, now: int) -> None:
        """All go."""
        self.drop(tuple(self._messages), now)

    def _go(self, message: Message | None, now: int) -> None:
        if message is not None:
            self.book.go(self._key(message), now)

    def _key(self, message: Message) -> Key:
        at = self._place.get(id(message))
        return said_text(message) if at is None else at


def sent_lifetimes(replay: Replay, kept: MessageLifetimes) -> Lifetimes:
    """Who stood in what was sent after each compaction of a natural replay, counted in compactions.

    Args:
        replay: natural.
        kept: its message lifetimes.
    """
    events = [event for event in replay.events if event.share is None]
    if all(event.compaction.sent is event.compaction.after for event in events):
        return kept.lifetimes.counted(kept.last)
    book, there = _Book(), set[Key]()
    for number, event in enumerate(events):
        seen = view(replay.session, event.compaction.sent)
        now: set[Key] = {*seen.kept, *seen.texts}
        for key in there - now:
            book.go(key, number)
        for key in now - there:
            book.come(key, number)
        there = now
    return book.lifetimes(len(events))
