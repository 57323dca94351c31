"""How much a context has of the lines of code that are needed later, where they stand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from workbench.base.ragged import Floats
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.code.lines import compared_lines
from workbench.evaluation.metrics.code.needs import CodeNeeds
from workbench.evaluation.metrics.code.uses import spoken_texts
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.work_exam.read_context import ReadContext
from workbench.evaluation.metrics.work_exam.word_cover import content_words
from workbench.evaluation.metrics.work_exam.word_windows import PlacedWords, WordWindow, WordWindows

CHANCE = 0.5
"""The share of a line's words that lines like it have; what a context has beyond it counts."""


@dataclass(frozen=True, slots=True)
class _ReadText:
    """A part of a context.

    Attributes:
        placed: the numbers of the needed lines that stand whole next to a line that they stood next
            to.
        words: the words of needed lines and of their files, by sentence; a sentence ends with its
            line.
    """

    placed: frozenset[int]
    words: PlacedWords


class CodeReading:
    """The code needs of one recording, and what contexts have of them.

    A line counts in its place: whole and next to a line that it stood next to, or as far as a
    sentence that names its file has its words. A line alone has to be found again before it can be
    edited, as if nothing of it were there.

    Args:
        messages: the whole recording.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.needs = CodeNeeds(messages)
        self._number = {line: number for number, line in enumerate(self.needs.lines)}
        self._place = {id(message): place for place, message in enumerate(messages)}
        self._read_messages: dict[int, _ReadText] = {}

    @classmethod
    def of(cls, index: Index) -> Self:
        """That of the session which an index was made of, made once."""
        if not isinstance(index.code_reading, cls):
            index.code_reading = cls(index.messages)
        return index.code_reading

    def shares(self, boundary: int, context: Sequence[Message]) -> Floats:
        """(lines,) for each line that a boundary needs how much of it a context has, in [0, 1].

        Args:
            boundary: of the session.
            context: the messages of the context.
        """
        numbers = [self._number[line] for line in self.needs.at(boundary)]
        if not numbers:
            return np.zeros(0)
        placed: set[int] = set()
        words: list[PlacedWords] = []
        for message in context:
            text = self._read(message)
            placed |= text.placed
            words.append(text.words)
        is_placed = np.array([number in placed for number in numbers], dtype=np.float64)
        named_shares = self._named_with_file(numbers, PlacedWords.joined(words))
        return np.maximum(is_placed, named_shares)

    def _named_with_file(self, numbers: Sequence[int], words: PlacedWords) -> Floats:
        """(lines,) the largest share of each line's words in a sentence that names its file."""
        best = np.zeros(len(numbers))
        rows: list[int] = []
        windows: list[WordWindow] = []
        for row, number in enumerate(numbers):
            windows_of_line = self._words_with_file[number]
            windows += windows_of_line
            rows += [row] * len(windows_of_line)
        if not windows:
            return best
        shares_of_both = WordWindows(windows, self._vocabulary).best_shares(words)
        # the file alone is a half of both
        shares = np.maximum(2 * shares_of_both - 1 - CHANCE, 0.0) / (1 - CHANCE)
        np.maximum.at(best, rows, shares)
        return best

    def _read(self, message: Message) -> _ReadText:
        """A message as a part of a context; the session's own messages are read once."""
        place = self._place.get(id(message))
        if place is not None and place in self._read_messages:
            return self._read_messages[place]
        placed: set[int] = set()
        for text in spoken_texts(message):
            placed |= self._placed_in(list(compared_lines(text)))
        context = ReadContext.of("\n".join(spoken_texts(message)))
        words = PlacedWords.of(context.content, self._vocabulary)
        sentences = np.array(context.sentences, dtype=np.int64)[words.places]
        by_sentence = PlacedWords(words.numbers, sentences, context.sentence_count)
        read_text = _ReadText(frozenset(placed), by_sentence)
        if place is not None:
            self._read_messages[place] = read_text
        return read_text

    def _placed_in(self, lines: Sequence[str]) -> set[int]:
        """The needed lines among some lines that stand next to one that they stood next to."""
        placed: set[int] = set()
        for line in lines:
            number = self._number.get(line)
            if number is not None and number in self._lonely:
                placed.add(number)
        for line, next_line in pairwise(lines):
            if self._are_neighbours(line, next_line):
                placed.add(self._number[line])
            if self._are_neighbours(next_line, line):
                placed.add(self._number[next_line])
        return placed

    def _are_neighbours(self, line: str, other_line: str) -> bool:
        """Whether the first line is needed, and stood next to the second one."""
        if line not in self._number:
            return False
        return other_line in self.needs.surroundings[line].neighbours

    @cached_property
    def _lonely(self) -> frozenset[int]:
        """The needed lines that never stood next to another."""
        lonely: set[int] = set()
        for line, number in self._number.items():
            if not self.needs.surroundings[line].neighbours:
                lonely.add(number)
        return frozenset(lonely)

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        """A number for each word of the needed lines and of the names of their files."""
        numbers: dict[str, int] = {}
        texts = list(self.needs.lines)
        for surroundings in self.needs.surroundings.values():
            texts += surroundings.files
        for text in texts:
            for word in content_words(text):
                numbers.setdefault(word, len(numbers))
        return numbers

    @cached_property
    def _words(self) -> list[WordWindow]:
        """For each needed line its words, weighted by how few lines have them."""
        lines = self.needs.distinct_lines
        holding: Counter[str] = Counter()
        for line in lines:
            holding.update(self._vocabulary.keys() & content_words(line))
        windows = []
        for line in self.needs.lines:
            weights: dict[str, float] = {}
            for word in content_words(line):
                weights[word] = math.log((len(lines) + 1) / (1 + holding[word])) + 0.1
            windows.append(WordWindow(weights, 1))
        return windows

    @cached_property
    def _words_with_file(self) -> list[list[WordWindow]]:
        """For each needed line and each name of its file the words of both, which weigh alike."""
        windows = []
        for line, words in zip(self.needs.lines, self._words, strict=True):
            total = sum(words.weights.values())
            of_line = []
            for name in sorted(self.needs.surroundings[line].files):
                file_words = set(content_words(name)) - words.weights.keys()
                if file_words:
                    of_file = dict.fromkeys(file_words, total / len(file_words))
                    of_line.append(WordWindow({**words.weights, **of_file}, 1))
            windows.append(of_line)
        return windows
