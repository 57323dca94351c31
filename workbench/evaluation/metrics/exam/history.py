"""A session as its exams see it: its lines, which messages say them, and the names in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, integers, ranges
from workbench.engine.extraction.entities import KINDS, Entity
from workbench.engine.transcript.message import Message, ToolCall, ToolResult
from workbench.evaluation.metrics.exam.line_features import FeaturesOfLine
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.names import Names
from workbench.evaluation.metrics.exam.texts_by_form import FORMS, texts_by_form
from workbench.evaluation.metrics.exam.tokens import lines_of
from workbench.evaluation.metrics.exam.vocabulary import Numbers, Vocabulary
from workbench.evaluation.metrics.indexes.arrays import columns_of
from workbench.evaluation.metrics.indexes.inverted_index import incidence, pairs_of
from workbench.evaluation.metrics.sources import first_fetched
from workbench.evaluation.metrics.view import View

REMEMBERED = 8
"""Contexts that are not read again: several metrics look at each of a replay's examined ones in
turn.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """What a history holds: (lines,) the last message that says each, -1 for none; (names,)
    whether it has each.
    """

    newest: Ints
    names: Flags

    @property
    def lines(self) -> Flags:
        """(lines,) whether the history has each."""
        is_said: Flags = self.newest >= 0
        return is_said


class NewText(NamedTuple):
    """What the texts that are new in a context say.

    Attributes:
        all: their lines, in order.
        unknown: those that the session does not have, each once; `lines` has their words.
    """

    all: list[str]
    unknown: list[str]
    lines: Lines


