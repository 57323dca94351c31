"""What the extractive model reads: the lines of messages, each with its origin and the exact names in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain, islice
from threading import Lock
from typing import TypeAlias

from workbench.transcript.atoms import LEXICAL
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
from workbench.transcript.mining import END, Miner
from workbench.transcript.words import words

MOST_MESSAGES = 20_000
MOST_SPANS = 400_000
"""A reader that remembers more than this starts anew, so that a long run does not grow without end."""

_KIND = {kind: number for number, kind in enumerate(LEXICAL)}
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


@dataclass(slots=True, eq=False)  # a frozen one takes three times as long to make
class Span:
    """A line: its text, the numbers of its atoms, and how many other content words it has. One object a text."""

    text: str
    atoms: tuple[int, ...]
    words: int


Part: TypeAlias = tuple[Source, int, tuple[Span, ...]]
"""Lines of one origin that stand together in a message: the origin, the number of the first, and the lines."""


@dataclass(frozen=True, slots=True)
class Read:
    """One message, read.

    Attributes:
        parts: its lines, in order.
        spoken: numbers of the atoms that a person or a model said, each once; thoughts are in neither.
        heard: numbers of the atoms in tool results, each once.
        chars: length of all lines.
    """

    parts: tuple[Part, ...]
    spoken: tuple[int, ...]
    heard: tuple[int, ...]
    chars: int


class _Facts:
    """What a miner's features say of each span: its atoms, and how many other content words it has."""

    __slots__ = ("_atoms", "_flat", "_miner", "_starts", "_texts", "kinds", "words")

    def __init__(self, miner: Miner) -> None:
        self._miner = miner
        self._flat = 0
        self._atoms: list[int] = []
        self._starts = [0]
        self._texts: list[str] = []
        self.words: list[int] = []
        self.kinds = bytearray()

    def catch_up(self) -> None:
        """Take in the spans that the miner has met since the last time; many at once cost least."""
        import numpy as np

        miner = self._miner
        if len(self.words) == len(miner.spans):
            return
        flat = np.frombuffer(miner.flat, dtype=np.int32)[self._flat :].copy()  # a view would forbid it to grow
        self._flat += len(flat)
        ends = np.flatnonzero(flat == END)
        is_atom = (flat < 0) & (flat != END)
        atoms = np.concatenate(([0], np.cumsum(is_atom)[ends]))
        held = np.diff(atoms)
        features = np.diff(np.concatenate(([-1], ends))) - 1
        # A path's folders tie it to its place, its own last part does not: one word less for each atom.
        self.words += np.maximum(features - 2 * held, 0).tolist()
        self._starts += (atoms[1:] + len(self._atoms)).tolist()
        self._atoms += (~flat[is_atom]).tolist()
        self._texts += islice(miner.spans, len(self._texts), None)
        self.kinds += bytes([_KIND[kind] for kind, _ in islice(miner.atoms, len(self.kinds), None)])

    def of(self, number: int) -> tuple[str, tuple[int, ...], int]:
        """The text, the atoms and the number of other words of a span."""
        text, count = self._texts[number], self.words[number]
        atoms = self._atoms[self._starts[number] : self._starts[number + 1]]
        more = self._miner.more.get(number)
        if more is not None:
            atoms += [~feature for feature in more if feature < 0]
            count += sum([feature >= 0 for feature in more])
        return text, tuple(dict.fromkeys(atoms)), count if text.isascii() else len(words(text))


