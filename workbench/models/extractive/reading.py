"""What the rule-based writer reads: the lines of messages, each with its origin and the exact names in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from threading import Lock
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.extraction.extractor import Extractor
from workbench.extraction.words import is_one_piece, words
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

Ints: TypeAlias = NDArray[np.integer[Any]]

MOST_MESSAGES = 100_000
MOST_SPANS = 400_000
"""A reader that remembers more messages, or whose own extractor has numbered more lines, starts anew."""

_RUNS = frozenset({"command", "cmd", "script"})
_MARKS = "-*+•#"
_MARK = re.compile(r"^(?:[-*+•]|#{1,6}) +(?=\S)")
_BULLET = re.compile(r"^\s*[-*+•]\s+")


class Source(IntEnum):
    """Where a line comes from."""

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
class Lines:
    """Some lines, in order.

    Attributes:
        numbers: the number of each line's text.
        sources: where each comes from, as a `Source`.
        chars: the length of each.
        words: how many content words each has beside its entities.
        held: how many entities each holds.
        entities: the entities of all of them, line by line, each once a line.
    """

    numbers: Ints
    sources: Ints
    chars: Ints
    words: Ints
    held: Ints
    entities: Ints

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The lines of all parts."""
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__)
        return cls(*columns)

    def where(self, flags: NDArray[np.bool_]) -> Lines:
        """The lines with a flag."""
        numbers, sources, chars, words, held = (
            part[flags] for part in (self.numbers, self.sources, self.chars, self.words, self.held)
        )
        return Lines(numbers, sources, chars, words, held, self.entities[np.repeat(flags, self.held)])

    def split(self, ends: Sequence[int]) -> Iterator[Lines]:
        """The lines up to each of these ends, from the end before."""
        of_entities = np.concatenate(([0], np.cumsum(self.held))).tolist()
        for first, end in zip((0, *ends), ends, strict=False):
            numbers, sources, chars, words, held = (
                part[first:end] for part in (self.numbers, self.sources, self.chars, self.words, self.held)
            )
            entities = self.entities[of_entities[first] : of_entities[end]]
            yield Lines(numbers, sources, chars, words, held, entities)

    @property
    def owners(self) -> Ints:
        """For each of the entities the position of its line."""
        return np.repeat(np.arange(len(self.held)), self.held)


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """One message: its lines, the entities that it says, and those that it holds as a tool result."""

    lines: Lines
    spoken: Ints
    heard: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Reads:
    """Some messages, read. Lines stand newest message first, in a message in their order.

    Attributes:
        n: how many messages.
        lines: their lines.
        at: the message of each line, 0..n-1, oldest first.
        place: the line's number in its message.
        spoken, spoken_at: entities that a person or a model said, once for each message, oldest first; thoughts are in
            neither.
        heard, heard_at: entities in tool results, in the same way.
        chars: length of each message's lines.
    """

    n: int
    lines: Lines
    at: Ints
    place: Ints
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

    def __init__(self, extractor: Extractor | None = None) -> None:
        self.lock = Lock()
        self.messages_read = 0
        self._given = extractor
        self._forget()

    def _forget(self) -> None:
        self.extractor = self._given or Extractor()
        self._entries: dict[int, tuple[Message, _Entry]] = {}
        self._facts: dict[int, tuple[int, tuple[int, ...]]] = {}

    def read(self, messages: Sequence[Message]) -> Reads:
        """Every message, read now or before. Messages are known by identity: they never change."""
        if len(self._entries) > MOST_MESSAGES or (self._given is None and len(self.extractor.spans) > MOST_SPANS):
            self._forget()
        self._take([message for message in messages if not self._knows(message)])
        entries = [self._entries[id(message)][1] for message in messages]
        n, newest = len(entries), entries[::-1]
        sizes = [len(entry.lines.numbers) for entry in newest]
        none = np.zeros(0, dtype=np.int64)
        ahead = np.arange(n)
        return Reads(
            n=n,
            lines=Lines.joined([entry.lines for entry in newest] or [self.lines((), ())]),
            at=np.repeat(ahead[::-1], sizes),
            place=np.concatenate([np.arange(size) for size in sizes] or [none]),
            spoken=np.concatenate([entry.spoken for entry in entries] or [none]),
            spoken_at=np.repeat(ahead, [len(entry.spoken) for entry in entries]),
            heard=np.concatenate([entry.heard for entry in entries] or [none]),
            heard_at=np.repeat(ahead, [len(entry.heard) for entry in entries]),
            chars=[int(entry.lines.chars.sum()) for entry in entries],
        )

    def text(self, line: int) -> str:
        """What a line says, by its number."""
        return self.extractor.spans[line]

    def lines(self, numbers: Sequence[int], sources: Sequence[int]) -> Lines:
        """The lines of these numbers and sources."""
        for number in set(numbers).difference(self._facts):
            self._facts[number] = self._fact(number)
        spans, facts = self.extractor.spans, [self._facts[number] for number in numbers]
        return Lines(
            np.array(numbers, dtype=np.int64),
            np.array(sources, dtype=np.int8),
            np.array([len(spans[number]) for number in numbers], dtype=np.int64),
            np.array([count for count, _ in facts], dtype=np.int64),
            np.array([len(entities) for _, entities in facts], dtype=np.int64),
            np.array(list(chain.from_iterable(entities for _, entities in facts)), dtype=np.int64),
        )

    def numbers(self, line: str) -> list[int]:
        """The numbers of what a line of a summary says, without its mark."""
        text = (line[2:] if line[:2] == "- " else _BULLET.sub("", line)).strip()
        return [self.extractor.number(text)] if text and is_one_piece(text) else self.extractor.read(text)

    def _knows(self, message: Message) -> bool:
        known = self._entries.get(id(message))
        return known is not None and known[0] is message

    def _take(self, messages: Sequence[Message]) -> None:
        """Read some messages; their lines are put into arrays together, which takes half the time of one by one."""
        numbers: list[int] = []
        sources: list[Source] = []
        ends: list[int] = []
        for message in messages:
            for spans, source in self._texts(message):
                numbers += map(self._unmarked, spans) if source in PROSE else spans
                sources += [source] * len(spans)
            ends.append(len(numbers))
        for message, lines in zip(messages, self.lines(numbers, sources).split(ends), strict=True):
            source_of = np.repeat(lines.sources, lines.held)
            heard = (source_of > SPOKEN) & (source_of < Source.THOUGHT)
            spoken = source_of <= SPOKEN
            entry = _Entry(lines, _each_once(lines.entities[spoken]), _each_once(lines.entities[heard]))
            self._entries[id(message)] = message, entry
        self.messages_read += len(messages)

    def _texts(self, message: Message) -> list[tuple[list[int], Source]]:
        """The spans of each text of a message, with where it comes from."""
        if isinstance(message, SystemMessage):
            return []
        if isinstance(message, Summary):
            return [(self.extractor.read(message.text), Source.EARLIER)]
        spans = [passage.spans for passage in self.extractor.passages(message)]
        return list(zip(spans, _sources(message), strict=True))

    def _unmarked(self, line: int) -> int:
        """A line of prose without the mark of a list or heading, which means more in code."""
        text = self.text(line)
        return self.extractor.number(_MARK.sub("", text, count=1)) if text[0] in _MARKS and _MARK.match(text) else line

    def _fact(self, line: int) -> tuple[int, tuple[int, ...]]:
        """How many content words a line has beside its entities, and its entities, each once."""
        of_tokens, more = self.extractor.features[line], self.extractor.more.get(line, ())
        entities = [~feature for feature in of_tokens if feature < 0]
        # A path's folders tie it to its place, its own last part does not: one word less for each entity.
        count = max(len(of_tokens) - 2 * len(entities), 0)
        if more:
            text = self.text(line)
            count = count + sum(feature >= 0 for feature in more) if text.isascii() else len(words(text))
            entities += [~feature for feature in more if feature < 0]
        return count, tuple(dict.fromkeys(entities))


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


def _each_once(entities: Ints) -> Ints:
    return np.array(list(dict.fromkeys(entities.tolist())), dtype=np.int64)


def harmless(text: str) -> str:
    """A line of a session in which no tag can be closed."""
    return text.replace("</", "< /")
