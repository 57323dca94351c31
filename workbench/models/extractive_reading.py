"""What the extractive model reads: the lines of messages, each with its origin and the exact names in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from threading import Lock
from typing import TYPE_CHECKING

from workbench.extraction.extractor import Extractor, Layout
from workbench.extraction.words import is_one_piece
from workbench.models.extractive_lines import Lines
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
    argument_texts,
)

if TYPE_CHECKING:
    from workbench.models.extractive_lines import Ints

MOST_MESSAGES = 100_000
MOST_LINES = 4_000_000
"""A reader that remembers more messages, or more lines of them, than this starts anew."""
MOST_SPANS = 400_000
"""So does one with an extractor of its own that has numbered more lines: a long run does not grow without end."""

_RUNS = frozenset({"command", "cmd", "script"})
_MARKS = "-*+•#"
_MARK = re.compile(r"^(?:[-*+•]|#{1,6}) +(?=\S)")
_BULLET = re.compile(r"^\s*[-*+•]\s+")


class Source(IntEnum):
    """Where a line stands."""

    USER = 0
    SAID = 1
    COMMAND = 2
    ARGUMENT = 3
    EARLIER = 4
    RESULT = 5
    FAILED = 6
    THOUGHT = 7


SPOKEN = Source.EARLIER
"""Sources up to this one are words of a person or a model that stand in the conversation."""

PROSE = (Source.USER, Source.SAID, Source.EARLIER, Source.THOUGHT)


@dataclass(frozen=True, slots=True, eq=False)
class Reads:
    """Some messages, read. Lines stand newest message first, in a message in their order.

    Attributes:
        n: how many messages.
        lines: the number of each line.
        at: the message of each line, 0..n-1, oldest first.
        place: the line's number in its message.
        sources: where each line stands, as a `Source`.
        spoken, spoken_at: entities that a person or a model said, once for each message, oldest first; thoughts are in
            neither.
        heard, heard_at: entities in tool results, in the same way.
        chars: length of each message's lines.
    """

    n: int
    lines: Ints
    at: Ints
    place: Ints
    sources: Ints
    spoken: Ints
    spoken_at: Ints
    heard: Ints
    heard_at: Ints
    chars: list[int]


class Reader:
    """Reads messages, each once as long as it is remembered; `messages_read` says how often that was.

    Whoever shares a reader between threads holds its `lock` from reading to the end of the work with what was read.

    Args:
        extractor: one that has read the messages already, or will read some of them; by default the reader has its own.
    """

    __slots__ = (
        "_extractor",
        "_given",
        "_heard",
        "_messages",
        "_of_noted",
        "_rows",
        "_sources",
        "_spoken",
        "lines",
        "lock",
        "messages_read",
    )  # fmt: skip

    def __init__(self, extractor: Extractor | None = None) -> None:
        self.lock = Lock()
        self.messages_read = 0
        self._given = extractor
        self._forget()

    def _forget(self) -> None:
        import numpy as np

        from workbench.ragged import Column, Table

        self._extractor = self._given or Extractor()
        self.lines = Lines(self._extractor)
        self._messages: dict[int, tuple[Message, int]] = {}
        self._rows, self._sources = Table(np.int32), Column(np.int8)  # the lines of each message, and their origins
        self._spoken, self._heard = Table(np.int32), Table(np.int32)
        self._of_noted: dict[str, tuple[int, ...]] = {}

    def _is_full(self) -> bool:
        spans = len(self._extractor.spans) if self._given is None else 0
        return len(self._messages) > MOST_MESSAGES or len(self._rows.items) > MOST_LINES or spans > MOST_SPANS

    def read(self, messages: Sequence[Message]) -> Reads:
        """Every message, read now or before. Messages are known by identity: they never change."""
        import numpy as np

        from workbench.ragged import gather

        if self._is_full():
            self._forget()
        known = self._messages
        new = {
            id(message): message
            for message in messages
            if (before := known.get(id(message))) is None or before[0] is not message
        }
        if new:
            first = len(self._rows)
            self._take(list(new.values()))
            known.update((key, (message, first + i)) for i, (key, message) in enumerate(new.items()))
            self.messages_read += len(new)
        rows = np.array([known[id(message)][1] for message in messages], dtype=np.int64)
        newest, starts = rows[::-1], self._rows.starts
        owner, found = gather(starts, newest)
        lines = self._rows.items[found]
        spoken_at, _, spoken = self._spoken.rows(rows)
        heard_at, _, heard = self._heard.rows(rows)
        at = len(rows) - 1 - owner
        chars = np.bincount(at, self.lines.lengths(lines), minlength=len(rows)).astype(np.int64).tolist()
        place, sources = found - starts[newest][owner], self._sources.values[found]
        return Reads(len(rows), lines, at, place, sources, spoken, spoken_at, heard, heard_at, chars)

    def numbers(self, noted: Sequence[str]) -> list[tuple[int, ...]]:
        """What each line of a summary says, without its mark.

        Each is worked out once: those of one summary mostly stand in the next one again.
        """
        known = self._of_noted
        if len(known) > MOST_SPANS:
            known.clear()
        new = {line: _bare(line) for line in noted if line not in known}
        whole = {line: text for line, text in new.items() if text and is_one_piece(text)}
        known.update(zip(whole, zip(self._extractor.number(list(whole.values()))), strict=True))
        known.update((line, tuple(self._extractor.read(text))) for line, text in new.items() if line not in whole)
        self.lines.catch_up()
        return list(map(known.__getitem__, noted))

    def _take(self, messages: Sequence[Message]) -> None:
        """Write down some messages' lines."""
        import numpy as np

        told = Layout()
        of_texts: list[Source] = []
        for message in messages:
            of_texts += _put(message, told, self._extractor)
        lines = np.array(told.spans, dtype=np.int64)
        sources = np.repeat(np.array(of_texts, dtype=np.int8), told.sizes)
        row = np.repeat(np.repeat(np.arange(len(messages)), told.texts), told.sizes)
        prose = np.flatnonzero(np.array([source in PROSE for source in Source])[sources])
        lines[prose] = self._unmarked(lines[prose].tolist())
        self.lines.catch_up()
        self._rows.add(row, lines, len(messages))
        self._sources.extend(sources)
        for table, held in ((self._spoken, sources <= SPOKEN), (self._heard, sources > SPOKEN)):
            held &= sources < Source.THOUGHT
            owner, entities = self.lines.entities_of(lines[held])
            table.add(*_each_once(row[held][owner], entities), len(messages))

    def _unmarked(self, lines: list[int]) -> list[int]:
        """Lines of prose without the mark of a list or heading, which means more in code."""
        text, plain = self.lines.text, dict.fromkeys(lines, "")
        marked = [line for line in plain if (said := text(line))[0] in _MARKS and _MARK.match(said)]
        if not marked:
            return lines
        bare = self._extractor.number([_MARK.sub("", text(line), count=1) for line in marked])
        new = dict(zip(marked, bare, strict=True))
        return [new.get(line, line) for line in lines]


