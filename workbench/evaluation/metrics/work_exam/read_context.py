"""A context as the fitted reader sees it: its words, its sentences, and which of its lines state
something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from workbench.base.ragged import Flags, Ints, integers, together
from workbench.evaluation.metrics.work_exam.word_cover import content_word, written_words
from workbench.evaluation.metrics.work_exam.word_windows import PlacedWords

SHORT_LINE = 5
"""Words of a line that needs no marks to state something: a heading, an entry of a list, a short
answer.
"""
WORDS_A_MARK = 15
"""A longer line states something if it has a comma, a full stop, a colon or a bracket for so
many words ...
"""
WORDS_OF_A_LIST = 2
"""... and none for fewer than so many: words with commas between them are a list."""
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
_MARK = re.compile(r"[,.;:!?)](?=[\s)\]\"'`*]|$)")


@dataclass(slots=True)
class ReadContext:
    """A context, or a part of one: a message, a line.

    Attributes:
        content: its content words.
        sentences: for each of them the number of its sentence; a sentence ends with its line;
            those without content words are not counted.
        states: for each of them whether its line states something, and is no mere list of words.
        sentence_count: how many sentences there are.
    """

    content: list[str] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    states: list[bool] = field(default_factory=list)
    sentence_count: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        """A context's text, read once."""
        context = cls()
        for line in text.split("\n"):
            context._add_line(line)
        return context

    @classmethod
    def joined(cls, parts: Iterable[ReadContext]) -> Self:
        """Several contexts, one behind the other; none of them ends within a line."""
        context = cls()
        for part in parts:
            begin = context.sentence_count
            context.content += part.content
            context.sentences += [begin + sentence for sentence in part.sentences]
            context.states += part.states
            context.sentence_count += part.sentence_count
        return context

    def _add_line(self, line: str) -> None:
        begin = len(self.content)
        word_count = 0
        for sentence in _SENTENCE_END.split(line):
            words = written_words(sentence)
            word_count += len(words)
            content = [word for word in map(content_word, words) if word]
            self.content += content
            self.sentences += [self.sentence_count] * len(content)
            self.sentence_count += bool(content)
        is_statement = word_count < SHORT_LINE
        if not is_statement:
            mark_count = len(_MARK.findall(line))
            is_statement = _states(mark_count, word_count)
        content_count = len(self.content) - begin
        self.states += [is_statement] * content_count


@dataclass(frozen=True, slots=True, eq=False)
class PlacedContext:
    """Where the words of a vocabulary stand in a context.

    Attributes:
        numbers: (words,) of each in the vocabulary, in the context's order.
        places: (words,) where each stands, counted in content words.
        sentence_places: (words,) the same counted in sentences.
        states: (words,) whether the line of each states something.
        length: how many content words the context has.
        sentence_count: how many sentences.
    """

    numbers: Ints
    places: Ints
    sentence_places: Ints
    states: Flags
    length: int
    sentence_count: int

    @classmethod
    def of(cls, context: ReadContext, vocabulary: Mapping[str, int]) -> Self:
        """The places in a context of the words that a vocabulary has."""
        words = PlacedWords.of(context.content, vocabulary)
        states = np.array(context.states, dtype=np.bool_)
        sentences = np.array(context.sentences, dtype=np.int64)
        return cls(
            numbers=words.numbers,
            places=words.places,
            sentence_places=sentences[words.places],
            states=states[words.places],
            length=words.length,
            sentence_count=context.sentence_count,
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several contexts, one behind the other."""
        lengths, sentence_counts = cls.sizes(parts)
        starts = np.cumsum(lengths) - lengths
        sentence_starts = np.cumsum(sentence_counts) - sentence_counts
        words = cls.placed(parts, starts, sentence_starts)
        return words.of_size(lengths, sentence_counts)

    @classmethod
    def sizes(cls, parts: Sequence[Self]) -> tuple[Ints, Ints]:
        """How many content words and how many sentences each of several contexts has."""
        lengths = integers(part.length for part in parts)
        sentence_counts = integers(part.sentence_count for part in parts)
        return lengths, sentence_counts

    @classmethod
    def placed(cls, parts: Sequence[Self], starts: Ints, sentence_starts: Ints) -> Self:
        """The words of several contexts, each moved to its start."""
        word_counts = integers(len(part.places) for part in parts)
        return cls.together(parts).moved(
            np.repeat(starts, word_counts),
            np.repeat(sentence_starts, word_counts),
        )

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """The words of several contexts, their places as they are."""
        numbers: list[Ints] = []
        places: list[Ints] = []
        sentence_places: list[Ints] = []
        states = [np.zeros(0, dtype=np.bool_)]
        for part in parts:
            numbers.append(part.numbers)
            places.append(part.places)
            sentence_places.append(part.sentence_places)
            states.append(part.states)
        lengths, sentence_counts = cls.sizes(parts)
        return cls(
            numbers=together(numbers),
            places=together(places),
            sentence_places=together(sentence_places),
            states=np.concatenate(states),
            length=int(lengths.sum()),
            sentence_count=int(sentence_counts.sum()),
        )

    def rows(self, rows: Ints) -> Self:
        """Some of its words."""
        return replace(
            self,
            numbers=self.numbers[rows],
            places=self.places[rows],
            sentence_places=self.sentence_places[rows],
            states=self.states[rows],
        )

    def moved(self, words: Ints, sentences: Ints) -> Self:
        """The same with each word so many words and sentences further on."""
        return replace(
            self,
            places=self.places + words,
            sentence_places=self.sentence_places + sentences,
        )

    def of_size(self, lengths: Ints, sentence_counts: Ints) -> Self:
        """The same as a context of parts with so many words and sentences."""
        return replace(
            self,
            length=int(lengths.sum()),
            sentence_count=int(sentence_counts.sum()),
        )

    @property
    def words(self) -> PlacedWords:
        """Its words, counted in content words."""
        return PlacedWords(self.numbers, self.places, self.length)

    @property
    def statements(self) -> PlacedWords:
        """The same without the lines that state nothing."""
        numbers = self.numbers[self.states]
        places = self.places[self.states]
        return PlacedWords(numbers, places, self.length)

    @property
    def sentences(self) -> PlacedWords:
        """Its words, counted in sentences."""
        return PlacedWords(self.numbers, self.sentence_places, self.sentence_count)


def _states(marks: int, words: int) -> bool:
    """Whether a line with so many marks and words states something."""
    return words <= marks * WORDS_A_MARK and marks * WORDS_OF_A_LIST <= words
