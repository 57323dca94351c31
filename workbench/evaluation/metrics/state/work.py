"""Work that was announced: what of it is open at a boundary, and what is done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Flags, Ints, kept_mask, together
from workbench.engine.extraction.entities import Entity, plain
from workbench.engine.extraction.statements import (
    says_done,
    sentences,
    statements,
    tasks,
    withdraws,
)
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    is_real_user,
)
from workbench.evaluation.metrics.indexes.arrays import columns_of, flags
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex
from workbench.evaluation.metrics.indexes.text_index import StatementIndex, TextIndex

_OPEN, _DONE, _WITHDRAWN = range(3)
_DONE_HEADING = re.compile(
    r"^\W*(?:finished|done|completed?)(?: work| tasks?| steps?| items?)?\W*$", re.IGNORECASE
)
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")
_TICKED = re.compile(r"^[^\S\n]*(?:[-*+][^\S\n]+)?\[[xX]\][^\S\n]+(.*)", re.MULTILINE)


class _Event(NamedTuple):
    """What a message says of a statement: that it is open, done or withdrawn."""

    message: int
    status: int
    slot: int


class Work:
    """The pieces of work of one session: every statement of the kind `pending`, and when it was
    open or done.

    It is done where a task list says so, a box is ticked, or a later line of a person or an
    assistant has most of its words and says so. Fails to see: work whose end is never mentioned,
    which stays open; a part that is done, which closes the whole.
    """

    def __init__(self, texts: TextIndex, statements: StatementIndex) -> None:
        self._texts = texts
        self._statements = statements
        self._number: dict[Entity, int] = {}
        for slot, entity in enumerate(statements.entities):
            self._number[entity] = slot
        self._is_work = flags(entity.kind == "pending" for entity in statements.entities)
        messages = statements.message.tolist()
        slots = statements.slot.tolist()
        events: list[_Event] = []
        for message, slot in zip(messages, slots, strict=True):
            if self._is_work[slot]:
                event = _Event(message, _OPEN, slot)
                events.append(event)
        if self._is_work.any():
            for event in self._endings(texts.inverted_index):
                if self._is_work[event.slot]:
                    events.append(event)
        events.sort()
        columns = columns_of(events, 3)
        self._message, self._status, self._slot = columns
        self._opened_and_ended = cache(self._read)

    def _slot_of(self, text: str) -> int | None:
        """The piece of work that is worded so."""
        entity = Entity("pending", plain(text))
        return self._number.get(entity)

    def _endings(self, index: InvertedIndex) -> Iterator[_Event]:
        """Each message that says that a statement is done or withdrawn."""
        messages = index.messages
        by_user = flags(is_real_user(message) for message in messages)
        by_assistant = flags(isinstance(message, AssistantMessage) for message in messages)
        by_either = by_user | by_assistant
        speaking = np.flatnonzero(by_either)
        for number in speaking.tolist():
            message = messages[number]
            for text in _ticked(message):
                slot = self._slot_of(text)
                if slot is not None:
                    yield _Event(number, _DONE, slot)
        for number, slot in self._said_to_end(index, says_done, by_either):
            yield _Event(number, _DONE, slot)
        for number, slot in self._said_to_end(index, withdraws, by_user):
            yield _Event(number, _WITHDRAWN, slot)

    def _said_to_end(
        self,
        index: InvertedIndex,
        says_end: Callable[[str], bool],
        speakers: Flags,
    ) -> Iterator[tuple[int, int]]:
        """Each message of some speakers with each earlier statement that a line of it ends.

        Args:
            index: of the session.
            says_end: whether a line says that something ends.
            speakers: (messages,) whether a message counts.
        """
        is_by_speaker = speakers[index.place_message]
        is_said = is_by_speaker & ~index.thought
        said_spans = index.place_span[is_said]
        said_messages = index.place_message[is_said]
        ending_spans: list[int] = []
        distinct_spans = set(said_spans.tolist())
        for span in distinct_spans:
            line = index.texts[span]
            if says_end(line):
                ending_spans.append(span)
        is_ending = np.isin(said_spans, ending_spans)
        ending_messages = said_messages[is_ending]
        places, slots = self._statements.stating(said_spans[is_ending])
        messages = ending_messages[places]
        first_message = self._statements.first
        pairs = zip(messages.tolist(), slots.tolist(), strict=True)
        for message, slot in pairs:
            if first_message[slot] < message:
                yield message, slot

    def open_and_done(self, boundary: int) -> tuple[Flags, Flags]:
        """(statements,) which work of `messages[:boundary]` is open and which is done, by the last
        word on each.

        Work that a person withdrew counts as before.
        """
        last_word = self._last_word(boundary, (_OPEN, _DONE))
        return last_word == _OPEN, last_word == _DONE

    def resurrected(
        self,
        boundary: int,
        mask: Flags,
        texts: Iterable[str] = (),
    ) -> tuple[Flags, Flags]:
        """(statements,) the work done or withdrawn in `messages[:boundary]` that these messages and
        texts give as open; all.

        Open means that a message or text announces it, and none says that it is done or withdrawn.
        """
        last_word = self._last_word(boundary, (_OPEN, _DONE, _WITHDRAWN))
        is_closed = last_word > _OPEN
        is_past = self._message < boundary
        is_held = mask[self._message] & is_past
        opens = self._status == _OPEN
        opened_slots = self._slot[is_held & opens]
        ended_slots = self._slot[is_held & ~opens]
        statement_count = len(is_closed)
        is_opened = kept_mask(opened_slots, statement_count)
        is_ended = kept_mask(ended_slots, statement_count)
        if is_closed.any():
            for text in texts:
                opened, ended = self._opened_and_ended(text)
                is_opened = is_opened | opened
                is_ended = is_ended | ended
        is_resurrected = is_closed & is_opened & ~is_ended
        return is_resurrected, is_closed

    def _last_word(self, boundary: int, kinds: Sequence[int]) -> Ints:
        """(statements,) the last word of these kinds on each work; -1 where there is none."""
        is_past = self._message < boundary
        is_word = is_past & np.isin(self._status, kinds)
        slots = self._slot[is_word]
        statement_count = len(self._is_work)
        last_word: Ints = np.full(statement_count, -1)
        # in order: the last one stays
        last_word[slots] = self._status[is_word]
        return last_word

    def _read(self, text: str) -> tuple[Flags, Flags]:
        """(statements,) which work a text gives as open, and which as done."""
        blocks = (Text(text),)
        message = AssistantMessage(id="", blocks=blocks)
        opened_lines: list[str] = []
        for entity in statements(message):
            if entity.kind == "pending":
                opened_lines.append(entity.text)
        ended_lines = [*_ticked(message), *_finished(text)]
        return self._named(opened_lines), self._named(ended_lines)

    def _named(self, lines: Iterable[str]) -> Flags:
        """(statements,) which work these lines name: the one that is worded so, else all with
        enough of their words.
        """
        statement_count = len(self._is_work)
        is_named = np.zeros(statement_count, dtype=bool)
        reworded: list[str] = []
        for line in lines:
            slot = self._slot_of(line)
            if slot is None:
                reworded.append(line)
            else:
                is_named[slot] = True
        if reworded:
            spans = together(map(self._texts.spans, reworded))
            _, similar = self._statements.stating(spans)
            is_named[similar] = True
        return is_named


def _finished(text: str) -> Iterator[str]:
    """The lines of a text that say that something is done, and the lists under a heading that
    says so.
    """
    is_under_heading = False
    for line in text.split("\n"):
        is_item = _LIST_ITEM.match(line) is not None
        if _DONE_HEADING.match(line):
            is_under_heading = True
        elif line.strip() and not is_item:
            is_under_heading = False
        if says_done(line) or (is_under_heading and is_item):
            yield from sentences(line)


def _ticked(message: Message) -> Iterator[str]:
    """The tasks that a message's lists show as done."""
    for block in message.blocks:
        if isinstance(block, ToolCall):
            for task, is_done in tasks(block.arguments):
                if is_done:
                    yield task
        elif isinstance(block, Text):
            for item in _TICKED.findall(block.text):
                # as it was written while its box was empty
                open_item = "[ ] " + item
                yield from sentences(open_item)
