"""What a summary names, or says that the user asked for, without support in the history."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property

import numpy as np

from workbench.base.ragged import Ints, integers
from workbench.engine.extraction.entities import Entity, plain
from workbench.engine.extraction.words import words
from workbench.engine.transcript.message import is_real_user, plain_text
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.indexes.inverted_index import row_of
from workbench.evaluation.metrics.indexes.text_index import ENOUGH, TextIndex

_HEADING = re.compile(
    r"^(?:#{1,6}\s|</?[\w-]+>$|\*\*[^*]+\*\*:?$|[A-Z][\w /&-]{0,40}:$|[-=_*]{3,}$)"
)
_EXACT = frozenset({"path", "url", "hash", "flag", "version"})
"""Kinds that are false even in a heading, and for which other words in common excuse nothing."""

ROUNDING = 1e-6
"""By which two sums of the same weights may differ."""
_ASKED_HEADING = re.compile(
    r"\b(?:goals?|requests?|rules|constraints|instructions|preferences|user messages|(?:the )?user"
    r" (?:asked|wants))\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:the )?user (?:also |then |now"
    r" )?(?:ask(?:s|ed)|want(?:s|ed)|request(?:s|ed)|sa(?:id|ys)|told|insists)"
    r"(?: (?:for|that|to|me|us))*\b",
    re.IGNORECASE,
)


class Support:
    """What the history of one session supports."""

    def __init__(self, texts: TextIndex) -> None:
        self._index = texts.inverted_index
        self._texts = texts
        self._named_in = cache(self._entities)
        self._first_inside = cache(self._inside)
        self._first_asked = cache(self._first_request)

    def fabricated(self, boundary: int, texts: Iterable[str]) -> tuple[tuple[Entity, ...], int]:
        """The entities in texts that occur nowhere in `messages[:boundary]`, each once, in order;
        and how many texts have.

        No fabrication: another spelling of something said, a path that a said path ends with, a
        name that is part of something else in the history, words quoted from the middle of a line,
        section headings, what any model knows.

        Fails to see: a true entity in a false sentence; takes for false: a number that was worked
        out, a file's new folder.
        """
        index = self._index
        spans: dict[int, None] = {}
        for text in texts:
            spans_of_text = self._texts.spans(text)
            for span in spans_of_text.tolist():
                spans[span] = None
        distinct: set[int] = set()
        for span in spans:
            distinct.update(self._named_in(span))
        unsaid = self._unsaid(list(distinct), boundary)
        fabricated: dict[Entity, None] = {}
        for span in spans:
            line = index.texts[span]
            for number in self._named_in(span):
                if number not in unsaid:
                    continue
                name = self._name(number)
                if name.kind not in _EXACT and _HEADING.match(line):
                    continue
                if self._first_inside(name) >= boundary:
                    fabricated[name] = None
        return tuple(fabricated), len(distinct)

    def _name(self, number: int) -> Entity:
        """An entity, of the session or of a later text."""
        index = self._index
        if number < len(index.names):
            return index.names[number]
        return index.extractor.names[number]

    def _unsaid(self, numbers: Sequence[int], boundary: int) -> set[int]:
        """Those of some entities that nobody said before the boundary."""
        representatives = self._index.standing_for(integers(numbers))
        pairs = zip(numbers, representatives.tolist(), strict=True)
        unsaid: set[int] = set()
        for number, representative in pairs:
            first_message = self._first_said(number, representative)
            if first_message >= boundary:
                unsaid.add(number)
        return unsaid

    def invented_requests(self, boundary: int, texts: Iterable[str]) -> tuple[tuple[str, ...], int]:
        """The requests in texts that no message of a person in `messages[:boundary]` makes, in
        order; and how many they have.

        A request is a line under a heading such as "Goal" or "Rules of the user", or one that says
        what the user asked for. It is made where one message has enough of its words, weighted by
        rarity.

        Fails to see: a request turned into its opposite; takes for invented: one in wholly other
        words.
        """
        requests: dict[str, None] = {}
        for text in texts:
            for request in _requests(text):
                requests[request] = None
        invented: list[str] = []
        for request in requests:
            if self._first_asked(request) >= boundary:
                invented.append(request)
        return tuple(invented), len(requests)

    @cached_property
    def _words_of_people(self) -> list[tuple[int, set[str]]]:
        """Each message of a person with its words."""
        words_by_message: list[tuple[int, set[str]]] = []
        for number, message in enumerate(self._index.messages):
            if not is_real_user(message):
                continue
            text = plain_text(message)
            message_words = set(words(text))
            words_by_message.append((number, message_words))
        return words_by_message

    @cached_property
    def _people_by_word(self) -> dict[str, Ints]:
        """For each word the places in `_words_of_people` of the messages that have it."""
        places_by_word: dict[str, list[int]] = defaultdict(list)
        for place, (_, message_words) in enumerate(self._words_of_people):
            for word in message_words:
                places_by_word[word].append(place)
        arrays_by_word: dict[str, Ints] = {}
        for word, places in places_by_word.items():
            arrays_by_word[word] = integers(places)
        return arrays_by_word

    def _first_request(self, line: str) -> int:
        """The first message of a person with enough of a line's words; n if there is none."""
        weights: dict[str, float] = {}
        for word in words(line):
            weights[word] = self._weight(word)
        enough = ENOUGH * sum(weights.values())
        for place in self._likely_requests(weights, enough):
            number, message_words = self._words_of_people[place]
            shared_weights: list[float] = []
            for word, weight in weights.items():
                if word in message_words:
                    shared_weights.append(weight)
            if sum(shared_weights) >= enough:
                return number
        return self._index.n

    def _likely_requests(self, weights: Mapping[str, float], enough: float) -> list[int]:
        """The places of messages of persons that have enough of some weights, or all but."""
        sums = np.zeros(len(self._words_of_people))
        for word, weight in weights.items():
            places = self._people_by_word.get(word)
            if places is not None:
                sums[places] += weight
        is_likely = sums >= enough - ROUNDING
        likely: list[int] = np.flatnonzero(is_likely).tolist()
        return likely

    def _weight(self, word: str) -> float:
        """How rare a word is; one that the session does not have is the rarest."""
        index = self._index
        number = index.word(word)
        if number >= 0:
            return float(index.idf[number])
        rarity = index.n + 1
        log_rarity = float(np.log(rarity))
        return log_rarity + 0.1

    def _entities(self, span: int) -> tuple[int, ...]:
        index = self._index
        if span < index.spans:
            row = row_of(index.span_entities, span)
            return tuple(row.tolist())
        entities: list[int] = []
        for feature in index.extractor.features_of(span):
            if feature < 0:
                number = ~feature
                entities.append(number)
        return tuple(entities)

    def _first_said(self, number: int, representative: int) -> int:
        """The message that first says an entity, or names its file; n if none does, -1 where any
        model knows it.
        """
        index = self._index
        name = self._name(number)
        if name in BACKGROUND:
            return -1
        if representative < 0:
            return index.n
        is_new_path = name.kind == "path" and number >= len(index.names)
        if is_new_path and not index.files.is_ending(name.text):
            return index.n
        return int(index.first_known[representative])

    def _inside(self, name: Entity) -> int:
        """The first message that holds a name's characters inside something else; n if none
        does.
        """
        index = self._index
        if name.kind == "path" and index.files.is_ending(name.text):
            ending = name.text.lstrip("/")
            return index.first_ending.get(ending, index.n)
        needle = plain(name.text)
        if name.kind == "number":
            needle = needle.split(" ")[0]
        needle_words = words(needle)
        if not needle_words or any(index.word(word) < 0 for word in needle_words):
            return index.n
        rarest_word = max(needle_words, key=self._weight)
        first_message = index.n
        for span in index.spans_with_word(rarest_word):
            line = plain(index.texts[span])
            if needle in line:
                first_of_span = int(index.span_first[span])
                first_message = min(first_message, first_of_span)
        return first_message


def _requests(text: str) -> Iterator[str]:
    """The lines of a text that say what the user asked for."""
    is_under_heading = False
    for indented_line in text.split("\n"):
        line = indented_line.strip()
        if _HEADING.match(line):
            is_under_heading = _ASKED_HEADING.search(line) is not None
        elif is_under_heading or _ASKED.search(line):
            request = _ASKED.sub("", line)
            if len(words(request)) >= 2:
                yield request