class ExamHistory:
    """The lines of one session, each once. Thoughts are left out, and arguments that are numbers.

    Attributes:
        texts: the lines; `number` gives each one's place.
        lines: their words.
        first: (lines,) the first message that says each.
        fetched: (messages,) the first message that called for the content of each, see
            `first_fetched`.
        place_line, place_message, place_form: (places,) each occurrence of a line, in order;
            `FORMS` numbers the forms.
        names: entities, and what else may be an answer; `name_number` gives the place of each, in
            lower case.
        kind: (names,) the place of each one's kind in `KINDS`.
        name, name_row, name_line: (occurrences,) where names begin, as rows of the lines' segments,
            line by line.
        features: (lines, features) 1 where a line has one; `idf` says how rare each is.
    """

    def __init__(self, messages: Sequence[Message], names: Iterable[Entity]) -> None:
        self.messages = tuple(messages)
        self.vocabulary = Vocabulary()
        self.number = Numbers()
        self._set_names(names)
        self._set_places()
        self.texts = list(self.number)
        self.lines = Lines(self.texts, self.vocabulary)
        self.first = self._first_messages()
        first_calls = first_fetched(self.messages)
        self.fetched: Ints = integers(first_calls)
        self._find_names()
        self._set_features()
        self._remembered = lru_cache(REMEMBERED)(self._new_text)
        self.words_of = lru_cache(REMEMBERED)(self._words_of)
        """The words and the features of one line."""

    def _first_messages(self) -> Ints:
        line_count = len(self.texts)
        message_count = len(self.messages)
        first: Ints = np.full(line_count, message_count)
        # backwards: the first one stays
        last_lines_first = self.place_line[::-1]
        first[last_lines_first] = self.place_message[::-1]
        return first

    def _set_names(self, names: Iterable[Entity]) -> None:
        by_text: dict[str, Entity] = {}
        for name in names:
            text = name.text.lower()
            by_text[text] = name
        self.names = tuple(by_text.values())
        self.name_number: dict[str, int] = {}
        for number, text in enumerate(by_text):
            self.name_number[text] = number
        kinds: list[int] = []
        for name in self.names:
            kind = KINDS.index(name.kind)
            kinds.append(kind)
        self.kind: Ints = integers(kinds)

    def _set_places(self) -> None:
        """Number the lines, and note each occurrence of one."""
        places: list[tuple[int, int, int]] = []
        for index, message in enumerate(self.messages):
            for form, text in texts_by_form(message):
                form_number = FORMS.index(form)
                is_prose = form == "prose"
                for line in lines_of(text, headed=is_prose):
                    line_number = self.number[line]
                    place = (line_number, index, form_number)
                    places.append(place)
        columns = columns_of(places, 3)
        self.place_line, self.place_message, self.place_form = columns

    def _find_names(self) -> None:
        texts = [name.text for name in self.names]
        names = Names(texts, self.vocabulary)
        name, row = names.found(self.lines)
        line = self.lines.segment_line[row]
        by_line = np.argsort(line, kind="stable")
        self.name = name[by_line]
        self.name_row = row[by_line]
        self.name_line = line[by_line]
        self.length = names.length
        line_count = len(self.texts)
        line_bounds = np.arange(line_count + 1)
        self._of_line = np.searchsorted(self.name_line, line_bounds)
        by_name = np.argsort(self.name, kind="stable")
        self._by_name = self.name_row[by_name]
        sorted_names = self.name[by_name]
        name_count = len(self.names)
        name_bounds = np.arange(name_count + 1)
        self._of_name = np.searchsorted(sorted_names, name_bounds)

    def _set_features(self) -> None:
        """Note which line has which feature, and how rare each one is."""
        message_count = len(self.messages)
        line_count = len(self.texts)
        feature_count = len(self.vocabulary.features)
        self.features = incidence(
            self.lines.feature_line,
            self.lines.feature,
            (line_count, feature_count),
        )
        self._lines_with = self.features.T.tocsr()
        message_lines = incidence(
            self.place_message,
            self.place_line,
            (message_count, line_count),
        )
        message_features = message_lines @ self.features
        messages_with = np.bincount(
            message_features.indices,
            minlength=feature_count,
        )
        rarity = (message_count + 1) / (1 + messages_with)
        self.idf: Floats = np.log(rarity) + 0.1

    @cached_property
    def tool_words(self) -> frozenset[str]:
        """The names of the tools that were called and of their arguments, in lower case."""
        words: set[str] = set()
        for message in self.messages:
            for block in message.blocks:
                if not isinstance(block, ToolCall):
                    continue
                words.add(block.name.lower())
                for argument in block.arguments:
                    words.add(argument.lower())
        return frozenset(words)

    def is_value(self, text: str) -> bool:
        """Whether a word is a name that the session uses, or has a digit: no word of prose."""
        if text.lower() in self.name_number:
            return True
        return any(map(str.isdigit, text))

    def weight(self, feature: str) -> float:
        """How rare a feature is: log((n + 1) / (1 + messages that hold it)) + 0.1."""
        feature_count = len(self.idf)
        number = self.vocabulary.features.get(feature, feature_count)
        if number < feature_count:
            weight = self.idf[number]
            return float(weight)
        rarity = len(self.messages) + 1
        log_rarity = float(np.log(rarity))
        return log_rarity + 0.1

    def sums(self, weights: Mapping[str, float]) -> Floats:
        """(lines,) the sum of some features' weights in each line."""
        features = self.vocabulary.features
        feature_count = len(self.idf)
        numbers: list[int] = []
        number_weights: list[float] = []
        for name, weight in weights.items():
            number = features.get(name, feature_count)
            if number < feature_count:  # the others came with later texts
                numbers.append(number)
                number_weights.append(weight)
        part, line = pairs_of(self._lines_with, integers(numbers))
        weight_of_part = np.array(number_weights, dtype=np.float64)
        line_weights = weight_of_part[part]
        line_count = len(self.texts)
        sums = np.bincount(line, line_weights, minlength=line_count)
        return np.asarray(sums, dtype=np.float64)

    def names_in(self, lines: Ints) -> tuple[Ints, Ints]:
        """Each place of some lines with each name in it."""
        start = self._of_line[lines]
        end = self._of_line[lines + 1]
        row, occurrence = ranges(start, end - start)
        return row, self.name[occurrence]

    def rows_with_name(self, name: int) -> Ints:
        """The rows of the lines' segments at which a name begins."""
        start = self._of_name[name]
        end = self._of_name[name + 1]
        return self._by_name[start:end]

    def lines_with(self, name: int, newest: Ints) -> Ints:
        """The lines that hold a name, of those with a newest message, by that message."""
        rows = self.rows_with_name(name)
        lines_of_rows = self.lines.segment_line[rows]
        lines = np.unique(lines_of_rows)
        is_past = newest[lines] >= 0
        past: Ints = lines[is_past]
        newest_of_past = newest[past]
        by_message = np.argsort(newest_of_past, kind="stable")
        return past[by_message]

    def before(self, boundary: int) -> Past:
        """What the history before a boundary holds."""
        message_count = len(self.messages)
        is_past = np.arange(message_count) < boundary
        newest = self.newest(is_past)
        is_line_past = newest >= 0
        is_name_past = is_line_past[self.name_line]
        past_names = self.name[is_name_past]
        name_count = len(self.names)
        names: Flags = np.zeros(name_count, dtype=bool)
        names[past_names] = True
        return Past(newest, names)

    def newest_in(self, messages: Iterable[int]) -> Ints:
        """(lines,) the last of some messages that says each line; -1 for none."""
        message_count = len(self.messages)
        is_chosen: Flags = np.zeros(message_count, dtype=bool)
        indices = list(messages)
        is_chosen[indices] = True
        return self.newest(is_chosen)

    def placed(self, order: Ints, place: Mapping[str, int]) -> Ints:
        """(lines,) the later one of two places for each line; those of `place` that the session
        lacks are left out.
        """
        places_by_number: dict[int, int] = {}
        for line, line_place in place.items():
            if line in self.number:
                number = self.number[line]
                places_by_number[number] = line_place
        numbers = list(places_by_number)
        places = list(places_by_number.values())
        order[numbers] = np.maximum(order[numbers], places)
        return order

    def new_lines(self, texts: Sequence[str], from_message: Sequence[int | None] = ()) -> list[str]:
        """The lines of texts that are new in a context, in order; the origins as in `View`."""
        origins = from_message
        if not origins:
            origins = (None,) * len(texts)
        lines: list[str] = []
        for text, origin in zip(texts, origins, strict=False):
            lines += self._lines(text, origin)
        return lines

    def new_text(self, context: View) -> NewText:
        """What the new texts of a context say; they are not read again while they stay the same."""
        return self._remembered(context.texts, context.from_message)

    def _lines(self, text: str, origin: int | None) -> Iterator[str]:
        if origin is None:
            return lines_of(text, headed=True)
        is_result = isinstance(self.messages[origin], ToolResult)
        return lines_of(text, headed=not is_result)

    def _new_text(self, texts: Sequence[str], from_message: Sequence[int | None]) -> NewText:
        lines = self.new_lines(texts, from_message)
        distinct_lines = dict.fromkeys(lines)
        unknown = [line for line in distinct_lines if line not in self.number]
        words = Lines(unknown, self.vocabulary)
        return NewText(lines, unknown, words)

    def _words_of(self, line: str) -> tuple[Lines, FeaturesOfLine]:
        words = Lines([line], self.vocabulary)
        return words, FeaturesOfLine.of(words, self.vocabulary)

    def held(self, context: View) -> Flags:
        """(lines,) whether a context holds each."""
        is_held: Flags = self.newest_in(context.kept) >= 0
        new_lines = self.new_text(context).all
        for line in new_lines:
            if line in self.number:
                number = self.number[line]
                is_held[number] = True
        return is_held

    def newest(self, messages: Flags) -> Ints:
        """(lines,) the last message that says each line, of those with a flag; -1 for none."""
        line_count = len(self.texts)
        newest: Ints = np.full(line_count, -1)
        is_counted = messages[self.place_message]
        lines = self.place_line[is_counted]
        # in order: the last one stays
        newest[lines] = self.place_message[is_counted]
        return newest
