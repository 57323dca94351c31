"""What the extractive model reads: the lines of messages, each with its origin and the exact names in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from threading import Lock

from workbench.transcript.atoms import SIGNALS, TOKEN, Found, line_atoms, quotes, token_atoms, url_atom, urls
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
    argument_texts,
)
from workbench.transcript.words import spans, words

MOST_MESSAGES = 20_000
MOST_SPANS = 400_000
"""A reader that remembers more than this starts anew, so that a long run does not grow without end."""

_RUNS = frozenset({"command", "cmd", "script"})
_MARK = re.compile(r"^(?:[-*+•]|#{1,6}) +(?=\S)")


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

PROSE = frozenset({Source.USER, Source.SAID, Source.EARLIER, Source.THOUGHT})


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A line: its text, the numbers of its atoms, and how many other content words it has. One object a text."""

    text: str
    atoms: tuple[int, ...]
    words: int


@dataclass(frozen=True, slots=True)
class Read:
    """One message, read.

    Attributes:
        lines: source and line, in order.
        spoken: numbers of the atoms that a person or a model said; thoughts are in neither set.
        heard: numbers of the atoms in tool results.
        chars: length of all lines.
    """

    lines: tuple[tuple[Source, Span], ...]
    spoken: frozenset[int]
    heard: frozenset[int]
    chars: int


class _Tokens(dict[str, tuple[int, tuple[int, ...]]]):
    """How many content words a token has beside its atoms, and the atoms' numbers; worked out when first met."""

    __slots__ = ("atoms",)

    def __init__(self) -> None:
        super().__init__()
        self.atoms: dict[Found, int] = {}

    def number(self, atom: Found) -> int:
        return self.atoms.setdefault(atom, len(self.atoms))

    def __missing__(self, token: str) -> tuple[int, tuple[int, ...]]:
        found = tuple(self.number(atom) for atom in token_atoms(token))
        # A path's folders tie it to its place, its own last part does not.
        entry = (max(len(words(token)) - len(found), 0), found)
        self[token] = entry
        return entry


class Reader:
    """Reads messages, each once as long as it is remembered; `messages_read` says how often that was.

    Whoever shares a reader between threads holds its `lock` from reading to the end of the work with what was read.
    """

    __slots__ = ("_messages", "_spans", "_tokens", "lock", "messages_read")

    def __init__(self) -> None:
        self.lock = Lock()
        self.messages_read = 0
        self._forget()

    def _forget(self) -> None:
        self._messages: dict[int, tuple[Message, Read]] = {}
        self._spans: dict[str, Span] = {}
        self._tokens = _Tokens()

    @property
    def atoms(self) -> Iterable[Found]:
        """Kind and text of every atom met so far, by number."""
        return self._tokens.atoms

    def read(self, messages: Sequence[Message]) -> list[Read]:
        """Every message, read now or before. Messages are known by identity: they never change."""
        if len(self._messages) > MOST_MESSAGES or len(self._spans) > MOST_SPANS:
            self._forget()
        return [self._one(message) for message in messages]

    def lines(self, text: str, prose: bool = False) -> list[Span]:
        """The lines of a text; those of prose without the marks of lists and headings, which mean more in code."""
        known = self._spans
        found = (
            (_MARK.sub("", line, count=1) if line[0] in "-*+•#" else line for line in spans(text))
            if prose
            else spans(text)
        )
        return [known.get(line) or self._learn(line) for line in found]

    def _one(self, message: Message) -> Read:
        known = self._messages.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        self.messages_read += 1
        lines = tuple((source, span) for source, text in _texts(message) for span in self.lines(text, source in PROSE))
        read = Read(
            lines,
            frozenset(atom for source, span in lines if source <= SPOKEN for atom in span.atoms),
            frozenset(atom for source, span in lines if SPOKEN < source < Source.THOUGHT for atom in span.atoms),
            sum(len(span.text) for _, span in lines),
        )
        self._messages[id(message)] = (message, read)
        return read

    def _learn(self, line: str) -> Span:
        tokens = TOKEN.findall(line)
        count = 0
        atoms: list[int] = []
        for others, found in map(self._tokens.__getitem__, tokens):
            count += others
            atoms += found
        atoms += map(self._tokens.number, _rarer(line, tokens))
        span = Span(line, tuple(dict.fromkeys(atoms)), count if line.isascii() else len(words(line)))
        self._spans[line] = span
        return span


def _rarer(line: str, tokens: Sequence[str]) -> Iterator[Found]:
    """What takes more than one token to see."""
    if not SIGNALS.isdisjoint(tokens):
        yield from line_atoms(line)
    if "://" in line:
        yield from map(url_atom, urls(line))
    if '"' in line:
        yield from quotes(line)


def _texts(message: Message) -> Iterator[tuple[Source, str]]:
    if isinstance(message, ToolResult):
        source = Source.FAILED if message.is_error else Source.RESULT
        yield from ((source, block.text) for block in message.blocks if isinstance(block, Text))
    elif isinstance(message, AssistantMessage):
        for block in message.blocks:
            if isinstance(block, Text):
                yield Source.SAID, block.text
            elif isinstance(block, Thinking):
                yield Source.THOUGHT, block.text
            elif isinstance(block, ToolCall):
                yield from _argued(block)
    elif isinstance(message, UserMessage):
        source = Source.RESULT if message.synthetic else Source.USER
        yield from ((source, block.text) for block in message.blocks if isinstance(block, Text))
    elif not isinstance(message, SystemMessage):
        yield Source.EARLIER, message.text


def _argued(call: ToolCall) -> Iterator[tuple[Source, str]]:
    for name, value in call.arguments.items():
        source = Source.COMMAND if name in _RUNS else Source.ARGUMENT
        yield from ((source, text) for text in argument_texts(value))
