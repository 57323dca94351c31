"""What the learned models look at: counts, ages and origins of names and lines. Nothing here knows the future."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np

from workbench.extraction.entities import LEXICAL, Entity
from workbench.extraction.statements import is_decision, is_pending, tasks
from workbench.models.extractive.outline import is_demand
from workbench.models.extractive.reading import LAST_SPOKEN, Line, LineOrigin, LineReader
from workbench.ragged import Flags, Floats, Ints
from workbench.transcript.message import AssistantMessage, Message, Summary

Part: TypeAlias = Literal["needed", "tells", "states"]
PARTS: tuple[Part, ...] = get_args(Part)
ORIGINS = tuple(origin.name.lower() for origin in LineOrigin if origin != LineOrigin.EARLIER)
_COLUMN = np.array([ORIGINS.index(o.name.lower()) if o != LineOrigin.EARLIER else 1 for o in LineOrigin])
FEATURES: Mapping[Part, tuple[str, ...]] = MappingProxyType({
    "needed": ("said", "heard", "messages since", "text since", "text since first", "lines", "by the user", "acted on",
               "in a failure", "length", *(f"is {kind}" for kind in LEXICAL)),
    "tells": ("lines of the name", "newest", "oldest", "other words", "other names", "length", "text since",
              *(f"from {name}" for name in ORIGINS)),
    "states": ("demands", "pending", "decides", "question", "open task", "done task", "text since", "just now", "words",
               *(f"from {name}" for name in ORIGINS)),
})  # fmt: skip
"""The features of each model, in order."""
SIGNS: Mapping[Part, Mapping[str, int]] = MappingProxyType({
    "needed": {"said": 1, "messages since": -1, "text since": -1, "by the user": 1, "acted on": 1},
    "tells": {"lines of the name": -1, "newest": 1, "other words": 1},
    "states": {"pending": 1, "open task": 1, "done task": -1},
})  # fmt: skip
"""Features whose weight may not change sign: more of it never lowers (1) or never raises (-1) the probability."""

LONGEST = 400
"""Characters of a line that may state a rule or open work; a longer one is a paste."""
MOST_TEXT = 600
"""Characters of a line that may be chosen."""
_LABEL = re.compile(r"\[(user|said|command|argument|result|failed|thought)\]")
_STATING = (LineOrigin.USER, LineOrigin.SAID, LineOrigin.ARGUMENT)


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
        read = [_lines_of(message, reader) for message in messages]
        self.names = reader.extractor.names
        chars = np.array([sum(len(line.text) for line in lines) for lines in read], dtype=np.float64)
        whole = max(float(chars.sum()), 1.0)
        self.since: Floats = (whole - np.cumsum(chars)) / whole
        at = np.repeat(np.arange(len(read)), [len(lines) for lines in read])
        every = list(chain.from_iterable(read))
        number = np.array([line.number for line in every], dtype=np.int64)
        last = np.sort(len(number) - 1 - np.unique(number[::-1], return_index=True)[1])
        self._mention_at = np.repeat(at, [len(line.entities) for line in every])
        self._mention = _ints(chain.from_iterable(line.entities for line in every))
        self._mention_origin = np.repeat(_ints(line.origin for line in every), [len(line.entities) for line in every])
        self.lines = [every[i] for i in last.tolist()]
        self.at: Ints = at[last]
        self.origin = _ints(line.origin for line in self.lines)
        self.length = np.array([len(line.text) for line in self.lines], dtype=np.float64)
        self.cost: Floats = self.length / 3.3 + 3.0
        self.sizes = _ints(len(line.entities) for line in self.lines)
        self.pair_line: Ints = np.repeat(np.arange(len(self.lines)), self.sizes)
        self.pair_name = _ints(chain.from_iterable(line.entities for line in self.lines))

    @cached_property
    def known(self) -> Ints:
        """The numbers of the names that the history holds."""
        found: Ints = np.unique(self._mention)
        return found

    @cached_property
    def needed(self) -> Floats:
        """(names, features) of `known`."""
        n = len(self.names)
        of_message = np.unique(np.stack([self._mention, self._mention_at, self._mention_origin]), axis=1)
        name, at, origin = of_message if self._mention.size else np.zeros((3, 0), dtype=np.int64)
        spoken = origin <= LAST_SPOKEN
        newest, first = np.full(n, -1), np.full(n, len(self.messages))
        np.maximum.at(newest, name, at)
        np.minimum.at(first, name, at)

        def count(flags: Flags) -> Floats:
            return np.bincount(name[flags], minlength=n)[self.known].astype(np.float64)

        newest, first = newest[self.known], first[self.known]
        acted = np.isin(origin, (LineOrigin.COMMAND, LineOrigin.ARGUMENT))
        kinds = np.array([LEXICAL.index(self.names[one].kind) for one in self.known.tolist()], dtype=np.int64)
        lengths = np.array([len(self.names[one].text) for one in self.known.tolist()], dtype=np.float64)
        columns = [
            np.log1p(count(spoken)), np.log1p(count(~spoken)), np.log1p(len(self.messages) - 1 - newest),
            self.since[newest] if len(newest) else newest, self.since[first] if len(first) else first,
            np.log1p(np.bincount(self.pair_name, minlength=n)[self.known]),
            count(origin == LineOrigin.USER) > 0, np.log1p(count(acted)), count(origin == LineOrigin.FAILED) > 0,
            np.log(lengths + 1),
        ]  # fmt: skip
        return np.column_stack([*columns, kinds[:, None] == np.arange(len(LEXICAL))]).astype(np.float64)

    @cached_property
    def tells(self) -> Floats:
        """(pairs, features) of each line with each exact name in it."""
        line, name = self.pair_line, self.pair_name
        newest, oldest = np.full(len(self.names), -1), np.full(len(self.names), len(self.messages))
        np.maximum.at(newest, name, self.at[line])
        np.minimum.at(oldest, name, self.at[line])
        words = np.array([one.words for one in self.lines], dtype=np.float64)
        columns = [
            np.log(np.maximum(np.bincount(name, minlength=len(self.names))[name], 1)),
            self.at[line] >= newest[name], self.at[line] <= oldest[name], 1 - np.exp(-0.4 * words[line]),
            np.log(np.maximum(self.sizes[line], 1)), np.log1p(self.length[line]), self.since[self.at[line]],
        ]  # fmt: skip
        return np.column_stack([*columns, self._origins(self.origin[line])]).astype(np.float64)

    @cached_property
    def stating(self) -> Ints:
        """The lines that may state a rule or open work."""
        found: Ints = np.flatnonzero(np.isin(self.origin, _STATING) & (self.length <= LONGEST) & (self.length >= 12))
        return found

    @cached_property
    def states(self) -> Floats:
        """(stating, features) of the lines of `stating`."""
        done = _task_states(self.messages)
        texts = [self.lines[i].text for i in self.stating.tolist()]
        flags = [
            (is_demand(text), is_pending(text), is_decision(text), text.rstrip().endswith("?"),
             done.get(text) is False, done.get(text) is True)
            for text in texts
        ]  # fmt: skip
        since = self.since[self.at[self.stating]]
        words = np.array([self.lines[i].words for i in self.stating.tolist()], dtype=np.float64)
        parts = np.array(flags, dtype=np.float64).reshape(-1, 6)
        return np.column_stack(
            [parts, since, since < 0.1, np.log1p(words), self._origins(self.origin[self.stating])]
        ).astype(np.float64)

    def names_by_text(self) -> dict[str, list[int]]:
        """The places in `known` of each name, in lower case."""
        found: dict[str, list[int]] = {}
        for place, number in enumerate(self.known.tolist()):
            entity: Entity = self.names[number]
            found.setdefault(entity.text.lower(), []).append(place)
        return found

    def _origins(self, origin: Ints) -> Flags:
        found: Flags = _COLUMN[origin][:, None] == np.arange(len(ORIGINS))
        return found


def _lines_of(message: Message, reader: LineReader) -> Sequence[Line]:
    """The lines of a message; those of an earlier summary of chosen lines with the origins that it names."""
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


def _task_states(messages: Sequence[Message]) -> dict[str, bool]:
    """For each task of a list in a call whether the newest list says that it is done."""
    calls = (call for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    return {text: done for call in calls for text, done in tasks(call.arguments)}


def _ints(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, np.int64)
