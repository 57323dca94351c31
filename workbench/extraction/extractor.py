"""Extracts from the messages of one session, each once: the spans, and the words and entities in them, as integers."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from workbench.extraction.entities import (
    SIGNALS,
    TOKEN,
    Found,
    bare,
    line_entities,
    name_entities,
    quotes,
    url_entity,
    urls,
    whole_entities,
    windows_paths,
    without_urls,
)
from workbench.extraction.spans import Spans
from workbench.extraction.words import ASCII_WORD, CJK, pieces_of, without_colours, words
from workbench.transcript.message import AnswerBlock, Message, Text, Thinking, ToolCall, argument_texts

END = -(2**31)
"""Stands behind the features of each span."""

BATCH = 20_000
"""Spans whose features are found at once; bounds the memory that their tokens take."""

TOKENS = 50_000
"""Different tokens that are remembered for what is read after a session; some 8 MB."""

_ITEMS = ("- ", "* ", "+ ", "• ")
_END = "\x01"
"""The token of a span's end; no other token holds this character."""
_MARKS = SIGNALS | {_END}


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The spans of many messages, text by text in the order of their blocks.

    Attributes:
        spans: the numbers of the spans, one after another.
        sizes: how many spans each text has.
        thoughts: 1 for each text that is thinking, else 0.
        texts: how many texts each message has.
    """

    spans: array[int] = field(default_factory=lambda: array("i"))
    sizes: array[int] = field(default_factory=lambda: array("i"))
    thoughts: bytearray = field(default_factory=bytearray)
    texts: array[int] = field(default_factory=lambda: array("i"))
    _first_text: array[int] = field(default_factory=lambda: array("i", [0]))
    _first_span: array[int] = field(default_factory=lambda: array("i", [0]))

    def add(self, spans: list[int], thought: bool) -> None:
        """One more text of the message that is being read."""
        self.spans.fromlist(spans)
        self.sizes.append(len(spans))
        self.thoughts.append(thought)

    def close(self) -> None:
        """The message is read."""
        self.texts.append(len(self.sizes) - self._first_text[-1])
        self._first_text.append(len(self.sizes))
        self._first_span.append(len(self.spans))

    def copy(self, other: Layout, row: int) -> None:
        """One more message, as it stands in another layout."""
        texts = slice(other._first_text[row], other._first_text[row + 1])
        self.spans.extend(other.spans[other._first_span[row] : other._first_span[row + 1]])
        self.sizes.extend(other.sizes[texts])
        self.thoughts.extend(other.thoughts[texts])
        self.close()


def tokens(text: str) -> list[str]:
    """What `TOKEN` finds in a text whose last character is a line's end; the token of a line's end is `_END`.

    Beside them may stand single brackets, which say nothing. Blanks for all other characters, and cutting at them, is
    four times as quick as searching.
    """
    if "\x01" in text or "\x02" in text:
        text = text.replace("\x01", " ").replace("\x02", " ")
    if _FOREIGN_DIGITS.search(text):
        return [_END if token == "\n" else token for token in TOKEN.findall(text)]
    if "," in text:
        text = _THOUSANDS.sub(_grouped, text)
    plain = text.encode("ascii", "replace").translate(_PLAIN)
    return plain.replace(b"(", b"( ").replace(b"\x01", b" \x01 ").decode("ascii").split()


def _grouped(found: re.Match[str]) -> str:
    return found[0].replace(",", "\x02") + " "


_TOKEN_MARKS = b"_.@~/%#-"
_PLAIN = bytes(
    1 if chr(c) == "\n"
    else ord(",") if c == 2
    else c if (chr(c).isascii() and chr(c).isalnum()) or c in _TOKEN_MARKS + b"("
    else ord(" ")
    for c in range(256)
)  # fmt: skip
_THOUSANDS = re.compile(r",(?<=[A-Za-z0-9_.@~/%#-],)\d{3}(?![0-9A-Za-z_])(?:,\d{3}(?![0-9A-Za-z_]))*")
_FOREIGN_DIGITS = re.compile(r",\d{0,2}(?=[^\x00-\x7f])\d")


class _Tokens(dict[str, bytes]):
    """The features of each token, as the bytes of their numbers, found when it is first asked for."""

    def __init__(self, features: Callable[[str], bytes]) -> None:
        super().__init__({_END: _packed((END,)), "(": b""})
        self._features = features

    def __missing__(self, token: str) -> bytes:
        found = self[token] = self._features(token)
        return found


def _packed(features: Iterable[int]) -> bytes:
    return array("i", features).tobytes()


class Extractor:
    """Numbers the words, entities and spans of one session as it meets them.

    Attributes:
        cwd: the folder that relative paths start from.
        spans: the text of each span, by its number.
        messages_read: how many messages were read.
    """

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd
        self._words: dict[str, int] = {}
        self._entities: dict[Found, int] = {}
        self.spans = Spans()
        self._flat = array("i")
        self._more: dict[int, list[int]] = {}
        self.messages_read = 0
        self._firsts: list[int] = []  # the first span of each batch, and where its features begin
        self._offsets: list[int] = []
        self._starts: dict[int, list[int]] = {}
        self._recent: dict[str, int] = {}
        self._tokens = _Tokens(self._token_features)
        self._extracted: dict[int, tuple[Message, Layout, int]] = {}

    @property
    def words(self) -> dict[str, int]:
        """The number of each content word."""
        self._digest()
        return self._words

    @property
    def entities(self) -> dict[Found, int]:
        """The number of each entity, by kind and text."""
        self._digest()
        return self._entities

    @property
    def flat(self) -> array[int]:
        """Span by span what its tokens show, then `END`: a word's number n as n, an entity's number n as ~n.

        One feature may stand there twice.
        """
        self._digest()
        return self._flat

    @property
    def more(self) -> dict[int, list[int]]:
        """By span, the features that it takes more than a token to see."""
        self._digest()
        return self._more

    def mine_all(self, messages: Sequence[Message]) -> Layout:
        """The spans of messages, in order; `put` remembers them."""
        found = Layout()
        for row, message in enumerate(messages):
            self.read_into(found, message)
            self._extracted[id(message)] = (message, found, row)
        return found

    def put(self, layout: Layout, message: Message) -> None:
        """Lay out one more message, as `mine_all` found its spans, or read now and not remembered."""
        known = self._extracted.get(id(message))
        if known is not None and known[0] is message:
            layout.copy(known[1], known[2])
        else:
            self.read_into(layout, message)

    def read_into(self, layout: Layout, message: Message) -> None:
        """Lay out one more message, read anew."""
        self.messages_read += 1
        for block in message.blocks:
            thought = isinstance(block, Thinking)
            for text in _texts(block):
                layout.add(self.read(text), thought)
        layout.close()

    def read(self, text: str, known: dict[str, int] | None = None, own: int = 0) -> list[int]:
        """The numbers of a text's spans, in order.

        Args:
            text: any.
            known: numbers of pieces that whoever reads remembers, for a text that is not of the session.
            own: how many spans the session has: those with the lowest numbers. A list's item that is one of them but
                for its mark is that span: who quotes a line puts such marks before it.
        """
        text = without_colours(text)
        found = pieces_of(text)
        known = self._recent if known is None else known
        numbers = list(map(known.get, found))
        if None in numbers:
            new = list(dict.fromkeys([piece for piece in found if piece not in known]))
            if own:
                known.update(self._quoted(new, own))
                new = [piece for piece in new if piece not in known]
            known.update(zip(new, self.spans.numbers(new, text), strict=True))
            numbers = list(map(known.get, found))
            self._keep_small(known)
        return cast("list[int]", numbers)

    def _quoted(self, pieces: Sequence[str], own: int) -> Iterator[tuple[str, int]]:
        """The pieces that are spans of the session, as they stand or without a list's mark; and their numbers."""
        marked = [piece for piece in pieces if piece[:2] in _ITEMS]
        whole, bare = self.spans.known(marked), self.spans.known([piece[2:] for piece in marked])
        for piece, as_it_stands, without in zip(marked, whole, bare, strict=True):
            number = as_it_stands if 0 <= as_it_stands < own else without
            if 0 <= number < own:
                yield piece, number

    def number(self, spans: Sequence[str]) -> list[int]:
        """The numbers of texts that are one span each, as they are."""
        numbers = self.spans.known(spans)
        for i, number in enumerate(numbers):
            if number < 0:
                numbers[i] = self.spans.numbers((spans[i],), spans[i])[0]
        self._keep_small(self._recent)
        return numbers

    def _keep_small(self, known: dict[str, int]) -> None:
        if len(self.spans.fresh) > BATCH:
            self._digest()
        if len(known) > BATCH:
            known.clear()

    def forget_tokens(self) -> None:
        """Let go of what only makes reading the same words again quick, if it is much."""
        self._digest()
        self._recent.clear()
        if len(self._tokens) > TOKENS:
            self._tokens = _Tokens(self._token_features)

    def entity(self, entity: Found) -> int:
        """The number of an entity, a new one if need be."""
        return self._entities.setdefault(entity, len(self._entities))

    def features_of(self, span: int) -> list[int]:
        """The features of one span, each once."""
        self._digest()
        batch = bisect_right(self._firsts, span) - 1
        starts = self._starts.setdefault(batch, [self._offsets[batch]])
        at = span - self._firsts[batch]
        while len(starts) <= at + 1:
            starts.append(self._flat.index(END, starts[-1]) + 1)
        return list(dict.fromkeys([*self._flat[starts[at] : starts[at + 1] - 1], *self._more.get(span, ())]))

    def _digest(self) -> None:
        """Find the features of all spans that have come since the last time; many at once cost least."""
        fresh, self.spans.fresh = self.spans.fresh, []
        if not fresh:
            return
        first = len(self.spans) - len(fresh)
        found = tokens("\n".join([without_urls(span) if "://" in span else span for span in fresh]) + "\n")
        self._firsts.append(first)
        self._offsets.append(len(self._flat))
        self._flat.frombytes(b"".join(map(self._tokens.__getitem__, found)))
        signals: list[str] = []
        at = 0
        for token in filter(_MARKS.__contains__, found):
            if token != _END:
                signals.append(token)
                continue
            if signals:
                self._note(first + at, line_entities(fresh[at], signals))
                signals.clear()
            at += 1
        for at, span in enumerate(fresh, first):
            if '"' in span or "://" in span or ":\\" in span or not span.isascii():
                self._note_rarer(at, span)

    def _note(self, span: int, entities: Iterable[Found]) -> None:
        found = [~self.entity(entity) for entity in entities]
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
                self._note(number, [url_entity(address)])
                self._note_words(number, words(address))
        if not span.isascii():
            foreign = CJK.search(span) is None
            self._note_words(number, [word for word in words(span) if foreign or not word.isascii()])

    def _word_numbers(self, found: Iterable[str]) -> list[int]:
        numbers = self._words
        return [numbers.setdefault(word, len(numbers)) for word in found]

    def _token_features(self, token: str) -> bytes:
        """The words and entities of one token, read when it is first met.

        Most tokens are names with marks between them, and the names have been met before.
        """
        if token.isidentifier():
            entities = () if token.isalpha() and token.islower() else name_entities(token)  # a plain word is none
            return _packed([*self._word_numbers(words(token)), *[~self.entity(entity) for entity in entities]])
        base = bare(token)
        if base != token and (base.isidentifier() or token != base + "("):
            return self._tokens[base]
        whole = whole_entities(base, base != token, self.cwd)
        if whole is not None:
            return _packed([*self._word_numbers(words(base)), *[~self.entity(entity) for entity in whole]])
        parts = ASCII_WORD.findall(base)
        if parts == [token]:
            return _packed(self._word_numbers(parts))
        found = b"".join(map(self._tokens.__getitem__, parts))
        return _packed(dict.fromkeys(memoryview(found).cast("i")))


def _texts(block: AnswerBlock) -> Iterable[str]:
    if isinstance(block, Text | Thinking):
        return (block.text,)
    return argument_texts(block.arguments) if isinstance(block, ToolCall) else ()
