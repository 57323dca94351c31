"""Work that was announced: what of it is open at a boundary, and what is done."""

import re
from collections.abc import Iterator

import numpy as np

from workbench.extraction.entities import Entity, plain
from workbench.extraction.statements import says_done, sentences, tasks
from workbench.metrics.indexes.inverted_index import InvertedIndex
from workbench.metrics.indexes.text_index import StatementIndex, TextIndex
from workbench.ragged import Flags, Ints
from workbench.transcript.message import AssistantMessage, Message, Text, ToolCall, is_real_user

_TICKED = re.compile(r"^[^\S\n]*(?:[-*+][^\S\n]+)?\[[xX]\][^\S\n]+(.*)", re.MULTILINE)


class Work:
    """The pieces of work of one session: every statement of the kind `pending`, and when it was open or done.

    It is done where a task list says so, a box is ticked, or a later line of a person or an assistant has most of its
    words and says so. Fails to see: work whose end is never mentioned, which stays open; a part that is done, which
    closes the whole.
    """

    def __init__(self, texts: TextIndex, stated: StatementIndex) -> None:
        self._stated = stated
        self._is_work = np.array([entity.kind == "pending" for entity in stated.entities], dtype=bool)
        closed = list(self._endings(texts.inverted_index)) if self._is_work.any() else []
        opened = zip(stated.slot.tolist(), stated.message.tolist(), strict=True)
        events = sorted([(at, 0, slot) for slot, at in opened] + [(at, 1, slot) for slot, at in closed])
        work = [event for event in events if self._is_work[event[2]]]
        self._at, is_done, self._item = np.array(work, dtype=np.int64).reshape(-1, 3).T
        self._done: Flags = is_done.astype(bool)

    def _endings(self, p: InvertedIndex) -> Iterator[tuple[int, int]]:
        """Each statement with each message that says that it is done."""
        number = {entity: slot for slot, entity in enumerate(self._stated.entities)}
        spoken = np.array([isinstance(m, AssistantMessage) or is_real_user(m) for m in p.messages], dtype=bool)
        for at in np.flatnonzero(spoken).tolist():
            for text in _ticked(p.messages[at]):
                if (slot := number.get(Entity("pending", plain(text)))) is not None:
                    yield slot, at
        places = np.flatnonzero(spoken[p.place_message] & ~p.thought)
        done = {span for span in set(p.place_span[places].tolist()) if says_done(p.texts[span])}
        places = places[np.isin(p.place_span[places], list(done))]
        place, ended = self._stated.stating(p.place_span[places])
        for slot, at in zip(ended.tolist(), p.place_message[places[place]].tolist(), strict=True):
            if self._stated.first[slot] < at:
                yield slot, at

    def open_and_done(self, at: int) -> tuple[Flags, Flags]:
        """(statements,) which work of `messages[:at]` is open and which is done, by the last word on each."""
        past = self._at < at
        last: Ints = np.full(len(self._is_work), -1)
        last[self._item[past]] = self._done[past]  # in order: the last one stays
        return last == 0, last == 1


def _ticked(message: Message) -> Iterator[str]:
    """The tasks that a message's lists show as done."""
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield from (task for task, done in tasks(block.arguments) if done)
        elif isinstance(block, Text):
            for item in _TICKED.findall(block.text):  # as it was written while its box was empty
                yield from sentences("[ ] " + item)
