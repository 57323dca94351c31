"""Work that was announced: what of it is open at a boundary, and what is done."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from workbench.base.ragged import Flags, Ints, kept_mask
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
        entities = statements.entities
        self._number = {entity: slot for slot, entity in enumerate(entities)}
        self._is_work = flags(entity.kind == "pending" for entity in entities)
        messages = statements.message.tolist()
        slots = statements.slot.tolist()
        events: list[tuple[int, int, int]] = []
        for message, slot in zip(messages, slots, strict=True):
            events.append((message, _OPEN, slot))
        if self._is_work.any():
            events += self._endings(texts.inverted_index)
        events.sort()
        of_work = [(message, what, slot) for message, what, slot in events if self._is_work[slot]]
        self._at, self._what, self._item = columns_of(of_work, 3)
        self._opened_and_ended = cache(self._read)

    def _endings(self, index: InvertedIndex) -> Iterator[tuple[int, int, int]]:
        """For each message that says that a statement is done or withdrawn: its place, which of
        the two, which one.
        """
        by_user = flags(is_real_user(message) for message in index.messages)
        by_assistant = flags(isinstance(message, AssistantMessage) for message in index.messages)
        by_either = by_user | by_assistant
        for message in np.flatnonzero(by_either).tolist():
            for text in _ticked(index.messages[message]):
                slot = self._number.get(Entity("pending", plain(text)))
                if slot is not None:
                    yield message, _DONE, slot
        for message, slot in self._said_to_end(index, says_done, by_either):
            yield message, _DONE, slot
        for message, slot in self._said_to_end(index, withdraws, by_user):
            yield message, _WITHDRAWN, slot

    def _said_to_end(
        self, index: InvertedIndex, says_end: Callable[[str], bool], speakers: Flags
    ) -> Iterator[tuple[int, int]]:
        """Each message of some speakers with each earlier statement that a line of it ends.

        Args:
            index: of the session.
            says_end: whether a line says that something ends.
            speakers: (messages,) whether a message counts.
        """
        places = np.flatnonzero(speakers[index.place_message] & ~index.thought)
        spans = set(index.place_span[places].tolist())
        ending_spans = [span for span in spans if says_end(index.texts[span])]
        places = places[np.isin(index.place_span[places], ending_spans)]
        place, slots = self._statements.stating(index.place_span[places])
        messages = index.place_message[places[place]]
        for slot, message in zip(slots.tolist(), messages.tolist(), strict=True):
            if self._statements.first[slot] < message:
                yield message, slot

    def open_and_done(self, boundary: int) -> tuple[Flags, Flags]:
        """(statements,) which work of `messages[:boundary]` is open and which is done, by the last
        word on each.

        Work that a person withdrew counts as before.
        """
        last_word = self._last_word(boundary, (_OPEN, _DONE))
        return last_word == _OPEN, last_word == _DONE

    def resurrected(
        self, boundary: int, mask: Flags, texts: Iterable[str] = ()
    ) -> tuple[Flags, Flags]:
        """(statements,) the work done or withdrawn in `messages[:boundary]` that these messages and
        texts give as open; all.

        Open means that a message or text announces it, and none says that it is done or withdrawn.
        """
        is_closed = self._last_word(boundary, (_OPEN, _DONE, _WITHDRAWN)) > _OPEN
        is_held = mask[self._at] & (self._at < boundary)
        is_opened = kept_mask(self._item[is_held & (self._what == _OPEN)], len(is_closed))
        is_ended = kept_mask(self._item[is_held & (self._what > _OPEN)], len(is_closed))
        if is_closed.any():
            for text in texts:
                opened, ended = self._opened_and_ended(text)
                is_opened = is_opened | opened
                is_ended = is_ended | ended
        return is_closed & is_opened & ~is_ended, is_closed

    def _last_word(self, boundary: int, kinds: Sequence[int]) -> Ints:
        """(statements,) the last word of these kinds on each work; -1 where there is none."""
        is_past = (self._at < boundary) & np.isin(self._what, kinds)
        last_word: Ints = np.full(len(self._is_work), -1)
        last_word[self._item[is_past]] = self._what[is_past]  # in order: the last one stays
        return last_word

    def _read(self, text: str) -> tuple[Flags, Flags]:
        """(statements,) which work a text gives as open, and which as done."""
        message = AssistantMessage(id="", blocks=(Text(text),))
        opened = [entity.text for entity in statements(message) if entity.kind == "pending"]
        ended = [*_ticked(message), *_finished(text)]
        return self._named(opened), self._named(ended)

    def _named(self, lines: Iterable[str]) -> Flags:
        """(statements,) which work these lines name: the one that is worded so, else all with
        enough of their words.
        """
        is_named = np.zeros(len(self._is_work), dtype=bool)
        for line in lines:
            slot = self._number.get(Entity("pending", plain(line)))
            if slot is not None:
                is_named[slot] = True
                continue
            _, similar = self._statements.stating(self._texts.spans(line))
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
            for item in _TICKED.findall(block.text):  # as it was written while its box was empty
                yield from sentences("[ ] " + item)
