"""How much a context has of the lines of code that are needed later, where they stand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np

from workbench.base.ragged import Floats, Ints, integers
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.code.lines import compared_lines
from workbench.evaluation.metrics.code.needs import CodeNeeds
from workbench.evaluation.metrics.code.uses import spoken_texts
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.work_exam.read_context import ReadContext
from workbench.evaluation.metrics.work_exam.word_cover import content_words
from workbench.evaluation.metrics.work_exam.word_windows import PlacedWords, SentenceWords

CHANCE = 0.5
"""The share of a line's words that lines like it have; what a context has beyond it counts."""
REMEMBERED = 64
"""Messages that are not the session's, such as summaries, that are not read again: several
contexts have each.
"""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
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


@dataclass(frozen=True, slots=True, eq=False)
class _NamedLines:
    """The needed lines that a text names with their file, by row, and how much it has of each."""

    rows: Ints
    shares: Floats


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
        self._number: dict[str, int] = {}
        for number, line in enumerate(self.needs.lines):
            self._number[line] = number
        self._place: dict[int, int] = {}
        for place, message in enumerate(messages):
            self._place[id(message)] = place
        self._read_messages: dict[int, _ReadText] = {}
        self._read_new = lru_cache(REMEMBERED)(self._read_texts)
        self._needed_at: dict[int, _NeededLines] = {}

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
        needed = self._needed(boundary)
        if not needed.numbers:
            return np.zeros(0)
        texts: list[_ReadText] = []
        placed: set[int] = set()
        for message in context:
            text = self._read(message)
            texts.append(text)
            placed |= text.placed
        placed_shares = [float(number in placed) for number in needed.numbers]
        named_shares = needed.named_shares(texts)
        return np.maximum(placed_shares, named_shares)

    def _needed(self, boundary: int) -> _NeededLines:
        """The lines that a boundary needs, made ready to be looked up once."""
        if boundary not in self._needed_at:
            numbers: list[int] = []
            word_sets: list[Sequence[Mapping[str, float]]] = []
            for line in self.needs.at(boundary):
                number = self._number[line]
                numbers.append(number)
                sets_of_line = self._words_with_file[number]
                word_sets.append(sets_of_line)
            self._needed_at[boundary] = _NeededLines(
                numbers,
                word_sets,
                self._vocabulary,
            )
        return self._needed_at[boundary]

    def _read(self, message: Message) -> _ReadText:
        """A message as a part of a context; the session's own messages are read once."""
        place = self._place.get(id(message))
        if place in self._read_messages:
            return self._read_messages[place]
        texts = tuple(spoken_texts(message))
        if place is None:
            return self._read_new(texts)
        self._read_messages[place] = self._read_texts(texts)
        return self._read_messages[place]

    def _read_texts(self, texts: tuple[str, ...]) -> _ReadText:
        placed: set[int] = set()
        for text in texts:
            lines = list(compared_lines(text))
            placed |= self._placed_in(lines)
        context = ReadContext.of("\n".join(texts))
        words = PlacedWords.of(context.content, self._vocabulary)
        sentence_of_word = np.array(context.sentences, dtype=np.int64)
        by_sentence = PlacedWords(
            numbers=words.numbers,
            places=sentence_of_word[words.places],
            length=context.sentence_count,
        )
        return _ReadText(frozenset(placed), by_sentence)

    def _placed_in(self, lines: Sequence[str]) -> set[int]:
        """The needed lines among some lines that stand next to one that they stood next to."""
        placed: set[int] = set()
        for line in lines:
            number = self._number.get(line)
            if number is not None and number in self._lonely:
                placed.add(number)
        for line, next_line in pairwise(lines):
            if self._are_neighbours(line, next_line):
                number = self._number[line]
                placed.add(number)
            if self._are_neighbours(next_line, line):
                number = self._number[next_line]
                placed.add(number)
        return placed

    def _are_neighbours(self, line: str, other_line: str) -> bool:
        """Whether the first line is needed, and stood next to the second one."""
        if line not in self._number:
            return False
        surroundings = self.needs.surroundings[line]
        return other_line in surroundings.neighbours

    @cached_property
    def _lonely(self) -> frozenset[int]:
        """The needed lines that never stood next to another."""
        lonely: set[int] = set()
        for line, number in self._number.items():
            surroundings = self.needs.surroundings[line]
            if not surroundings.neighbours:
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
                if word not in numbers:
                    numbers[word] = len(numbers)
        return numbers

    @cached_property
    def _words(self) -> list[Mapping[str, float]]:
        """For each needed line its words, weighted by how few lines have them."""
        lines = self.needs.distinct_lines
        lines_with: Counter[str] = Counter()
        for line in lines:
            line_content = content_words(line)
            needed_words = self._vocabulary.keys() & line_content
            lines_with.update(needed_words)
        line_count = len(lines)
        line_words: list[Mapping[str, float]] = []
        for line in self.needs.lines:
            weights: dict[str, float] = {}
            for word in content_words(line):
                count_with_word = lines_with[word]
                rarity = (line_count + 1) / (1 + count_with_word)
                weights[word] = math.log(rarity) + 0.1
            line_words.append(weights)
        return line_words

    @cached_property
    def _words_with_file(self) -> list[list[Mapping[str, float]]]:
        """For each needed line and each name of its file the words of both, which weigh alike."""
        word_sets: list[list[Mapping[str, float]]] = []
        lines_with_words = zip(self.needs.lines, self._words, strict=True)
        for line, words in lines_with_words:
            total = sum(words.values())
            of_line: list[Mapping[str, float]] = []
            files = self.needs.surroundings[line].files
            for name in sorted(files):
                file_words = set(content_words(name)) - words.keys()
                if not file_words:
                    continue
                weight = total / len(file_words)
                weighted_file_words = dict.fromkeys(file_words, weight)
                word_set = {**words, **weighted_file_words}
                of_line.append(word_set)
            word_sets.append(of_line)
        return word_sets


