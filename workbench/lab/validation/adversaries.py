"""Contexts made to please a measure, which tell a reader little: a family of them, tried over
its knobs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.engine.compaction.presets import preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.transcript.message import said_text
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.reference_contexts import Oracle
from workbench.evaluation.metrics.view import View, view
from workbench.evaluation.metrics.work_exam.word_cover import content_words
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.budgets import budget
from workbench.evaluation.replays.matched import matched
from workbench.lab.validation.gaming import count_line, filled, with_many_entities

Form: TypeAlias = Literal["list", "soup", "sided", "cue", "fragment", "shuffled"]
Order: TypeAlias = Literal["random", "newest", "frequent"]
Speakers: TypeAlias = Literal["people", "all"]
LineOrder: TypeAlias = Literal["newest", "random", "rare"]

STRATEGIES = ("none", "null", "truncate", "summarize")
SHARES = (0.1, 0.2)
BOUNDARIES = (0.5, 0.8)
MEASURES = ("exam", "presence")
FEWEST = 5
"""Items that a boundary needs."""


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
            group = names[start : start + self.names]
            texts = [history.names[name].text for name in group]
            lines = [history.lines_with(name, newest).tolist() for name in group]
            if self.form in ("list", "soup", "sided"):
                yield self._names_with_words(history, texts, lines)
            else:
                newest_line = lines[0][-1]
                yield self._line_of_name(history, texts[0], newest_line, chance)

    def _names_with_words(
        self, history: ExamHistory, texts: Sequence[str], lines: Sequence[Sequence[int]]
    ) -> str:
        """A line of names, with words that are common near them behind or, if `sided`, around."""
        common = _common(history, lines, texts, self.words)
        words_before, words_behind = [], []
        for word, place in common.items():
            if place < 0 and self.form == "sided":
                words_before.append(word)
            else:
                words_behind.append(word)
        return " ".join([*words_before, *texts, *words_behind])

    def _line_of_name(
        self, history: ExamHistory, text: str, line: int, chance: random.Random
    ) -> str:
        """What a context gets of the newest line that holds a name."""
        if self.form == "cue":
            rare_words = " ".join(_rare(history, line, text, self.words))
            return f"{text}: {rare_words}"
        if self.form == "fragment":
            return _around(history.texts[line], text, self.words)
        words = history.texts[line].split()
        chance.shuffle(words)
        return " ".join(words)

    def _ordered(self, history: ExamHistory, boundary: int, chance: random.Random) -> list[int]:
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


def _family() -> Iterator[Gamer]:
    for names in (1, 4, 12):
        yield Gamer("list", names)
    for names in (2, 4, 8):
        for words in (4, 10):
            yield Gamer("soup", names, words, "random")
            yield Gamer("soup", names, words, "newest")
    for names in (2, 4, 8):
        yield Gamer("sided", names, 10, "random")
        yield Gamer("sided", names, 10, "newest")
    for words in (2, 3, 6, 10):
        yield Gamer("cue", 1, words, "random")
        yield Gamer("cue", 1, words, "newest")
        yield Gamer("cue", 1, words, "frequent")
    for words in (2, 4):
        yield Gamer("fragment", 1, words, "random")
        yield Gamer("fragment", 1, words, "newest")
    yield Gamer("shuffled", 1, 0, "random")
    yield Gamer("shuffled", 1, 0, "newest")


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
        for line in self._ordered(history, boundary, chance):
            for start in range(0, len(line), self.words):
                line_words = line[start : start + self.words]
                if self.once:
                    line_words = [word for word in line_words if word not in written_words]
                written_words.update(line_words)
                if self.shuffled:
                    chance.shuffle(line_words)
                if line_words:
                    yield " ".join(line_words)

    def _ordered(
        self, history: ExamHistory, boundary: int, chance: random.Random
    ) -> list[list[str]]:
        lines: list[list[str]] = []
        for message in history.messages[:boundary]:
            if self.speakers == "all" or message.role in ("user", "assistant"):
                lines += [_saying_words(line) for line in said_text(message).splitlines()]
        lines.reverse()

        def weight_a_word(line: list[str]) -> float:
            return sum(history.weight(word.lower()) for word in line) / (len(line) + 1)

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
SALADS: tuple[Salad, ...] = tuple(
    Salad(speakers, order, WORDS_OF_SALAD, shuffled, once)
    for speakers in _SPEAKERS
    for order in _LINE_ORDERS
    for shuffled in (True, False)
    for once in (False, True)
)
"""The salads that are tried."""


def _common(
    history: ExamHistory, near: Sequence[Sequence[int]], texts: Sequence[str], limit: int
) -> dict[str, int]:
    """The words that most lines of some names hold; of each how many lines more have it behind
    the name than before.
    """
    if not limit:
        return {}
    counts = Counter[str]()
    places = Counter[str]()
    for text, lines in zip(texts, near, strict=True):
        for line in lines[-20:]:
            words = history.texts[line].split()
            name_place = next((place for place, word in enumerate(words) if text in word), -1)
            for word in dict.fromkeys(words):
                if not word.isalpha() or len(word) <= 2 or word in texts:
                    continue
                counts[word] += 1
                is_behind = words.index(word) > name_place
                places[word] += 1 if is_behind else -1
    return {word: places[word] for word, _ in counts.most_common(limit)}


def _rare(history: ExamHistory, line: int, text: str, limit: int) -> list[str]:
    """The rarest words of a line, in their order."""
    other_words = [word for word in history.texts[line].split() if text not in word]
    words = list(dict.fromkeys(word.strip(".,:;()\"'`") for word in other_words))
    rarest = sorted(words, key=lambda word: -history.weight(word.lower()))[:limit]
    return [word for word in words if word in rarest]


def _around(line: str, text: str, side: int) -> str:
    """The words of a line on both sides of a name."""
    words = line.split()
    start = text.split()[0].lower()
    name_place = next((place for place, word in enumerate(words) if start in word.lower()), 0)
    return " ".join(words[max(0, name_place - side) : name_place + side + 1])


def scored(
    sessions: Sequence[Prepared],
    family: Sequence[Gamer] = FAMILY,
    strategies: Sequence[str] = STRATEGIES,
) -> pd.DataFrame:
    """What each gamer, the reference `oracle` and some strategies score at equal size in each
    session.

    Sessions with few exact things are left out, where there are others. A row a session, share and
    context kind: `session project share name`, and the means over boundaries of `MEASURES`.
    """
    rows: list[tuple[str | float | None, ...]] = []
    for prepared_session in with_many_entities(sessions):
        rows += _scores(prepared_session, family, strategies)
    table = pd.DataFrame(rows, columns=["session", "project", "share", "name", *MEASURES])
    table = table.astype(dict.fromkeys(MEASURES, "float"))
    by = table.groupby(["session", "project", "share", "name"], sort=False)
    return by[list(MEASURES)].mean().reset_index()


def _scores(
    prepared_session: Prepared, family: Sequence[Gamer], strategies: Sequence[str]
) -> Iterator[tuple[str | float | None, ...]]:
    session = prepared_session.session
    exams = Exams.of(prepared_session.index)
    place = (session.id, session.project or session.id)
    boundaries = []
    for boundary in at_shares(session, BOUNDARIES):
        if len(exams.at(boundary).items) >= FEWEST:
            boundaries.append(boundary)
    if not boundaries:
        return
    for name in strategies:
        replay = matched(
            session,
            preset(name),
            prepared_session.reader(Extractive()),
            prepared_session.sizing,
            window=prepared_session.window,
            at=tuple(boundaries),
            shares=SHARES,
        )
        for shot in replay.snapshots:
            values = _values(prepared_session, shot.at, view(session, shot.context))
            yield (*place, shot.share or 1.0, name, *values)
    for boundary in boundaries:
        for share, name, context_view in _made_contexts(prepared_session, boundary, family):
            yield (*place, share, name, *_values(prepared_session, boundary, context_view))


def _made_contexts(
    prepared_session: Prepared, boundary: int, family: Sequence[Gamer]
) -> Iterator[tuple[float, str, View]]:
    """The contexts of the gamers and of the oracle at one boundary: share, name and context."""
    session, sizing = prepared_session.session, prepared_session.sizing
    exams = Exams.of(prepared_session.index)
    budgets = [int(share * sum(sizing.sizes[:boundary])) for share in SHARES]
    count = partial(count_line, prepared_session)
    gamer_by_label = {gamer.label: gamer for gamer in family}
    for label, gamer in gamer_by_label.items():
        texts = filled(gamer.lines(exams.history, boundary), count, budgets)
        for share, text in zip(SHARES, texts, strict=True):
            yield share, label, View(frozenset(), (text,), ())
    history = sizing.history(session.messages, boundary)
    oracle = Oracle(history, exams.at(boundary))
    for share in SHARES:
        yield share, "oracle", view(session, oracle.context(budget(history, share)))


def _values(prepared_session: Prepared, boundary: int, context_view: View) -> tuple[float, float]:
    """The values of `MEASURES` for one context."""
    presence = 0.0
    demand = prepared_session.index.demand(boundary)
    if len(demand):
        presence = demand.retained(context_view.kept, context_view.texts).mean("presence")
    return Exams.of(prepared_session.index).at(boundary).score(context_view), presence
