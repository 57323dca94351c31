"""Work that was announced: what of it is open at a boundary, and what is done."""

import re
from collections.abc import Iterable, Iterator
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

    def __init__(self, texts: TextIndex, stated: StatementIndex) -> None:
        self._texts, self._stated = texts, stated
        self._number = {entity: slot for slot, entity in enumerate(stated.entities)}
        self._is_work = np.array(
            [entity.kind == "pending" for entity in stated.entities], dtype=bool
        )
        closed = list(self._endings(texts.inverted_index)) if self._is_work.any() else []
        opened = zip(stated.message.tolist(), stated.slot.tolist(), strict=True)
        events = sorted([*((at, _OPEN, slot) for at, slot in opened), *closed])
        work = [event for event in events if self._is_work[event[2]]]
        self._at, self._what, self._item = np.array(work, dtype=np.int64).reshape(-1, 3).T
        self._told = cache(self._read)

    def _endings(self, p: InvertedIndex) -> Iterator[tuple[int, int, int]]:
        """For each message that says that a statement is done or withdrawn: its place, which of
        the two, which one.
        """
        by_user = np.array([is_real_user(m) for m in p.messages], dtype=bool)
        spoken = by_user | np.array(
            [isinstance(m, AssistantMessage) for m in p.messages], dtype=bool
        )
        for at in np.flatnonzero(spoken).tolist():
            for text in _ticked(p.messages[at]):
                if (slot := self._number.get(Entity("pending", plain(text)))) is not None:
                    yield at, _DONE, slot
        for what, says, by in ((_DONE, says_done, spoken), (_WITHDRAWN, withdraws, by_user)):
            places = np.flatnonzero(by[p.place_message] & ~p.thought)
            ending = {span for span in set(p.place_span[places].tolist()) if says(p.texts[span])}
            places = places[np.isin(p.place_span[places], list(ending))]
            place, ended = self._stated.stating(p.place_span[places])
            for slot, at in zip(
                ended.tolist(), p.place_message[places[place]].tolist(), strict=True
            ):
                if self._stated.first[slot] < at:
                    yield at, what, slot

    def open_and_done(self, at: int) -> tuple[Flags, Flags]:
        """(statements,) which work of `messages[:at]` is open and which is done, by the last word
        on each.

        Work that a person withdrew counts as before.
        """
        last = self._last(at, (_OPEN, _DONE))
        return last == _OPEN, last == _DONE

    def resurrected(self, at: int, mask: Flags, texts: Iterable[str] = ()) -> tuple[Flags, Flags]:
        """(statements,) the work done or withdrawn in `messages[:at]` that these messages and texts
        give as open; all.

        Open means that a message or text announces it, and none says that it is done or withdrawn.
        """
        closed = self._last(at, (_OPEN, _DONE, _WITHDRAWN)) > _OPEN
        held = mask[self._at] & (self._at < at)
        opens, ends = (
            kept_mask(self._item[held & which], len(closed))
            for which in (self._what == _OPEN, self._what > _OPEN)
        )
        for text in texts if closed.any() else ():
            opened, ended = self._told(text)
            opens, ends = opens | opened, ends | ended
        return closed & opens & ~ends, closed

    def _last(self, at: int, which: Iterable[int]) -> Ints:
        """(statements,) the last word of these kinds on each work; -1 where there is none."""
        past = (self._at < at) & np.isin(self._what, list(which))
        last: Ints = np.full(len(self._is_work), -1)
        last[self._item[past]] = self._what[past]  # in order: the last one stays
        return last

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
        found = np.zeros(len(self._is_work), dtype=bool)
        for line in lines:
            exact = self._number.get(Entity("pending", plain(line)))
            found[self._stated.stating(self._texts.spans(line))[1] if exact is None else exact] = (
                True
            )
        return found


def _finished(text: str) -> Iterator[str]:
    """The lines of a text that say that something is done, and the lists under a heading that
    says so.
    """
    under = False
    for line in text.split("\n"):
        is_item = _LIST_ITEM.match(line) is not None
        under = _DONE_HEADING.match(line) is not None or (under and (is_item or not line.strip()))
        if says_done(line) or (under and is_item):
            yield from sentences(line)


def _ticked(message: Message) -> Iterator[str]:
    """The tasks that a message's lists show as done."""
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield from (task for task, done in tasks(block.arguments) if done)
        elif isinstance(block, Text):
            for item in _TICKED.findall(block.text):  # as it was written while its box was empty
                yield from sentences("[ ] " + item)
