"""What the rule-based writer reads: the lines of messages, each with its origin and the exact
names in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import chain
from threading import Lock
from typing import NamedTuple

from workbench.engine.extraction.extractor import Extractor
from workbench.engine.extraction.words import words
from workbench.engine.transcript.message import (
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

MOST_SPANS = 400_000
"""A reader whose own extractor has numbered more lines starts anew."""

_RUNS = frozenset({"command", "cmd", "script"})
_MARK = re.compile(r"^(?:[-*+•]|#{1,6}) +(?=\S)")
_BULLET = re.compile(r"^\s*[-*+•]\s+")


class LineOrigin(IntEnum):
    """Where a line comes from."""

    USER = 0
    SAID = 1
    COMMAND = 2
    ARGUMENT = 3
    EARLIER = 4
    RESULT = 5
    FAILED = 6
    THOUGHT = 7


LAST_SPOKEN = LineOrigin.EARLIER
"""Origins up to this one are words of a person or a model in the conversation."""

PROSE = (LineOrigin.USER, LineOrigin.SAID, LineOrigin.EARLIER, LineOrigin.THOUGHT)


class Line(NamedTuple):
    """A line of a message or of an earlier summary.

    Attributes:
        number: of its text.
        words: how many content words it has beside its entities.
        entities: the numbers of its entities, each once.
    """

    number: int
    origin: LineOrigin
    text: str
    words: int
    entities: tuple[int, ...]


class ReadMessage(NamedTuple):
    """What was read of a message or of an earlier summary.

    Attributes:
        lines: those that somebody said or that name something exact.
        chars: the length of all lines.
        stated_entities, result_entities: the entities that it says, or holds as a tool result, each once; not those of
            thoughts.
    """

    lines: tuple[Line, ...]
    chars: int
    stated_entities: tuple[int, ...]
    result_entities: tuple[int, ...]

    @classmethod
    def of(cls, lines: Sequence[Line]) -> ReadMessage:
        """The message or summary that has these lines."""
        kept_lines = tuple([line for line in lines if line.entities or line.origin <= LAST_SPOKEN])
        stated = chain.from_iterable(
            [line.entities for line in kept_lines if line.origin <= LAST_SPOKEN]
        )
        in_results = chain.from_iterable(
            [line.entities for line in kept_lines if LAST_SPOKEN < line.origin < LineOrigin.THOUGHT]
        )
        chars = sum([len(line.text) for line in lines])
        return cls(
            kept_lines,
            chars,
            tuple(dict.fromkeys(stated)),
            tuple(dict.fromkeys(in_results)),
        )


class LineReader:
    """Reads messages, each once as long as it is remembered.

    A thread that shares a reader holds its `lock` from reading to the end of the work with what was
    read.

    Args:
        extractor: one that has read the messages already, or will read some of them; by default the
            reader has its own.
    """

    def __init__(self, extractor: Extractor | None = None) -> None:
        self.lock = Lock()
        self._shared = extractor
        self._forget()

    def _forget(self) -> None:
        self.extractor = self._shared or Extractor()
        self._messages: dict[int, tuple[Message, ReadMessage]] = {}
        self._lines: dict[LineOrigin, dict[int, Line]] = {origin: {} for origin in LineOrigin}

    def read(self, messages: Sequence[Message]) -> list[ReadMessage]:
        """Every message, read now or before. Messages are known by identity: they never change."""
        if self._shared is None and len(self.extractor.spans) > MOST_SPANS:
            self._forget()
        return [self._read(message) for message in messages]

    def line(self, number: int, origin: LineOrigin) -> Line:
        """The line of that number."""
        lines = self._lines[origin]
        if number not in lines:
            lines[number] = Line(number, origin, self.extractor.spans[number], *self._fact(number))
        return lines[number]

    def earlier(self, line: str) -> tuple[Line, ...]:
        """What a line of an earlier summary says, without its mark."""
        text = line[2:] if line[:2] == "- " else _BULLET.sub("", line)
        return tuple(self.line(number, LineOrigin.EARLIER) for number in self.extractor.read(text))

    def _read(self, message: Message) -> ReadMessage:
        if id(message) not in self._messages:
            self._messages[id(message)] = message, ReadMessage.of([*self._lines_of(message)])
        return self._messages[id(message)][1]

    def _lines_of(self, message: Message) -> Iterator[Line]:
        for spans, origin in self._texts(message):
            for number in spans:
                yield self.line(self._unmarked(number) if origin in PROSE else number, origin)

    def _texts(self, message: Message) -> Iterable[tuple[list[int], LineOrigin]]:
        """The spans of each text of a message, with where it comes from."""
        if isinstance(message, SystemMessage):
            return ()
        if isinstance(message, Summary):
            return [(self.extractor.read(message.text), LineOrigin.EARLIER)]
        spans = [passage.spans for passage in self.extractor.passages(message)]
        return zip(spans, _origins(message), strict=True)

    def _unmarked(self, number: int) -> int:
        """A line of prose without the mark of a list or heading, which means more in code."""
        text = self.extractor.spans[number]
        mark = _MARK.match(text)
        return self.extractor.number(text[mark.end() :]) if mark else number

    def _fact(self, number: int) -> tuple[int, tuple[int, ...]]:
        """How many content words a line has beside its entities, and its entities, each once."""
        of_tokens, more = self.extractor.features[number], self.extractor.more.get(number, ())
        entities = [~feature for feature in of_tokens if feature < 0]
        # A path's folders tie it to its place, its own last part does not: one word less for each
        # entity.
        count = max(len(of_tokens) - 2 * len(entities), 0)
        if more:
            text = self.extractor.spans[number]
            count = (
                count + sum(feature >= 0 for feature in more)
                if text.isascii()
                else len(words(text))
            )
            entities += [~feature for feature in more if feature < 0]
        return count, tuple(dict.fromkeys(entities))


def _origins(message: AssistantMessage | ToolResult | UserMessage) -> Iterator[LineOrigin]:
    """The origin of each text of a message, in the order in which an extractor reads them."""
    if isinstance(message, ToolResult):
        plain = LineOrigin.FAILED if message.is_error else LineOrigin.RESULT
    elif isinstance(message, UserMessage):
        plain = LineOrigin.RESULT if message.synthetic else LineOrigin.USER
    else:
        plain = LineOrigin.SAID
    for block in message.blocks:
        if isinstance(block, Text):
            yield plain
        elif isinstance(block, Thinking):
            yield LineOrigin.THOUGHT
        elif isinstance(block, ToolCall):
            for name, value in block.arguments.items():
                for _ in argument_texts(value):
                    yield LineOrigin.COMMAND if name in _RUNS else LineOrigin.ARGUMENT


def harmless(text: str) -> str:
    """A line of a session in which no tag can be closed."""
    return text.replace("</", "< /")