def _put(message: Message, told: Layout, extractor: Extractor) -> list[Source]:
    """Lay out one more message; gives the origin of each of its texts."""
    if isinstance(message, SystemMessage):
        told.close()
        return []
    if isinstance(message, Summary):
        told.add(extractor.read(message.text), thought=False)
        told.close()
        return [Source.EARLIER]
    extractor.put(told, message)
    return _sources(message)


def _sources(message: AssistantMessage | ToolResult | UserMessage) -> list[Source]:
    """The origin of each text of a message, in the order in which an extractor reads them."""
    if isinstance(message, ToolResult):
        plain = Source.FAILED if message.is_error else Source.RESULT
    elif isinstance(message, UserMessage):
        plain = Source.RESULT if message.synthetic else Source.USER
    else:
        plain = Source.SAID
    found: list[Source] = []
    for block in message.blocks:
        if isinstance(block, Text):
            found.append(plain)
        elif isinstance(block, Thinking):
            found.append(Source.THOUGHT)
        elif isinstance(block, ToolCall):
            for name, value in block.arguments.items():
                source = Source.COMMAND if name in _RUNS else Source.ARGUMENT
                found += [source for _ in argument_texts(value)]
    return found


def _bare(line: str) -> str:
    """A line of a summary without the mark of a list."""
    return (line[2:] if line[:2] == "- " else _BULLET.sub("", line)).strip()


def _each_once(row: Ints, entities: Ints) -> tuple[Ints, Ints]:
    """Each row with each of its entities, once, in order."""
    import numpy as np

    most = int(entities.max(initial=0)) + 1
    keys = np.sort(row * most + entities)
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.divmod(keys, most)
