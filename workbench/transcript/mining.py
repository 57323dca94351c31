"""Mines the messages of one session, each once: its spans, and the words and atoms in them, as integers."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from workbench.transcript.atoms import (
    SIGNALS,
    TOKEN,
    Found,
    bare,
    line_atoms,
    name_atoms,
    quotes,
    url_atom,
    urls,
    whole_atoms,
    windows_paths,
    without_urls,
)
from workbench.transcript.message import AnswerBlock, Message, Text, Thinking, ToolCall, argument_texts
from workbench.transcript.words import ASCII_WORD, CJK, lines, pieces, words

END = -(2**31)
"""Stands behind the features of each span."""

BATCH = 20_000
"""Spans whose features are found at once; bounds the memory that their tokens take."""

_MARKS = SIGNALS | {"\n"}


@dataclass(frozen=True, slots=True)
class Mined:
    """The spans of one message, by number, in the order in which they stand there.

    Attributes:
        said: of words and of the values of tool arguments.
        thought: of thinking, which a later request may not be sent.
        parts: how many spans each text of the message has, texts, thoughts and arguments in the order of its blocks.
    """

    said: tuple[int, ...]
    thought: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()


class Miner:
    """Numbers the words, atoms and spans of one session as it meets them. The same line is read once.

    Attributes:
        cwd: the folder that relative paths start from.
        spans: number of each span, by its text.
        messages_mined: how many messages were read.
    """

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd
        self._words: dict[str, int] = {}
        self._atoms: dict[Found, int] = {}
        self.spans: dict[str, int] = {}
        self._flat = array("i")
        self._more: dict[int, list[int]] = {}
        self.messages_mined = 0
        self._firsts: list[int] = []  # the first span of each batch, and where its features begin
        self._offsets: list[int] = []
        self._starts: dict[int, list[int]] = {}
        self._fresh: list[str] = []
        self._lines: dict[str, tuple[int, ...]] = {}
        self._tokens: dict[str, tuple[int, ...]] = {"\n": (END,)}
        self._mined: dict[int, tuple[Message, Mined]] = {}

    @property
    def words(self) -> dict[str, int]:
        """The number of each content word."""
        self._digest()
        return self._words

    @property
    def atoms(self) -> dict[Found, int]:
        """The number of each atom, by kind and text."""
        self._digest()
        return self._atoms

    @property
    def flat(self) -> array[int]:
        """Span by span what its tokens show, then `END`: a word's number n as n, an atom's number n as ~n.

        One feature may stand there twice.
        """
        self._digest()
        return self._flat

    @property
    def more(self) -> dict[int, list[int]]:
        """By span, the features that it takes more than a token to see."""
        self._digest()
        return self._more

    def mine(self, message: Message) -> Mined:
        """The spans of a message, newly numbered where they are new; `mined` remembers them."""
        found = self.read_message(message)
        self._mined[id(message)] = (message, found)
        return found

    def mined(self, message: Message) -> Mined:
        """The spans of a message, as `mine` found them, or read now and not remembered."""
        known = self._mined.get(id(message))
        return known[1] if known is not None and known[0] is message else self.read_message(message)

    def read_message(self, message: Message) -> Mined:
        """The spans of a message, read anew."""
        self.messages_mined += 1
        said: list[int] = []
        thought: list[int] = []
        parts: list[int] = []
        for block in message.blocks:
            into = thought if isinstance(block, Thinking) else said
            for text in _texts(block):
                found = self.read(text)
                into += found
                parts.append(len(found))
        return Mined(tuple(said), tuple(thought), tuple(parts))

    def read(self, text: str) -> list[int]:
        """The numbers of a text's spans, in order."""
        found = lines(text)
        known = self._lines
        new = [line for line in found if line not in known]
        if new:
            self._learn(new)
        return list(chain.from_iterable(map(known.__getitem__, found)))

    def forget_lines(self) -> None:
        """Let go of what only makes reading the same lines again quick: half of the memory."""
        self._lines.clear()

    def atom(self, atom: Found) -> int:
        """The number of an atom, a new one if need be."""
        return self._atoms.setdefault(atom, len(self._atoms))

    def features_of(self, span: int) -> list[int]:
        """The features of one span, each once."""
        self._digest()
        batch = bisect_right(self._firsts, span) - 1
        starts = self._starts.setdefault(batch, [self._offsets[batch]])
        at = span - self._firsts[batch]
        while len(starts) <= at + 1:
            starts.append(self._flat.index(END, starts[-1]) + 1)
        return list(dict.fromkeys([*self._flat[starts[at] : starts[at + 1] - 1], *self._more.get(span, ())]))

    def _learn(self, new: Iterable[str]) -> None:
        known, numbers, fresh = self._lines, self.spans, self._fresh
        for line in new:
            if line in known:
                continue
            found = pieces(line)
            for piece in found:
                if piece not in numbers:
                    numbers[piece] = len(numbers)
                    fresh.append(piece)
            known[line] = (numbers[found[0]],) if len(found) == 1 else tuple([numbers[piece] for piece in found])
        if len(fresh) > BATCH:
            self._digest()

    def _digest(self) -> None:
        """Find the features of all spans that have come since the last time; many at once cost least."""
        fresh, self._fresh = self._fresh, []
        if not fresh:
            return
        first = len(self.spans) - len(fresh)
        tokens = TOKEN.findall("\n".join([without_urls(span) if "://" in span else span for span in fresh]))
        tokens.append("\n")
        known = self._tokens
        for token in dict.fromkeys([token for token in tokens if token not in known]):
            self._features_of_token(token)
        self._firsts.append(first)
        self._offsets.append(len(self._flat))
        self._flat.extend(chain.from_iterable(map(known.__getitem__, tokens)))
        signals: list[str] = []
        at = 0
        for token in [token for token in tokens if token in _MARKS]:
            if token != "\n":
                signals.append(token)
                continue
            if signals:
                self._note(first + at, line_atoms(fresh[at], signals))
                signals.clear()
            at += 1
        for at, span in enumerate(fresh, first):
            if '"' in span or "://" in span or ":\\" in span or not span.isascii():
                self._note_rarer(at, span)

    def _note(self, span: int, atoms: Iterable[Found]) -> None:
        found = [~self.atom(atom) for atom in atoms]
        if found:
            self._more.setdefault(span, []).extend(found)

    def _note_words(self, span: int, found: Sequence[str]) -> None:
        if found:
            self._more.setdefault(span, []).extend(self._word_numbers(found))

    def _note_rarer(self, number: int, span: str) -> None:
        """Note what no single token shows: quotes, addresses, words of other alphabets."""
        if '"' in span or "“" in span:
            self._note(number, quotes(span))
        if ":\\" in span:
            self._note(number, windows_paths(span, self.cwd))
        if "://" in span:
            for address in urls(span):
                self._note(number, [url_atom(address)])
                self._note_words(number, words(address))
        if not span.isascii():
            foreign = CJK.search(span) is None
            self._note_words(number, [word for word in words(span) if foreign or not word.isascii()])

    def _word_numbers(self, found: Iterable[str]) -> list[int]:
        numbers = self._words
        return [numbers.setdefault(word, len(numbers)) for word in found]

    def _token_features(self, token: str) -> tuple[int, ...]:
        """The words and atoms of one token, read when it is first met.

        Most tokens are names with marks between them, and the names have been met before.
        """
        if token.isidentifier():
            return (*self._word_numbers(words(token)), *[~self.atom(atom) for atom in name_atoms(token)])
        base = bare(token)
        if base != token and (base.isidentifier() or token != base + "("):
            return self._features_of_token(base)
        whole = whole_atoms(token, self.cwd)
        if whole is not None:
            return (*self._word_numbers(words(base)), *[~self.atom(atom) for atom in whole])
        parts = ASCII_WORD.findall(base)
        if parts == [token]:
            return tuple(self._word_numbers(parts))
        return tuple(dict.fromkeys(chain.from_iterable(map(self._features_of_token, parts))))

    def _features_of_token(self, token: str) -> tuple[int, ...]:
        found = self._tokens.get(token)
        if found is None:
            found = self._tokens[token] = self._token_features(token)
        return found


def _texts(block: AnswerBlock) -> Iterable[str]:
    if isinstance(block, Text | Thinking):
        return (block.text,)
    return argument_texts(block.arguments) if isinstance(block, ToolCall) else ()