class _NeededLines:
    """The lines that one boundary needs, and which messages name them with their file.

    Args:
        numbers: of the lines.
        word_sets: for each line the words that say it, one set a name of its file.
        vocabulary: a number for each word.
    """

    def __init__(
        self,
        numbers: Sequence[int],
        word_sets: Sequence[Sequence[Mapping[str, float]]],
        vocabulary: Mapping[str, int],
    ) -> None:
        self.numbers = numbers
        all_sets: list[Mapping[str, float]] = []
        row_of_set: list[int] = []
        for row, of_line in enumerate(word_sets):
            for word_set in of_line:
                all_sets.append(word_set)
                row_of_set.append(row)
        self._row_of_set = integers(row_of_set)
        self._sought = SentenceWords(all_sets, vocabulary)
        self._named_in = WeakKeyDictionary[_ReadText, _NamedLines]()

    def named_shares(self, texts: Sequence[_ReadText]) -> Floats:
        """(lines,) the largest share of each line's words in a sentence of some texts that names
        its file. A text is looked through once.
        """
        new_texts = [text for text in texts if text not in self._named_in]
        self._look_through(new_texts)
        best = np.zeros(len(self.numbers))
        for text in texts:
            named = self._named_in[text]
            np.maximum.at(best, named.rows, named.shares)
        return best

    def _look_through(self, texts: Sequence[_ReadText]) -> None:
        """Note which lines each of some texts names."""
        words = PlacedWords.joined([text.words for text in texts])
        # the file alone is a half of both
        bar = (1 + CHANCE) / 2
        named = self._sought.shares_above(bar, words)
        rows = self._row_of_set[named.sets]
        shares_of_line = 2 * named.shares - 1
        shares_beyond_chance = shares_of_line - CHANCE
        shares = shares_beyond_chance / (1 - CHANCE)
        sentence_counts = integers(text.words.length for text in texts)
        text_ends = np.cumsum(sentence_counts)
        text_of_sentence = np.searchsorted(text_ends, named.sentences, "right")
        for number, text in enumerate(texts):
            is_in_text = text_of_sentence == number
            self._named_in[text] = _NamedLines(
                rows=rows[is_in_text],
                shares=shares[is_in_text],
            )
