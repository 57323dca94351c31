"""What the rule-based writer reads: the lines of messages, each with its origin and the exact
names in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
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
_DECIDED = re.compile(
    r"\b(?:decided?|decision|chose|chosen|opted|settled on|go(?:ing)? with|instead of|rather"
    r" than|because|so that|"
    r"root cause|switch(?:ed|ing)? to|"
    r"the (?:fix|problem|issue|cause|reason) (?:is|was)|we(?:'ll| will) use|i(?:'ll| will) use)\b",
    re.IGNORECASE,
)
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

OF_THE_AGENT = (LineOrigin.SAID, LineOrigin.THOUGHT)
"""Origins of what the agent says or thinks in prose."""

PROSE = (LineOrigin.USER, LineOrigin.SAID, LineOrigin.EARLIER, LineOrigin.THOUGHT)


class Line(NamedTuple):
    """A line of a message or of an earlier summary.

    Attributes:
        number: of its text.
        words: how many content words it has beside its entities.
        entities: the numbers of its entities, each once.
        decides: whether the agent says in it what was decided.
    """

    number: int
    origin: LineOrigin
    text: str
    words: int
    entities: tuple[int, ...]
    decides: bool


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
        lines_of_use: list[Line] = []
        stated: dict[int, None] = {}
        in_results: dict[int, None] = {}
        chars = 0
        for line in lines:
            chars += len(line.text)
            is_spoken = line.origin <= LAST_SPOKEN
            if is_spoken or line.entities:
                lines_of_use.append(line)
            if is_spoken:
                stated.update(dict.fromkeys(line.entities))
            elif line.origin < LineOrigin.THOUGHT:
                in_results.update(dict.fromkeys(line.entities))
        return cls(tuple(lines_of_use), chars, tuple(stated), tuple(in_results))


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
            word_count, entities = self._fact(number)
            text = self.extractor.spans[number]
            decides = origin in OF_THE_AGENT and _DECIDED.search(text) is not None
            lines[number] = Line(number, origin, text, word_count, entities, decides)
        return lines[number]

    def earlier(self, line: str) -> tuple[Line, ...]:
        """What a line of an earlier summary says, without its mark."""
        text = line[2:] if line.startswith("- ") else _BULLET.sub("", line)
        lines: list[Line] = []
        for number in self.extractor.read(text):
            lines.append(self.line(number, LineOrigin.EARLIER))
        return tuple(lines)

    def _read(self, message: Message) -> ReadMessage:
        message_id = id(message)
        if message_id not in self._messages:
            lines = list(self._lines_of(message))
            self._messages[message_id] = message, ReadMessage.of(lines)
        _, read_message = self._messages[message_id]
        return read_message

    def _lines_of(self, message: Message) -> Iterator[Line]:
        for spans, origin in self._texts(message):
            for number in spans:
                if origin in PROSE:
                    number = self._unmarked(number)
                yield self.line(number, origin)

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
        if mark is None:
            return number
        return self.extractor.number(text[mark.end() :])

    def _fact(self, number: int) -> tuple[int, tuple[int, ...]]:
        """How many content words a line has beside its entities, and its entities, each once."""
        token_features = self.extractor.features[number]
        more_features = self.extractor.more.get(number, ())
        entities = _entities_among(token_features)
        # A path's folders tie it to its place, its own last part does not: one word less for each
        # entity.
        word_count = max(len(token_features) - 2 * len(entities), 0)
        if more_features:
            more_entities = _entities_among(more_features)
            entities += more_entities
            text = self.extractor.spans[number]
            if text.isascii():
                word_count += len(more_features) - len(more_entities)
            else:
                word_count = len(words(text))
        distinct_entities = dict.fromkeys(entities)
        return word_count, tuple(distinct_entities)


def _entities_among(features: Iterable[int]) -> list[int]:
    """The numbers of the entities among an extractor's features, where each is negative."""
    return [~feature for feature in features if feature < 0]


def _origins(message: AssistantMessage | ToolResult | UserMessage) -> Iterator[LineOrigin]:
    """The origin of each text of a message, in the order in which an extractor reads them."""
    origin_of_text = _origin_of_text(message)
    for block in message.blocks:
        if isinstance(block, Text):
            yield origin_of_text
        elif isinstance(block, Thinking):
            yield LineOrigin.THOUGHT
        elif isinstance(block, ToolCall):
            for name, value in block.arguments.items():
                origin = LineOrigin.ARGUMENT
                if name in _RUNS:
                    origin = LineOrigin.COMMAND
                for _ in argument_texts(value):
                    yield origin


def _origin_of_text(message: AssistantMessage | ToolResult | UserMessage) -> LineOrigin:
    """The origin of the plain words of a message."""
    if isinstance(message, AssistantMessage):
        return LineOrigin.SAID
    if isinstance(message, UserMessage) and not message.synthetic:
        return LineOrigin.USER
    if isinstance(message, ToolResult) and message.is_error:
        return LineOrigin.FAILED
    return LineOrigin.RESULT


def harmless(text: str) -> str:
    """A line of a session in which no tag can be closed."""
    return text.replace("</", "< /")
