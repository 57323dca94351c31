"""How much a context has of the lines of code that are needed later: whole, or their words near together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from workbench.metrics.code.lines import compared_lines
from workbench.metrics.code.needs import CodeNeeds
from workbench.metrics.code.uses import spoken_texts
from workbench.metrics.index import Index
from workbench.metrics.work_exam.word_cover import content_words
from workbench.metrics.work_exam.word_windows import PlacedWords, WordWindow, WordWindows
from workbench.ragged import Floats
from workbench.transcript.message import Message

WINDOWS = (16, 32, 64, 128)
"""Content words within which the words of a line must stand: the smallest that is twice as long as the line."""
CHANCE = 0.5
"""The share of a line's words that any code of the same session has; what a context has beyond it counts."""


@dataclass(frozen=True, slots=True)
class _ReadText:
    """A part of a context: which needed lines it has whole, and the places of their words."""

    lines: frozenset[int]
    words: PlacedWords


class CodeReading:
    """The code needs of one recording, and what contexts have of them.

    Args:
        messages: the whole recording.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.needs = CodeNeeds(messages)
        self._number = {line: number for number, line in enumerate(self.needs.lines)}
        self._place = {id(message): place for place, message in enumerate(messages)}
        self._read_messages: dict[int, _ReadText] = {}
        self._read_lines: dict[str, _ReadText] = {}

    @classmethod
    def of(cls, index: Index) -> Self:
        """That of the session which an index was made of, made once."""
        if not isinstance(index.code_reading, cls):
            index.code_reading = cls(index.messages)
        return index.code_reading

    def shares(self, at: int, context: Sequence[Message]) -> Floats:
        """(lines,) for each line that a boundary needs how much of it a context has, in [0, 1].

        Args:
            at: the boundary.
            context: the messages of the context.
        """
        lines = self.needs.at(at)
        shares = np.zeros(len(lines))
        if not lines:
            return shares
        texts = [self._read(message) for message in context]
        whole = frozenset().union(*(text.lines for text in texts))
        parted = []
        for place, line in enumerate(lines):
            if self._number[line] in whole:
                shares[place] = 1.0
            else:
                parted.append(place)
        windows = WordWindows([self._windows[self._number[lines[place]]] for place in parted], self._vocabulary)
        words = windows.best_shares(PlacedWords.joined([text.words for text in texts]))
        shares[parted] = np.maximum(words - CHANCE, 0.0) / (1 - CHANCE)
        return shares

    def _read(self, message: Message) -> _ReadText:
        """A message as a part of a context; the session's own messages are read once."""
        place = self._place.get(id(message))
        if place is not None and place in self._read_messages:
            return self._read_messages[place]
        parts = [self._read_line(line) for text in spoken_texts(message) for line in text.split("\n")]
        read = _ReadText(
            frozenset().union(*(part.lines for part in parts)),
            PlacedWords.joined([part.words for part in parts]),
        )
        if place is not None:
            self._read_messages[place] = read
        return read

    def _read_line(self, line: str) -> _ReadText:
        """A line of a message; many messages repeat lines, each is read once."""
        if line not in self._read_lines:
            numbers = (self._number.get(compared) for compared in compared_lines(line))
            lines = frozenset(number for number in numbers if number is not None)
            self._read_lines[line] = _ReadText(lines, PlacedWords.of(content_words(line), self._vocabulary))
        return self._read_lines[line]

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        """A number for each word of the needed lines."""
        words = dict.fromkeys(word for line in self.needs.lines for word in content_words(line))
        return {word: number for number, word in enumerate(words)}

    @cached_property
    def _windows(self) -> list[WordWindow]:
        """For each needed line its words with their weights, the heavier the fewer lines have them, and its window."""
        lines = self.needs.distinct_lines
        holding: Counter[str] = Counter()
        for line in lines:
            holding.update(self._vocabulary.keys() & content_words(line))
        windows = []
        for line in self.needs.lines:
            words = content_words(line)
            weights = {word: math.log((len(lines) + 1) / (1 + holding[word])) + 0.1 for word in words}
            windows.append(WordWindow(weights, _window_of(len(words))))
        return windows


def _window_of(words: int) -> int:
    """The window for a line of so many words."""
    return next((window for window in WINDOWS if window >= 2 * words), WINDOWS[-1])
