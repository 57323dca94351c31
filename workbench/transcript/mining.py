"""Mines the messages of one session, each once: its spans, and the words and atoms in them, as integers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from workbench.transcript.atoms import SIGNALS, TOKEN, Found, line_atoms, quotes, token_atoms, url_atom, urls
from workbench.transcript.message import Message, Text, Thinking, ToolCall, argument_texts
from workbench.transcript.words import CJK, lines, pieces, words


@dataclass(frozen=True, slots=True)
class Mined:
    """The spans of one message, by number, in the order in which they stand there.

    Attributes:
        said: of words and of the values of tool arguments.
        thought: of thinking, which a later request may not be sent.
    """

    said: tuple[int, ...]
    thought: tuple[int, ...] = ()


class Miner:
    """Numbers the words, atoms and spans of one session as it meets them. The same line is read once.

    Attributes:
        cwd: the folder that relative paths start from.
        words: number of each content word.
        atoms: number of each atom, by kind and text.
        spans: number of each span, by its text.
        starts: where each span's features begin in `features`; one more entry than spans.
        features: a word's number n as n, an atom's number n as ~n; each once a span.
        messages_mined: how often `mine` was called.
    """

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd
        self.words: dict[str, int] = {}
        self.atoms: dict[Found, int] = {}
        self.spans: dict[str, int] = {}
        self.starts = array("q", [0])
        self.features = array("i")
        self.messages_mined = 0
        self._lines: dict[str, tuple[int, ...]] = {}
        self._tokens: dict[str, tuple[int, ...]] = {}

    def mine(self, message: Message) -> Mined:
        """The spans of a message, newly numbered where they are new."""
        self.messages_mined += 1
        said: list[int] = []
        thought: list[int] = []
        for block in message.blocks:
            if isinstance(block, Text):
                said += self.read(block.text)
            elif isinstance(block, Thinking):
                thought += self.read(block.text)
            elif isinstance(block, ToolCall):
                for text in argument_texts(block.arguments):
                    said += self.read(text)
        return Mined(tuple(said), tuple(thought))

    def read(self, text: str) -> list[int]:
        """The numbers of a text's spans, in order."""
        found = lines(text)
        known = self._lines
        new = [line for line in found if line not in known]
        if new:
            self._learn(new)
        return list(chain.from_iterable(map(known.__getitem__, found)))

    def atom(self, atom: Found) -> int:
        """The number of an atom, a new one if need be."""
        return self.atoms.setdefault(atom, len(self.atoms))

    def _learn(self, new: Iterable[str]) -> None:
        fresh: list[str] = []
        numbers = self.spans
        for line in new:
            found = pieces(line)
            for piece in found:
                if piece not in numbers:
                    numbers[piece] = len(numbers)
                    fresh.append(piece)
            self._lines[line] = tuple([numbers[piece] for piece in found])
        if fresh:
            self._digest(fresh)

    def _digest(self, fresh: list[str]) -> None:
        """Find the features of new spans: one pass over the tokens of all of them."""
        tokens = TOKEN.findall("\n".join(fresh))
        tokens.append("\n")
        known, flat, starts = self._tokens, self.features, self.starts
        features: set[int] = set()
        signalled = False
        span = iter(fresh)
        for token in tokens:
            if token == "\n":
                self._add_rarer(next(span), signalled, features)
                flat.extend(features)
                starts.append(len(flat))
                features.clear()
                signalled = False
                continue
            found = known.get(token)
            if found is None:
                found = known[token] = self._token_features(token)
            if found:
                features.update(found)
            if token in SIGNALS:
                signalled = True

    def _add_rarer(self, span: str, signalled: bool, features: set[int]) -> None:
        """Add what no single token shows: commands, messages, quotes, addresses, words of other alphabets."""
        if signalled:
            features.update([~self.atom(atom) for atom in line_atoms(span)])
        if '"' in span:
            features.update([~self.atom(atom) for atom in quotes(span)])
        if "://" in span:
            features.update([~self.atom(url_atom(address)) for address in urls(span)])
        if not span.isascii():
            features.update([~self.atom(atom) for atom in quotes(span)])
            foreign = CJK.search(span) is None
            features.update(self._word_numbers(word for word in words(span) if foreign or not word.isascii()))

    def _word_numbers(self, found: Iterable[str]) -> list[int]:
        numbers = self.words
        return [numbers.setdefault(word, len(numbers)) for word in found]

    def _token_features(self, token: str) -> tuple[int, ...]:
        """The words and atoms of one token, read when it is first met."""
        atoms = token_atoms(token, self.cwd)
        return (*self._word_numbers(words(token)), *[~self.atom(atom) for atom in atoms])
