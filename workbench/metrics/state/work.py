"""Work that was announced: what of it is open at a boundary, what is done, and what a context says about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np

from workbench.extraction.entities import Entity, plain
from workbench.extraction.statements import sentences, tasks
from workbench.metrics.indexes.inverted_index import InvertedIndex
from workbench.metrics.indexes.statement_index import StatementIndex
from workbench.ragged import Flags, Ints
from workbench.transcript.message import AssistantMessage, Message, ToolCall, is_real_user

_DONE = re.compile(
    r"^\W*\[[xX]\]\s|\b(?:done|finished|completed?|implemented|fixed|resolved|added|removed|renamed|updated|written"
    r"|merged|committed|deployed|now (?:pass(?:es)?|works?)|no longer (?:open|needed|pending)|ticked off)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\W*\[ \]\s|\b(?:todo|still|not (?:yet|done|finished|fixed|tested|written)|remain\w*|pending|open|left to do"
    r"|next|unfinished|to be|needs? to|must|should|will|cannot|can't|until|before|once|when|if)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^(?:#{1,6}\s+|\*\*)?(?P<title>[A-Z][\w /&'-]{2,50}?)(?:\*\*)?:?(?:\*\*)?$")
_DONE_TITLE = re.compile(r"\b(?:done|completed?|finished|accomplished|resolved)\b", re.IGNORECASE)

REMEMBERED = 50_000
"""Lines of which a process remembers what they are: those of summaries come again."""


def says_done(line: str) -> bool:
    """Whether a line says that something is finished, and leaves nothing of it open."""
    return _DONE.search(line) is not None and _OPEN.search(line) is None


def done_and_headings(text: str) -> tuple[str, str]:
    """The lines of a text that say that something is done, by themselves or by their heading; and its headings."""
    done: list[str] = []
    headings: list[str] = []
    under_done = False
    for line in text.split("\n"):
        what = _sort(line)
        if what in ("heading", "heading of done work"):
            under_done = what == "heading of done work"
            headings.append(line)
        elif what == "done" or (under_done and what != "box"):
            done.append(line)
    return "\n".join(done), "\n".join(headings)


@lru_cache(maxsize=REMEMBERED)
def _sort(line: str) -> Literal["heading", "heading of done work", "box", "done", "other"]:
    """What a line is; a box is one that is not ticked."""
    bare = line.strip()
    if title := _HEADING.match(bare):
        return "heading of done work" if _DONE_TITLE.search(title["title"]) else "heading"
    if bare[:4] in ("- [ ", "* [ ", "[ ] "):
        return "box"
    return "done" if says_done(bare) else "other"


class Work:
    """The pieces of work of one session: every statement of the kind `pending`, and when it was open or done.

    It is done where a task list says so, a box is ticked, or a later line of a person or an assistant has most of its
    words and says so. Fails to see: work whose end nobody mentions, which stays open; a part that is done, which
    closes the whole.
    """

    def __init__(self, messages: Sequence[Message], inverted_index: InvertedIndex, stated: StatementIndex) -> None:
        self._stated = stated
        slots = [slot for slot, entity in enumerate(stated.entities) if entity.kind == "pending"]
        self.items = tuple(stated.entities[slot] for slot in slots)
        self._slots = np.array(slots, dtype=np.int64)
        place = np.full(len(stated.entities) + 1, -1)
        place[self._slots] = np.arange(len(slots))
        opened = [(int(place[slot]), at, 0) for slot, at in stated.said() if place[slot] >= 0]
        closed = [(int(place[slot]), at, 1) for slot, at in self._endings(messages, inverted_index) if place[slot] >= 0]
        events = sorted(opened + closed, key=lambda event: event[1])
        self._item, self._at, is_done = np.array(events, dtype=np.int64).reshape(-1, 3).T
        self._done: Flags = is_done.astype(bool)
        self._texts: dict[str, tuple[Flags, Flags]] = {}

    def _endings(self, messages: Sequence[Message], p: InvertedIndex) -> Iterator[tuple[int, int]]:
        """Each statement with each message that says that it is done."""
        if not self.items:
            return
        number = {entity: slot for slot, entity in enumerate(self._stated.entities)}
        for at, message in enumerate(messages):
            for text in _ticked(message):
                if (slot := number.get(Entity("pending", plain(text)))) is not None:
                    yield slot, at
        spoken = np.array([isinstance(m, AssistantMessage) or is_real_user(m) for m in messages], dtype=bool)
        places = np.flatnonzero(spoken[p.place_message] & ~p.thought)
        done = [span for span in np.unique(p.place_span[places]).tolist() if says_done(p.texts[span])]
        ended, first = self._stated.by_span(done), self._stated.first
        for place in places.tolist():
            at = int(p.place_message[place])
            for slot in ended.get(int(p.place_span[place]), ()):
                if first[slot] < at:
                    yield slot, at

    def open_at(self, at: int) -> tuple[Flags, Flags]:
        """For each item whether it is open before `messages[at]`, and whether it is done: its last word counts."""
        last: Ints = np.full(len(self.items), -1)
        past = np.flatnonzero(self._at < at)
        last[self._item[past]] = past
        known = last >= 0
        done = known.copy()
        done[known] = self._done[last[known]]
        return known & ~done, done

    def states(self, at: int, mask: Flags, texts: Iterable[str] = ()) -> dict[str, int]:
        """What a context says of the work of `messages[:at]`.

        `stated` and `missing` count open items; `resurrected` counts done ones that the context states as still to do
        and nowhere as done, `settled` the other done ones.

        Args:
            at: the boundary.
            mask: which messages the context holds whole.
            texts: its other texts.
        """
        is_open, is_done = self.open_at(at)
        as_open, as_done = np.zeros(len(self.items), dtype=bool), np.zeros(len(self.items), dtype=bool)
        held = mask[self._at] & (self._at < at)
        as_open[self._item[held & ~self._done]] = True
        as_done[self._item[held & self._done]] = True
        for text in dict.fromkeys(texts):
            done, rest = self._read(text)
            as_done |= done
            as_open |= rest
        again = is_done & as_open & ~as_done
        return {
            "stated": int((is_open & as_open).sum()), "missing": int((is_open & ~as_open).sum()),
            "resurrected": int(again.sum()), "settled": int((is_done & ~again).sum()),
        }  # fmt: skip

    def _read(self, text: str) -> tuple[Flags, Flags]:
        """Which items a text says are done, and which it names otherwise; worked out once a text."""
        found = self._texts.get(text)
        if found is None:
            named = self._stated.stated_in(text)[self._slots]
            found = self._texts[text] = self._told_apart(text) if named.any() else (named, named)
        return found

    def _told_apart(self, text: str) -> tuple[Flags, Flags]:
        """The same for a text that names some of them."""
        stated = self._stated
        done, headings = (stated.stating(lines) for lines in done_and_headings(text))
        left = Counter(stated.stating(text))
        left.subtract(chain(done, headings))
        rest = [span for span, many in left.items() if many > 0]
        return stated.stated_by(done)[self._slots], stated.stated_by(rest)[self._slots]


def _ticked(message: Message) -> Iterator[str]:
    """The tasks that a message's lists show as done."""
    if not isinstance(message, AssistantMessage) and not is_real_user(message):
        return
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield from (task for task, done in tasks(block.arguments) if done)
        elif block.type == "text" and ("[x]" in block.text or "[X]" in block.text):
            yield from _boxes(block.text)


def _boxes(text: str) -> Iterator[str]:
    """The items of ticked boxes, as they stood while their boxes were empty."""
    for line in text.split("\n"):
        found = re.match(r"\s*(?:[-*+]\s+)?\[[xX]\]\s+(.*)", line)
        if found:
            yield from sentences("[ ] " + found.group(1))
