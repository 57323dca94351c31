"""Contexts made to please a measure, which tell a reader little: a family of them, tried over
its knobs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from workbench.engine.transcript.message import said_text
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.work_exam.word_cover import content_words

Form: TypeAlias = Literal["list", "soup", "sided", "cue", "fragment", "shuffled"]
Order: TypeAlias = Literal["random", "newest", "frequent"]
Speakers: TypeAlias = Literal["people", "all"]
LineOrder: TypeAlias = Literal["newest", "random", "rare"]


class NameWithLines(NamedTuple):
    """A name of a history, and the numbers of the lines that hold it, oldest first."""

    text: str
    lines: list[int]


@dataclass(frozen=True, slots=True)
class Gamer:
    """One setting of the family.

    Attributes:
        form: `list` (names alone), `soup` (names, then words common near them), `sided` (the same
            words, each before or behind the names as most lines have it), `cue` ("name: rare words
            of its line"), `fragment` (the words around a name as they stand), `shuffled` (whole
            lines, their words in a random order).
        names: names in a line.
        words: other words in a line; of a fragment on each side.
        order: which names come first.
    """

    form: Form
    names: int = 1
    words: int = 0
    order: Order = "random"

    @property
    def label(self) -> str:
        """Its setting in words."""
        return f"{self.form}, {self.names} names, {self.words} words, {self.order} first"

    def lines(self, history: ExamHistory, boundary: int) -> Iterator[str]:
        """The lines of its context, best first, until the reader has enough."""
        chance = random.Random(f"0 {self.label}")
        names = self._ordered(history, boundary, chance)
        newest = history.before(boundary).newest
        for start in range(0, len(names), self.names):
            end = start + self.names
            group = []
            for name in names[start:end]:
                lines = history.lines_with(name, newest).tolist()
                group.append(NameWithLines(history.names[name].text, lines))
            if self.form in ("list", "soup", "sided"):
                yield self._names_with_words(history, group)
            else:
                yield self._line_of_name(history, group[0], chance)

    def _names_with_words(
        self,
        history: ExamHistory,
        group: Sequence[NameWithLines],
    ) -> str:
        """A line of names, with words that are common near them behind or, if `sided`, around."""
        names = [name.text for name in group]
        words_before = []
        words_behind = []
        for word, place in _common(history, group, self.words).items():
            if place < 0 and self.form == "sided":
                words_before.append(word)
            else:
                words_behind.append(word)
        return " ".join(words_before + names + words_behind)

    def _line_of_name(
        self,
        history: ExamHistory,
        name: NameWithLines,
        chance: random.Random,
    ) -> str:
        """What a context gets of the newest line that holds a name."""
        newest_line = history.texts[name.lines[-1]]
        if self.form == "cue":
            rare_words = _rare(history, newest_line, name.text, self.words)
            return f"{name.text}: {' '.join(rare_words)}"
        if self.form == "fragment":
            return _around(newest_line, name.text, self.words)
        words = newest_line.split()
        chance.shuffle(words)
        return " ".join(words)

    def _ordered(
        self,
        history: ExamHistory,
        boundary: int,
        chance: random.Random,
    ) -> list[int]:
        past = history.before(boundary)
        names = np.flatnonzero(past.names).tolist()
        chance.shuffle(names)

        def newest_mention(name: int) -> int:
            lines = history.lines_with(name, past.newest)
            return int(past.newest[lines].max())

        if self.order == "newest":
            names.sort(key=lambda name: -newest_mention(name))
        elif self.order == "frequent":
            names.sort(key=lambda name: -len(history.rows_with_name(name)))
        return names


_TWO_ORDERS: tuple[Order, ...] = ("random", "newest")
_ALL_ORDERS: tuple[Order, ...] = ("random", "newest", "frequent")


def _family() -> Iterator[Gamer]:
    for names in (1, 4, 12):
        yield Gamer("list", names)
    for names in (2, 4, 8):
        for words in (4, 10):
            for order in _TWO_ORDERS:
                yield Gamer("soup", names, words, order)
    for names in (2, 4, 8):
        for order in _TWO_ORDERS:
            yield Gamer("sided", names, 10, order)
    for words in (2, 3, 6, 10):
        for order in _ALL_ORDERS:
            yield Gamer("cue", 1, words, order)
    for words in (2, 4):
        for order in _TWO_ORDERS:
            yield Gamer("fragment", 1, words, order)
    for order in _TWO_ORDERS:
        yield Gamer("shuffled", 1, 0, order)


FAMILY: tuple[Gamer, ...] = tuple(_family())
"""The settings that are tried."""


@dataclass(frozen=True, slots=True)
class Salad:
    """Lines of the history as their words alone, without the small ones: made to please a reader
    that looks at words.

    Attributes:
        speakers: whose lines: of the user and the agent, or of the tools as well.
        order: which lines come first; `rare` are those with the rarest words.
        words: in a line; longer lines are divided.
        shuffled: whether the words of a line are in a random order.
        once: whether a word is left out that an earlier line has.
    """

    speakers: Speakers = "all"
    order: LineOrder = "newest"
    words: int = 12
    shuffled: bool = True
    once: bool = False

    @property
    def form(self) -> str:
        """How tables call it; words in their order still tell something."""
        return "salad" if self.shuffled else "telegram"

    @property
    def label(self) -> str:
        """Its setting in words."""
        repeats = "each once" if self.once else "repeated"
        return f"{self.form} of {self.speakers}, {self.words} words, {repeats}, {self.order} first"

    def lines(self, history: ExamHistory, boundary: int) -> Iterator[str]:
        """The lines of its context, best first."""
        chance = random.Random(f"0 {self.label}")
        written_words: set[str] = set()
        for words in self._pieces(history, boundary, chance):
            if self.once:
                words = [word for word in words if word not in written_words]
            written_words.update(words)
            if self.shuffled:
                chance.shuffle(words)
            if words:
                yield " ".join(words)

    def _pieces(
        self,
        history: ExamHistory,
        boundary: int,
        chance: random.Random,
    ) -> Iterator[list[str]]:
        """The words of the lines, those of long lines in several pieces."""
        for line in self._ordered(history, boundary, chance):
            for start in range(0, len(line), self.words):
                yield line[start : start + self.words]

    def _ordered(
        self,
        history: ExamHistory,
        boundary: int,
        chance: random.Random,
    ) -> list[list[str]]:
        lines: list[list[str]] = []
        for message in history.messages[:boundary]:
            is_of_person = message.role in ("user", "assistant")
            if self.speakers == "all" or is_of_person:
                for line in said_text(message).splitlines():
                    lines.append(_saying_words(line))
        lines.reverse()

        def weight_a_word(words: list[str]) -> float:
            weight = sum(history.weight(word.lower()) for word in words)
            return weight / (len(words) + 1)

        if self.order == "random":
            chance.shuffle(lines)
        elif self.order == "rare":
            lines.sort(key=lambda line: -weight_a_word(line))
        return lines


def _saying_words(line: str) -> list[str]:
    """The words of a line that say something, as they are written."""
    return [word for word in line.split() if content_words(word)]


WORDS_OF_SALAD = 12
_SPEAKERS: tuple[Speakers, ...] = ("people", "all")
_LINE_ORDERS: tuple[LineOrder, ...] = ("newest", "random", "rare")


def _salads() -> Iterator[Salad]:
    for speakers in _SPEAKERS:
        for order in _LINE_ORDERS:
            for shuffled in (True, False):
                for once in (False, True):
                    yield Salad(speakers, order, WORDS_OF_SALAD, shuffled, once)


SALADS: tuple[Salad, ...] = tuple(_salads())
"""The salads that are tried."""


def _common(
    history: ExamHistory,
    group: Sequence[NameWithLines],
    limit: int,
) -> dict[str, int]:
    """The words that most lines of some names hold; of each how many lines more have it behind
    the name than before.
    """
    if not limit:
        return {}
    names = [name.text for name in group]
    counts = Counter[str]()
    places = Counter[str]()
    for name in group:
        for line in name.lines[-20:]:
            words = history.texts[line].split()
            name_place = _place_of(name.text, words)
            for word in dict.fromkeys(words):
                if len(word) <= 2 or not word.isalpha():
                    continue
                if word in names:
                    continue
                counts[word] += 1
                if name_place is None or words.index(word) > name_place:
                    places[word] += 1
                else:
                    places[word] -= 1
    return {word: places[word] for word, _ in counts.most_common(limit)}


def _place_of(text: str, words: Sequence[str]) -> int | None:
    """The place of the first word that holds a text; None if no word does."""
    for place, word in enumerate(words):
        if text in word:
            return place
    return None


def _rare(
    history: ExamHistory,
    line: str,
    name: str,
    limit: int,
) -> list[str]:
    """The rarest words of a line, in their order."""
    words: dict[str, None] = {}
    for word in line.split():
        if name not in word:
            plain_word = word.strip(".,:;()\"'`")
            words[plain_word] = None

    def commonness(word: str) -> float:
        return -history.weight(word.lower())

    by_rarity = sorted(words, key=commonness)
    rarest = by_rarity[:limit]
    return [word for word in words if word in rarest]


def _around(line: str, name: str, side: int) -> str:
    """The words of a line on both sides of a name."""
    words = line.split()
    first_word = name.split()[0].lower()
    small_words = [word.lower() for word in words]
    name_place = _place_of(first_word, small_words) or 0
    start = max(0, name_place - side)
    end = name_place + side + 1
    return " ".join(words[start:end])
