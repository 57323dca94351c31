"""Extracts from texts their spans, and from each span its words and entities, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

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
from workbench.extraction.words import ASCII_WORD, CJK, pieces_of, without_colours, words
from workbench.transcript.message import AnswerBlock, Message, Text, Thinking, ToolCall, argument_texts

TOKENS = 50_000
"""Different tokens that are remembered for what is read after a session."""

_ITEMS = ("- ", "* ", "+ ", "• ")

Made = TypeVar("Made")


class Passage(NamedTuple):
    """One text of a message.

    Attributes:
        spans: the numbers of its spans, in order.
        thought: whether it is thinking.
    """

    spans: list[int]
    thought: bool


class _Remembered(dict[str, Made]):
    """What a function makes of a text, made when it is first asked for."""

    def __init__(self, make: Callable[[str], Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> Made:
        found = self[text] = self._make(text)
        return found


class Extractor:
    """Numbers the words, entities and spans of one session as it meets them.

    A feature is a word or an entity: n for word n, ~n for entity n.

    Attributes:
        cwd: the folder that relative paths start from.
        words, entities: the number of each content word, and of each entity by kind and text.
        names, spans: the kind and text of each entity, and the text of each span, by number.
        features: for each span the features of its tokens, in order; one may occur twice.
        more: by span, the features that need more than one token.
        messages_read: how many messages were read.
    """

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd
        self.words: dict[str, int] = {}
        self.entities: dict[Found, int] = {}
        self.names: list[Found] = []
        self.spans: list[str] = []
        self.features: list[tuple[int, ...]] = []
        self.more: dict[int, list[int]] = {}
        self.messages_read = 0
        self._numbers = _Remembered(self._add)
        self._tokens = _Remembered(self._token_features)
        self._passages: dict[int, tuple[Message, list[Passage]]] = {}

    def read_messages(self, messages: Iterable[Message]) -> list[list[Passage]]:
        """The passages of each message, which are remembered."""
        for message in messages:
            self._passages[id(message)] = message, self.read_message(message)
        if len(self._tokens) > TOKENS:
            self._tokens.clear()
        return [self._passages[id(message)][1] for message in messages]

    def passages(self, message: Message) -> list[Passage]:
        """The passages of a message: remembered ones, or read now and not remembered."""
        known = self._passages.get(id(message))
        return known[1] if known is not None and known[0] is message else self.read_message(message)

    def read_message(self, message: Message) -> list[Passage]:
        """The passages of a message, read now."""
        self.messages_read += 1
        return [
            Passage(self.read(text), isinstance(block, Thinking)) for block in message.blocks for text in _texts(block)
        ]

    def read(self, text: str, own: int = 0) -> list[int]:
        """The numbers of a text's spans, in order.

        Args:
            text: any.
            own: how many spans the session has: those with the lowest numbers. A list item counts as such a span if it
                is one but for its mark: summaries put marks before the lines that they quote.
        """
        pieces = pieces_of(without_colours(text))
        if not own:
            return [self._numbers[piece] for piece in pieces]
        return [self._quoted(piece, own) if piece[:2] in _ITEMS else self._numbers[piece] for piece in pieces]

    def _quoted(self, item: str, own: int) -> int:
        """The number of a list's item."""
        if self._numbers.get(item, own) >= own and (bare := self._numbers.get(item[2:], own)) < own:
            return bare
        return self._numbers[item]

    def number(self, span: str) -> int:
        """The number of a text that is one span, as it is."""
        return self._numbers[span]

    def entity(self, entity: Found) -> int:
        """The number of an entity, a new one if need be."""
        number = self.entities.setdefault(entity, len(self.names))
        if number == len(self.names):
            self.names.append(entity)
        return number

    def features_of(self, span: int) -> list[int]:
        """The features of one span, each once."""
        return list(dict.fromkeys([*self.features[span], *self.more.get(span, ())]))

    def _add(self, span: str) -> int:
        """Take in a new span."""
        number = len(self.spans)
        tokens = TOKEN.findall(without_urls(span) if "://" in span else span)
        self.spans.append(span)
        self.features.append(tuple(chain.from_iterable(map(self._tokens.__getitem__, tokens))))
        signals = SIGNALS.intersection(tokens)
        if signals:
            self._note(number, line_entities(span, signals))
        if '"' in span or "://" in span or ":\\" in span or not span.isascii():
            self._note_rarer(number, span)
        return number

    def _note(self, span: int, entities: Iterable[Found]) -> None:
        found = [~self.entity(entity) for entity in entities]
        if found:
            self.more.setdefault(span, []).extend(found)

    def _note_words(self, span: int, found: Sequence[str]) -> None:
        if found:
            self.more.setdefault(span, []).extend(self._word_numbers(found))

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
        numbers = self.words
        return [numbers.setdefault(word, len(numbers)) for word in found]

    def _token_features(self, token: str) -> tuple[int, ...]:
        """The words and entities of one token: of the whole, or of the names in it."""
        if token.isidentifier():
            entities = () if token.isalpha() and token.islower() else name_entities(token)  # a plain word is none
            return (*self._word_numbers(words(token)), *[~self.entity(entity) for entity in entities])
        base = bare(token)
        if base != token and (base.isidentifier() or token != base + "("):
            return self._tokens[base]
        whole = whole_entities(base, base != token, self.cwd)
        if whole is not None:
            return (*self._word_numbers(words(base)), *[~self.entity(entity) for entity in whole])
        parts = ASCII_WORD.findall(base)
        if parts == [token]:
            return tuple(self._word_numbers(parts))
        return tuple(dict.fromkeys(chain.from_iterable(self._tokens[part] for part in parts)))


def _texts(block: AnswerBlock) -> Iterable[str]:
    if isinstance(block, Text | Thinking):
        return (block.text,)
    return argument_texts(block.arguments) if isinstance(block, ToolCall) else ()
