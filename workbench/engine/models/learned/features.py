"""What the learned models look at: counts, ages and origins of names and lines. Nothing here
knows the future.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, integers
from workbench.engine.extraction.entities import Entity
from workbench.engine.extraction.statements import is_decision, is_pending, tasks
from workbench.engine.models.extractive.outline import is_demand
from workbench.engine.models.extractive.reading import LAST_SPOKEN, Line, LineOrigin, LineReader
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    ToolResult,
    is_real_user,
    said_texts,
)

Part: TypeAlias = Literal["needed", "tells", "states"]
PARTS: tuple[Part, ...] = get_args(Part)
FEATURES: Mapping[Part, tuple[str, ...]] = MappingProxyType({
    "needed": ("said", "never said", "by the user", "text since"),
    "tells": ("newest", "other words", "other names", "length"),
    "states": ("demands", "pending", "decides", "question", "open task", "done task", "text since", "just now", "words",
               "by the user"),
})  # fmt: skip
"""The features of each model, in order."""
SIGNS: Mapping[Part, Mapping[str, int]] = MappingProxyType({
    "needed": {"said": 1, "never said": -1, "by the user": 1, "text since": -1},
    "tells": {"newest": 1, "other words": 1},
    "states": {"pending": 1, "open task": 1, "done task": -1},
})  # fmt: skip
"""Features whose weight may not change sign: more of it never lowers (1) or never raises (-1)
the probability.
"""

SHORTEST, LONGEST = 12, 400
"""Characters of a line that may state a rule or open work; a longer one is a paste."""
MOST_TEXT = 600
"""Characters of a line that may be chosen."""
MOST_READ = 100_000
"""Characters that are read: the request, what was said and called, then results, newest first.
Reading takes time.
"""
_LABEL = re.compile(r"\[(user|said|command|argument|result|failed|thought)\]")


@dataclass(frozen=True, slots=True, eq=False)
class _Mentions:
    """Each mention of a name in the lines of a history.

    Attributes:
        names: (mentions,) the number of each one's name.
        message_indices: (mentions,) the index of its message.
        origins: (mentions,) the origin of its line.
    """

    names: Ints
    message_indices: Ints
    origins: Ints

    def distinct(self) -> _Mentions:
        """Without those that say the same."""
        if not self.names.size:
            return self
        table = np.stack([self.names, self.message_indices, self.origins])
        names, message_indices, origins = np.unique(table, axis=1)
        return _Mentions(names, message_indices, origins)


class LineTable:
    """The lines of a history, each once where it was said last, with their features.

    Args:
        messages: n messages of a context, oldest first.
        reader: reads them; its lock is held.

    Attributes:
        lines: by place.
        at: (lines,) the index of each one's message.
        cost: (lines,) about how many tokens each takes.
        pair_line, pair_name: (pairs,) each line with each exact name in it.
    """

    def __init__(self, messages: Sequence[Message], reader: LineReader) -> None:
        self.messages = messages
        chars = _floats(sum(map(len, said_texts(message))) for message in messages)
        total_chars = max(float(chars.sum()), 1.0)
        chars_so_far = np.cumsum(chars)
        self.since: Floats = (total_chars - chars_so_far) / total_chars
        self._read(reader, _worth_reading(messages, chars))
        self.names = reader.extractor.names
        self.origin = integers(line.origin for line in self.lines)
        self.length = _floats(len(line.text) for line in self.lines)
        self.cost: Floats = self.length / 3.3 + 3.0
        self.sizes = integers(len(line.entities) for line in self.lines)
        line_places = np.arange(len(self.lines))
        self.pair_line: Ints = np.repeat(line_places, self.sizes)
        self.pair_name = _entities_of(self.lines)

    def _read(self, reader: LineReader, is_worth_reading: Sequence[bool]) -> None:
        """Read the lines and, for each mention of a name in them, its message and origin; then
        leave each line only where it was said last.
        """
        all_lines: list[Line] = []
        indices: list[int] = []
        for index, message in enumerate(self.messages):
            if is_worth_reading[index]:
                lines = _lines_of(message, reader)
                all_lines += lines
                indices += [index] * len(lines)
        message_indices = integers(indices)
        origins = integers(line.origin for line in all_lines)
        name_counts = integers(len(line.entities) for line in all_lines)
        self._mentions = _Mentions(
            names=_entities_of(all_lines),
            message_indices=np.repeat(message_indices, name_counts),
            origins=np.repeat(origins, name_counts),
        )
        numbers = integers(line.number for line in all_lines)
        backwards = numbers[::-1]
        _, places_from_end = np.unique(backwards, return_index=True)
        last_places = len(numbers) - 1 - places_from_end
        last_places.sort()
        self.lines: list[Line] = []
        for place in last_places.tolist():
            self.lines.append(all_lines[place])
        self.at: Ints = message_indices[last_places]

    @cached_property
    def history_names(self) -> Ints:
        """The numbers of the names that the history holds."""
        name_numbers: Ints = np.unique(self._mentions.names)
        return name_numbers

    @cached_property
    def needed(self) -> Floats:
        """(names, features) of `history_names`."""
        name_count = len(self.names)
        mentions = self._mentions.distinct()
        newest = np.full(name_count, -1)
        np.maximum.at(newest, mentions.names, mentions.message_indices)
        is_spoken = mentions.origins <= LAST_SPOKEN
        is_users = mentions.origins == LineOrigin.USER
        spoken_names = mentions.names[is_spoken]
        users_names = mentions.names[is_users]
        times_said = np.bincount(spoken_names, minlength=name_count)
        times_by_user = np.bincount(users_names, minlength=name_count)
        stated_times = times_said[self.history_names]
        user_times = times_by_user[self.history_names]
        newest_mentions = newest[self.history_names]
        return _table(
            np.log1p(stated_times),
            stated_times == 0,
            user_times > 0,
            self.since[newest_mentions],
        )

    @cached_property
    def tells(self) -> Floats:
        """(pairs, features) of each line with each exact name in it."""
        line = self.pair_line
        name = self.pair_name
        message_index = self.at[line]
        newest = np.full(len(self.names), -1)
        np.maximum.at(newest, name, message_index)
        word_counts = _floats(table_line.words for table_line in self.lines)
        words_of_pair = word_counts[line]
        name_counts = np.maximum(self.sizes[line], 1)
        return _table(
            message_index >= newest[name],
            1 - np.exp(-0.4 * words_of_pair),
            np.log(name_counts),
            np.log1p(self.length[line]),
        )

    @cached_property
    def _tasks(self) -> dict[str, bool]:
        """For each task of a list in a call whether the newest list says that it is done."""
        is_done: dict[str, bool] = {}
        for message in self.messages:
            if not isinstance(message, AssistantMessage):
                continue
            for call in message.calls:
                is_done.update(tasks(call.arguments))
        return is_done

    @cached_property
    def stating(self) -> Ints:
        """The lines that may state a rule or open work."""
        is_users = self.origin == LineOrigin.USER
        is_agents = self.origin == LineOrigin.SAID
        is_long_enough = self.length >= SHORTEST
        is_short_enough = self.length <= LONGEST
        is_sentence = is_long_enough & is_short_enough
        is_statement = (is_users | is_agents) & is_sentence
        places: list[int] = np.flatnonzero(is_statement).tolist()
        if not self._tasks:
            return integers(places)
        is_argument = self.origin == LineOrigin.ARGUMENT
        for place in np.flatnonzero(is_argument).tolist():
            text = self.lines[place].text
            if text in self._tasks:
                places.append(place)
        return integers(places)

    @cached_property
    def states(self) -> Floats:
        """(stating, features) of the lines of `stating`."""
        flags: list[Sequence[bool]] = []
        words: list[int] = []
        for place in self.stating.tolist():
            line = self.lines[place]
            flags.append(self._statement_flags(line.text))
            words.append(line.words)
        flag_table = np.array(flags, dtype=np.float64)
        message_indices = self.at[self.stating]
        origins = self.origin[self.stating]
        since = self.since[message_indices]
        return _table(
            flag_table.reshape(-1, 6),
            since,
            since < 0.1,
            np.log1p(_floats(words)),
            origins == LineOrigin.USER,
        )

    def _statement_flags(self, text: str) -> Sequence[bool]:
        """What kind of statement a line is: the first six features of `states`."""
        is_done = self._tasks.get(text)
        return (
            is_demand(text),
            is_pending(text),
            is_decision(text),
            text.rstrip().endswith("?"),
            is_done is False,
            is_done is True,
        )

    def names_by_text(self) -> dict[str, list[int]]:
        """The places in `history_names` of each name, in lower case."""
        places_by_text: defaultdict[str, list[int]] = defaultdict(list)
        for place, number in enumerate(self.history_names.tolist()):
            entity: Entity = self.names[number]
            text = entity.text.lower()
            places_by_text[text].append(place)
        return dict(places_by_text)


def _worth_reading(messages: Sequence[Message], chars: Floats) -> list[bool]:
    """Which messages are read: all, where they are short enough together; the request and
    earlier summaries first.
    """
    request_index = _request_index(messages)

    def order(index: int) -> tuple[bool, bool, int]:
        message = messages[index]
        is_request = index == request_index
        is_summary = isinstance(message, Summary)
        is_result = isinstance(message, ToolResult)
        comes_later = not (is_request or is_summary)
        return comes_later, is_result, -index

    is_read = [False] * len(messages)
    chars_left = MOST_READ
    indices = range(len(messages))
    for index in sorted(indices, key=order):
        if chars[index] <= chars_left:
            is_read[index] = True
            chars_left -= chars[index]
    return is_read


def _request_index(messages: Sequence[Message]) -> int | None:
    """The index of the first message that a person wrote, or None."""
    for index, message in enumerate(messages):
        if is_real_user(message):
            return index
    return None


def _entities_of(lines: Sequence[Line]) -> Ints:
    """The numbers of the entities of lines, line after line."""
    entities_of_lines = (line.entities for line in lines)
    return integers(chain.from_iterable(entities_of_lines))


def _table(*columns: Floats | Ints | Flags) -> Floats:
    """A table of features, a column each."""
    table = np.column_stack(columns)
    return table.astype(np.float64)


def _floats(numbers: Iterable[float]) -> Floats:
    return np.fromiter(numbers, np.float64)


def _lines_of(message: Message, reader: LineReader) -> Sequence[Line]:
    """The lines of a message; those of an earlier summary with the origins that it names."""
    if isinstance(message, Summary):
        return list(_lines_of_summary(message.text, reader))
    (read_message,) = reader.read([message])
    return [line for line in read_message.lines if len(line.text) <= MOST_TEXT]


def _lines_of_summary(text: str, reader: LineReader) -> Iterator[Line]:
    origin = LineOrigin.SAID
    for row in text.splitlines():
        label = _LABEL.fullmatch(row.strip())
        if label:
            origin = LineOrigin[label[1].upper()]
            continue
        for line in reader.earlier(row):
            yield reader.line(line.number, origin)
