"""What the extractive model reads: the lines of messages, each with its origin and the exact names in it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain
from threading import Lock
from typing import TypeAlias

from workbench.transcript.atoms import LEXICAL, SIGNALS, TOKEN, Found, line_atoms, quotes, token_atoms, url_atom, urls
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
from workbench.transcript.tokens import TokenCounter
from workbench.transcript.words import spans, words

MOST_MESSAGES = 20_000
MOST_SPANS = 400_000
"""A reader that remembers more than this starts anew, so that a long run does not grow without end."""

BATCH = 20_000
"""Lines whose atoms are found at once; bounds the memory that their tokens take."""

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


@dataclass(frozen=True, slots=True, eq=False)
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


class _Tokens(dict[str, int]):
    """Numbers tokens as they are met, and knows what each tells.

    Attributes:
        others: how many content words a token has beside its atoms; below 0 for a line's end.
        found: the numbers of its atoms.
        looks: whether its line is worth a second look.
        atoms: the number of each atom, `kinds` its kind.
    """

    __slots__ = ("atoms", "found", "kinds", "looks", "others")

    def __init__(self) -> None:
        super().__init__({"\n": 0})
        self.others = array("i", (-1,))
        self.found: list[tuple[int, ...]] = [()]
        self.looks = bytearray((0,))
        self.atoms: dict[Found, int] = {}
        self.kinds = bytearray()

    def number(self, atom: Found) -> int:
        found = self.atoms.setdefault(atom, len(self.kinds))
        if found == len(self.kinds):
            self.kinds.append(_KIND[atom[0]])
        return found

    def __missing__(self, token: str) -> int:
        found = tuple([self.number(atom) for atom in token_atoms(token)])
        # A path's folders tie it to its place, its own last part does not.
        self.others.append(max(len(words(token)) - len(found), 0))
        self.found.append(found)
        self.looks.append(token in SIGNALS)
        number = self[token] = len(self)
        return number


class Reader:
    """Reads messages, each once as long as it is remembered; `messages_read` says how often that was.

    Whoever shares a reader between threads holds its `lock` from reading to the end of the work with what was read.
    """

    __slots__ = ("_counter", "_lines", "_messages", "_sizes", "_spans", "_tokens", "lock", "messages_read")

    def __init__(self) -> None:
        self.lock = Lock()
        self.messages_read = 0
        self._counter: TokenCounter | None = None
        self._forget()

    def _forget(self) -> None:
        self._messages: dict[int, tuple[Message, Read]] = {}
        self._spans: dict[str, Span] = {}
        self._lines: dict[str, tuple[Span, ...]] = {}
        self._sizes: dict[Span, int] = {}
        self._tokens = _Tokens()

    @property
    def kinds(self) -> bytes:
        """The kind of every atom met so far, by number, as its place in `LEXICAL`."""
        return bytes(self._tokens.kinds)

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
        told = {
            key: [(source, _found(text, source in PROSE)) for source, text in _texts(message)]
            for key, message in new.items()
        }
        self._learn(line for parts in told.values() for _, lines in parts for line in lines)
        for key, message in new.items():
            known[key] = (message, self._made(told[key]))
        self.messages_read += len(new)
        return [known[id(message)][1] for message in messages]

    def lines(self, texts: Sequence[str]) -> list[tuple[Span, ...]]:
        """The lines of each text, each worked out once: those of one summary mostly stand in the next one again."""
        known = self._lines
        new = {text: list(spans(text)) for text in texts if text not in known}
        if new:
            self._learn(chain.from_iterable(new.values()))
            known.update((text, tuple(map(self._spans.__getitem__, lines))) for text, lines in new.items())
        return list(map(known.__getitem__, texts))

    def sizes(self, lines: Iterable[Span], count: TokenCounter) -> Iterator[int]:
        """The tokens of each line as an entry of a list, counted once as long as the same counter asks."""
        if self._counter is not count:
            self._counter = count
            self._sizes.clear()
        known = self._sizes
        for line in lines:
            size = known.get(line)
            if size is None:
                size = known[line] = count(Summary(id="", text=f"- {line.text}\n"))
            yield size

    def _made(self, told: Iterable[tuple[Source, list[str]]]) -> Read:
        parts: list[Part] = []
        spoken: dict[int, None] = {}
        heard: dict[int, None] = {}
        first = chars = 0
        for source, texts in told:
            lines = tuple(map(self._spans.__getitem__, texts))
            parts.append((source, first, lines))
            first += len(lines)
            chars += sum(map(len, texts))
            if source < Source.THOUGHT:
                held = spoken if source <= SPOKEN else heard
                held.update(dict.fromkeys(chain.from_iterable([line.atoms for line in lines])))
        return Read(tuple(parts), tuple(spoken), tuple(heard), chars)

    def _learn(self, lines: Iterable[str]) -> None:
        """Find the atoms of all lines that are new; many at once cost least."""
        known = self._spans
        new = [line for line in dict.fromkeys(lines) if line not in known]
        for start in range(0, len(new), BATCH):
            self._learn_some(new[start : start + BATCH])

    def _learn_some(self, new: Sequence[str]) -> None:
        import numpy as np

        known, table = self._spans, self._tokens
        met = TOKEN.findall("\n".join([*new, ""]))
        tokens = np.fromiter(map(table.__getitem__, met), dtype=np.int64, count=len(met))
        ends = np.flatnonzero(tokens == 0)  # one a line, in order
        starts = np.concatenate(([0], ends[:-1] + 1))
        others = np.concatenate(([0], np.cumsum(np.maximum(np.array(table.others)[tokens], 0))))
        looks = np.concatenate(([0], np.cumsum(np.frombuffer(bytes(table.looks), dtype=np.uint8)[tokens], dtype=int)))
        counts = (others[ends] - others[starts]).tolist()
        signals = (looks[ends] > looks[starts]).tolist()
        holds = np.array([bool(found) for found in table.found])[tokens]
        places = np.flatnonzero(holds)
        by_line: dict[int, list[int]] = {}
        for line, token in zip(np.searchsorted(ends, places).tolist(), tokens[places].tolist(), strict=True):
            by_line.setdefault(line, []).extend(table.found[token])
        for at, (line, count, signal) in enumerate(zip(new, counts, signals, strict=True)):
            atoms = by_line.get(at, [])
            atoms += map(table.number, _rarer(line, signal))
            known[line] = Span(line, tuple(dict.fromkeys(atoms)), count if line.isascii() else len(words(line)))


def _found(text: str, prose: bool) -> list[str]:
    """The lines of a text; those of prose without the marks of lists and headings, which mean more in code."""
    if not prose:
        return list(spans(text))
    return [_MARK.sub("", line, count=1) if line[0] in "-*+•#" else line for line in spans(text)]


def _rarer(line: str, signal: bool) -> Iterator[Found]:
    """What takes more than one token to see."""
    if signal:
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
