"""What a summary names, or says that the user asked for, without support in the history."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property

import numpy as np

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
        self._index, self._texts = texts.inverted_index, texts
        self._named_in = cache(self._entities)
        self._first_inside = cache(self._inside)
        self._first_asked = cache(self._asked)

    def fabricated(self, at: int, texts: Iterable[str]) -> tuple[tuple[Entity, ...], int]:
        """The entities in texts that occur nowhere in `messages[:at]`, each once, in order; and how
        many texts have.

        No fabrication: another spelling of something said, a path that a said path ends with, a
        name that is part of something else in the history, words quoted from the middle of a line,
        section headings, what any model knows.

        Fails to see: a true entity in a false sentence; takes for false: a number that was worked
        out, a file's new folder.
        """
        p = self._index
        spans = dict.fromkeys(span for text in texts for span in self._texts.spans(text).tolist())
        named = [(number, span) for span in spans for number in self._named_in(span)]
        names = [*p.names, *p.extractor.names[len(p.names) :]]
        every = list({number for number, _ in named})
        stands = zip(every, p.standing_for(np.array(every, dtype=np.int64)).tolist(), strict=True)
        unsaid = {
            number for number, one in stands if self._first_said(number, names[number], one) >= at
        }
        found = {
            names[number]: None
            for number, span in named
            if number in unsaid
            and (names[number].kind in _EXACT or not _HEADING.match(p.texts[span]))
            and self._first_inside(names[number]) >= at
        }
        return tuple(found), len(every)

    def invented_requests(self, at: int, texts: Iterable[str]) -> tuple[tuple[str, ...], int]:
        """The requests in texts that no message of a person in `messages[:at]` makes, in order; and
        how many they have.

        A request is a line under a heading such as "Goal" or "Rules of the user", or one that says
        what the user asked for. It is made where one message has enough of its words, weighted by
        rarity.

        Fails to see: a request turned into its opposite; takes for invented: one in wholly other
        words.
        """
        lines = tuple(dict.fromkeys(line for text in texts for line in _requests(text)))
        return tuple(line for line in lines if self._first_asked(line) >= at), len(lines)

    @cached_property
    def _by_user(self) -> list[tuple[int, set[str]]]:
        """Each message of a person with its words."""
        every = enumerate(self._index.messages)
        return [
            (at, set(words(plain_text(message)))) for at, message in every if is_real_user(message)
        ]

    def _asked(self, line: str) -> int:
        """The first message of a person with enough of a line's words; n if there is none."""
        p = self._index
        rarest = float(np.log(p.n + 1)) + 0.1
        weights = {
            word: float(p.idf[n]) if (n := p.word(word)) >= 0 else rarest for word in words(line)
        }
        enough = ENOUGH * sum(weights.values())
        asked = (
            at
            for at, own in self._by_user
            if sum(weights[word] for word in weights if word in own) >= enough
        )
        return next(asked, p.n)

    def _entities(self, span: int) -> tuple[int, ...]:
        p = self._index
        if span < p.spans:
            return tuple(row_of(p.span_entities, span).tolist())
        return tuple(~feature for feature in p.extractor.features_of(span) if feature < 0)

    def _first_said(self, number: int, name: Entity, stands: int) -> int:
        """The message that first says an entity, or names its file; n if none does, -1 where any
        model knows it.
        """
        p = self._index
        if name in BACKGROUND:
            return -1
        if stands < 0 or (
            name.kind == "path" and number >= len(p.names) and not p.files.is_ending(name.text)
        ):
            return p.n
        return int(p.first_known[stands])

    def _inside(self, name: Entity) -> int:
        """The first message that holds a name's characters inside something else; n if none
        does.
        """
        p = self._index
        if name.kind == "path" and p.files.is_ending(name.text):
            return p.first_ending.get(name.text.lstrip("/"), p.n)
        text = plain(name.text)
        needle = text.split(" ")[0] if name.kind == "number" else text
        numbers = {word: p.word(word) for word in words(needle)}
        if min(numbers.values(), default=-1) < 0:
            return p.n
        spans = p.spans_with_word(max(numbers, key=lambda word: float(p.idf[numbers[word]])))
        return min(
            (int(p.span_first[span]) for span in spans if needle in plain(p.texts[span])),
            default=p.n,
        )


def _requests(text: str) -> Iterator[str]:
    """The lines of a text that say what the user asked for."""
    under = False
    for line in map(str.strip, text.split("\n")):
        if _HEADING.match(line):
            under = _ASKED_HEADING.search(line) is not None
        elif (under or _ASKED.search(line)) and len(words(rest := _ASKED.sub("", line))) >= 2:
            yield rest
