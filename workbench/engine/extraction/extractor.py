"""Extracts from texts their spans, and from each span its words and entities, as numbers."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias, TypeVar

from workbench.engine.extraction.entities import (
    SIGNALS,
    TOKEN,
    URL,
    Entity,
    bare,
    line_entities,
    name_entities,
    quotes,
    url_entity,
    whole_entities,
    windows_paths,
)  # fmt: skip
from workbench.engine.extraction.words import ASCII_WORD, CJK, spans, words
from workbench.engine.transcript.message import (
    AnswerBlock,
    Message,
    Text,
    Thinking,
    ToolCall,
    argument_texts,
)

TOKENS = 50_000
"""Different tokens that are remembered for what is read after a session."""

_ITEMS = ("- ", "* ", "+ ", "• ")

Value = TypeVar("Value")
Features: TypeAlias = tuple[int, ...]
"""Words and entities by number: n for word n, ~n for entity n."""


class Passage(NamedTuple):
    """One text of a message: the numbers of its spans, in order, and whether it is thinking."""

    spans: list[int]
    thought: bool


class _Remembered(dict[str, Value]):
    """What a function makes of a text, made when it is first asked for."""

    def __init__(self, make: Callable[[str], Value]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> Value:
        value = self._make(text)
        self[text] = value
        return value


class Extractor:
    """Numbers the words, entities and spans of one session as it meets them.

    Attributes:
        cwd: the folder that relative paths start from.
        words, entities: the number of each content word, and of each entity.
        spans: the text of each span, by number.
        features: for each span the features of its tokens, in order; one may occur twice.
        more: by span, the features that need more than one token.
        messages_read: how many messages were read.
    """

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd
        self.words: dict[str, int] = {}
        self.entities: dict[Entity, int] = {}
        self.spans: list[str] = []
        self.features: list[Features] = []
        self.more: dict[int, Features] = {}
        self.messages_read = 0
        self._numbers = _Remembered(self._add)
        self._tokens = _Remembered(self._token_features)
        self._passages: dict[int, tuple[Message, list[Passage]]] = {}

    def read_messages(self, messages: Iterable[Message]) -> list[list[Passage]]:
        """The passages of each message."""
        passages = [self.passages(message) for message in messages]
        if len(self._tokens) > TOKENS:
            self._tokens.clear()
        return passages

    def passages(self, message: Message) -> list[Passage]:
        """The passages of a message, which is read once."""
        if id(message) not in self._passages:
            # the message is kept too, so that no other one gets its id
            self._passages[id(message)] = message, self.read_message(message)
        _, passages = self._passages[id(message)]
        return passages

    def read_message(self, message: Message) -> list[Passage]:
        """The passages of a message, read now."""
        self.messages_read += 1
        passages: list[Passage] = []
        for block in message.blocks:
            is_thought = isinstance(block, Thinking)
            for text in _texts(block):
                passages.append(Passage(self.read(text), is_thought))
        return passages

    def read(self, text: str, session_spans: int = 0) -> list[int]:
        """The numbers of a text's spans, in order.

        `session_spans` is how many spans the session has, those with the lowest numbers. A list
        item counts as such a span if it is one but for its mark, since summaries put marks before
        the lines that they quote.
        """
        numbers: list[int] = []
        for span in spans(text):
            if session_spans and span[:2] in _ITEMS:
                numbers.append(self._quoted(span, session_spans))
            else:
                numbers.append(self._numbers[span])
        return numbers

    def _quoted(self, item: str, session_spans: int) -> int:
        """The number of a list's item: of the item itself, or of what it quotes."""
        if self._numbers.get(item, session_spans) >= session_spans:
            quoted_number = self._numbers.get(item[2:], session_spans)
            if quoted_number < session_spans:
                return quoted_number
        return self._numbers[item]

    def number(self, span: str) -> int:
        """The number of a text that is one span, as it is."""
        return self._numbers[span]

    @property
    def names(self) -> list[Entity]:
        """The entities, by number."""
        return list(self.entities)

    def features_of(self, span: int) -> list[int]:
        """The features of one span, each once."""
        features = dict.fromkeys(self.features[span])
        features |= dict.fromkeys(self.more.get(span, ()))
        return list(features)

    def _add(self, span: str) -> int:
        """Take in a new span."""
        number = len(self.spans)
        text = span
        if "://" in span:
            text = URL.sub(" ", span)  # an address has no parts
        tokens = TOKEN.findall(text)
        features: list[int] = []
        for token in tokens:
            features += self._tokens[token]
        self.spans.append(span)
        self.features.append(tuple(features))
        more = self._beyond_tokens(span, SIGNALS.intersection(tokens))
        if more:
            self.more[number] = more
        return number

    def _beyond_tokens(self, span: str, signals: Collection[str]) -> Features:
        """The features that no single token shows: commands, quotes, addresses, other scripts."""
        entities: list[Entity] = []
        named: list[str] = []
        if signals:
            entities += line_entities(span, signals)
        if '"' in span or "“" in span:
            entities += quotes(span)
        if ":\\" in span:
            entities += windows_paths(span, self.cwd)
        if "://" in span:
            for address in URL.findall(span):
                entities.append(url_entity(address))
                named += words(address)
        if not span.isascii():
            named += _foreign_words(span)
        return self._numbered(named, entities)

    def _numbered(self, words: Iterable[str], entities: Iterable[Entity]) -> Features:
        """The features of words and entities; new ones are numbered."""
        features: list[int] = []
        for word in words:
            features.append(self.words.setdefault(word, len(self.words)))
        for entity in entities:
            features.append(~self.entities.setdefault(entity, len(self.entities)))
        return tuple(features)

    def _token_features(self, token: str) -> Features:
        """The words and entities of one token: of the whole, or of the names in it."""
        if token.isidentifier():
            return self._numbered(words(token), name_entities(token))
        base = bare(token)
        if base != token and (base.isidentifier() or token != base + "("):
            return self._tokens[base]
        entities = whole_entities(base, base != token, self.cwd)
        if entities is not None:
            return self._numbered(words(base), entities)
        parts = ASCII_WORD.findall(base)
        if parts == [token]:
            return self._numbered(parts, ())
        features: dict[int, None] = {}
        for part in parts:
            features.update(dict.fromkeys(self._tokens[part]))
        return tuple(features)


def _foreign_words(span: str) -> Iterator[str]:
    """The words of a span that no token shows."""
    without_spaces = CJK.search(span) is not None
    for word in words(span):
        if not without_spaces or not word.isascii():
            yield word


def _texts(block: AnswerBlock) -> Iterable[str]:
    """The texts of a part of a message."""
    if isinstance(block, Text | Thinking):
        return (block.text,)
    if isinstance(block, ToolCall):
        return argument_texts(block.arguments)
    return ()