class Reader:
    """Reads messages, each once as long as it is remembered; `messages_read` says how often that was.

    Whoever shares a reader between threads holds its `lock` from reading to the end of the work with what was read.

    Args:
        miner: one that has read the messages already, or will read some of them; by default the reader has its own.
    """

    __slots__ = (
        "_facts", "_given", "_lines", "_messages", "_miner", "_plain", "_spans", "lock", "messages_read",
    )  # fmt: skip

    def __init__(self, miner: Miner | None = None) -> None:
        self.lock = Lock()
        self.messages_read = 0
        self._given = miner
        self._forget()

    def _forget(self) -> None:
        self._miner = self._given or Miner()
        self._facts = _Facts(self._miner)
        self._messages: dict[int, tuple[Message, Read]] = {}
        self._spans: dict[str, Span] = {}
        self._plain: list[Span | None] = []
        self._lines: dict[str, tuple[Span, ...]] = {}

    @property
    def kinds(self) -> bytes:
        """The kind of every atom met so far, by number, as its place in `LEXICAL`."""
        return bytes(self._facts.kinds)

    def read(self, messages: Sequence[Message]) -> list[Read]:
        """Every message, read now or before. Messages are known by identity: they never change."""
        if len(self._messages) > MOST_MESSAGES or len(self._spans) > MOST_SPANS:
            self._forget()
        known = self._messages
        new = {
            id(message): message
            for message in messages
            if (before := known.get(id(message))) is None or before[0] is not message
        }
        told = {key: list(_told(message, self._miner)) for key, message in new.items()}
        self._catch_up()
        for key, message in new.items():
            known[key] = (message, self._made(told[key]))
        self.messages_read += len(new)
        return [known[id(message)][1] for message in messages]

    def lines(self, texts: Sequence[str]) -> list[tuple[Span, ...]]:
        """The lines of each text, each worked out once: those of one summary mostly stand in the next one again."""
        known = self._lines
        new = {text: self._miner.read(text) for text in texts if text not in known}
        self._catch_up()
        known.update((text, self._spans_of(numbers)) for text, numbers in new.items())
        return list(map(known.__getitem__, texts))

    def _made(self, told: Iterable[_Told]) -> Read:
        parts: list[Part] = []
        spoken: dict[int, None] = {}
        heard: dict[int, None] = {}
        first = chars = 0
        for source, numbers in told:
            lines = self._spans_of(numbers)
            if source in PROSE:
                lines = tuple([self._unmarked(line) if line.text[0] in "-*+•#" else line for line in lines])
            parts.append((source, first, lines))
            first += len(lines)
            chars += sum([len(line.text) for line in lines])
            if source < Source.THOUGHT:
                held = spoken if source <= SPOKEN else heard
                held.update(dict.fromkeys(chain.from_iterable([line.atoms for line in lines])))
        return Read(tuple(parts), tuple(spoken), tuple(heard), chars)

    def _catch_up(self) -> None:
        self._facts.catch_up()
        self._plain += [None] * (len(self._facts.words) - len(self._plain))

    def _spans_of(self, numbers: Iterable[int]) -> tuple[Span, ...]:
        known = self._plain
        return tuple([known[number] or self._span(number) for number in numbers])

    def _span(self, number: int) -> Span:
        text, atoms, count = self._facts.of(number)
        found = self._plain[number] = self._spans.setdefault(text, Span(text, atoms, count))
        return found

    def _unmarked(self, line: Span) -> Span:
        """A line of prose without the mark of a list or heading, which means more in code."""
        text = _MARK.sub("", line.text, count=1)
        return self._spans.setdefault(text, Span(text, line.atoms, line.words))


_Told: TypeAlias = tuple[Source, Sequence[int]]
"""The origin of a text and the numbers of its lines."""


def _told(message: Message, miner: Miner) -> Iterator[_Told]:
    """The texts of a message, as its miner read them."""
    if isinstance(message, SystemMessage):
        return
    if isinstance(message, Summary):
        yield Source.EARLIER, miner.read(message.text)
        return
    mined = miner.mined(message)
    sources = list(_sources(message))
    said = thought = 0
    for source, size in zip(sources, mined.parts, strict=True):
        if source is Source.THOUGHT:
            yield source, mined.thought[thought : thought + size]
            thought += size
        else:
            yield source, mined.said[said : said + size]
            said += size


def _sources(message: AssistantMessage | ToolResult | UserMessage) -> Iterator[Source]:
    """The origin of each text of a message, in the order in which a miner reads them."""
    if isinstance(message, ToolResult):
        plain = Source.FAILED if message.is_error else Source.RESULT
    elif isinstance(message, UserMessage):
        plain = Source.RESULT if message.synthetic else Source.USER
    else:
        plain = Source.SAID
    for block in message.blocks:
        if isinstance(block, Text):
            yield plain
        elif isinstance(block, Thinking):
            yield Source.THOUGHT
        elif isinstance(block, ToolCall):
            for name, value in block.arguments.items():
                source = Source.COMMAND if name in _RUNS else Source.ARGUMENT
                yield from (source for _ in argument_texts(value))
