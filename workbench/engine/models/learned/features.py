"""What the learned models look at: counts, ages and origins of names and lines. Nothing here
knows the future.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np

from workbench.base.ragged import Floats, Ints, integers
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

LONGEST = 400
"""Characters of a line that may state a rule or open work; a longer one is a paste."""
MOST_TEXT = 600
"""Characters of a line that may be chosen."""
MOST_READ = 100_000
"""Characters that are read: the request, what was said and called, then results, newest first.
Reading takes time.
"""
_LABEL = re.compile(r"\[(user|said|command|argument|result|failed|thought)\]")


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
        chars = np.array(
            [sum(map(len, said_texts(message))) for message in messages], dtype=np.float64
        )
        worth = _worth_reading(messages, chars)
        lines_by_message = [
            _lines_of(message, reader) if is_worth_reading else ()
            for message, is_worth_reading in zip(messages, worth, strict=True)
        ]
        self.names = reader.extractor.names
        total_chars = max(float(chars.sum()), 1.0)
        self.since: Floats = (total_chars - np.cumsum(chars)) / total_chars
        message_indices = np.repeat(
            np.arange(len(lines_by_message)), [len(lines) for lines in lines_by_message]
        )
        all_lines = list(chain.from_iterable(lines_by_message))
        number = np.array([line.number for line in all_lines], dtype=np.int64)
        last_places = np.sort(len(number) - 1 - np.unique(number[::-1], return_index=True)[1])
        self._mention_at = np.repeat(message_indices, [len(line.entities) for line in all_lines])
        self._mention = integers(chain.from_iterable(line.entities for line in all_lines))
        self._mention_origin = np.repeat(
            integers(line.origin for line in all_lines), [len(line.entities) for line in all_lines]
        )
        self.lines = [all_lines[i] for i in last_places.tolist()]
        self.at: Ints = message_indices[last_places]
        self.origin = integers(line.origin for line in self.lines)
        self.length = np.array([len(line.text) for line in self.lines], dtype=np.float64)
        self.cost: Floats = self.length / 3.3 + 3.0
        self.sizes = integers(len(line.entities) for line in self.lines)
        self.pair_line: Ints = np.repeat(np.arange(len(self.lines)), self.sizes)
        self.pair_name = integers(chain.from_iterable(line.entities for line in self.lines))

    @cached_property
    def known(self) -> Ints:
        """The numbers of the names that the history holds."""
        name_numbers: Ints = np.unique(self._mention)
        return name_numbers

    @cached_property
    def needed(self) -> Floats:
        """(names, features) of `known`."""
        n = len(self.names)
        of_message = np.unique(
            np.stack([self._mention, self._mention_at, self._mention_origin]), axis=1
        )
        name, message_index, origin = (
            of_message if self._mention.size else np.zeros((3, 0), dtype=np.int64)
        )
        newest = np.full(n, -1)
        np.maximum.at(newest, name, message_index)
        times_said = np.bincount(name[origin <= LAST_SPOKEN], minlength=n)[self.known]
        by_user = np.bincount(name[origin == LineOrigin.USER], minlength=n)[self.known] > 0
        since = self.since[newest[self.known]]
        return np.column_stack([np.log1p(times_said), times_said == 0, by_user, since]).astype(
            np.float64
        )

    @cached_property
    def tells(self) -> Floats:
        """(pairs, features) of each line with each exact name in it."""
        line, name = self.pair_line, self.pair_name
        newest = np.full(len(self.names), -1)
        np.maximum.at(newest, name, self.at[line])
        words = np.array([table_line.words for table_line in self.lines], dtype=np.float64)
        columns = [
            self.at[line] >= newest[name],
            1 - np.exp(-0.4 * words[line]),
            np.log(np.maximum(self.sizes[line], 1)),
            np.log1p(self.length[line]),
        ]
        return np.column_stack(columns).astype(np.float64)

    @cached_property
    def _tasks(self) -> dict[str, bool]:
        """For each task of a list in a call whether the newest list says that it is done."""
        calls = (
            call
            for message in self.messages
            if isinstance(message, AssistantMessage)
            for call in message.calls
        )
        return {text: is_done for call in calls for text, is_done in tasks(call.arguments)}

    @cached_property
    def stating(self) -> Ints:
        """The lines that may state a rule or open work."""
        is_spoken = (self.origin == LineOrigin.USER) | (self.origin == LineOrigin.SAID)
        spoken_lines = np.flatnonzero(
            is_spoken & (self.length <= LONGEST) & (self.length >= 12)
        ).tolist()
        argument_lines = (
            np.flatnonzero(self.origin == LineOrigin.ARGUMENT).tolist() if self._tasks else []
        )
        return integers(
            [*spoken_lines, *(i for i in argument_lines if self.lines[i].text in self._tasks)]
        )

    @cached_property
    def states(self) -> Floats:
        """(stating, features) of the lines of `stating`."""
        task_states = self._tasks
        texts = [self.lines[i].text for i in self.stating.tolist()]
        flags = [
            (
                is_demand(text),
                is_pending(text),
                is_decision(text),
                text.rstrip().endswith("?"),
                task_states.get(text) is False,
                task_states.get(text) is True,
            )
            for text in texts
        ]
        since = self.since[self.at[self.stating]]
        words = np.array([self.lines[i].words for i in self.stating.tolist()], dtype=np.float64)
        parts = np.array(flags, dtype=np.float64).reshape(-1, 6)
        by_user = self.origin[self.stating] == LineOrigin.USER
        return np.column_stack([parts, since, since < 0.1, np.log1p(words), by_user]).astype(
            np.float64
        )

    def names_by_text(self) -> dict[str, list[int]]:
        """The places in `known` of each name, in lower case."""
        places_by_text: dict[str, list[int]] = {}
        for place, number in enumerate(self.known.tolist()):
            entity: Entity = self.names[number]
            places_by_text.setdefault(entity.text.lower(), []).append(place)
        return places_by_text


def _worth_reading(messages: Sequence[Message], chars: Floats) -> list[bool]:
    """Which messages are read: all, where they are short enough together; the request and
    earlier summaries first.
    """
    is_read, chars_left = [False] * len(messages), MOST_READ
    request = next((i for i, message in enumerate(messages) if is_real_user(message)), -1)
    later = [
        i != request and not isinstance(message, Summary) for i, message in enumerate(messages)
    ]
    results = [isinstance(message, ToolResult) for message in messages]
    for i in sorted(range(len(messages)), key=lambda i: (later[i], results[i], -i)):
        if chars[i] <= chars_left:
            is_read[i] = True
            chars_left -= chars[i]
    return is_read


def _lines_of(message: Message, reader: LineReader) -> Sequence[Line]:
    """The lines of a message; those of an earlier summary of chosen lines with the origins that
    it names.
    """
    if not isinstance(message, Summary):
        return [line for line in reader.read([message])[0].lines if len(line.text) <= MOST_TEXT]
    return list(_earlier(message.text, reader))


def _earlier(text: str, reader: LineReader) -> Iterator[Line]:
    origin = LineOrigin.SAID
    for row in text.splitlines():
        if label := _LABEL.fullmatch(row.strip()):
            origin = LineOrigin[label[1].upper()]
        else:
            yield from (reader.line(line.number, origin) for line in reader.earlier(row))
