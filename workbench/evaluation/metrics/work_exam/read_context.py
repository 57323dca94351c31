"""A context as the fitted reader sees it: its words, its sentences, and which of its lines state
something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

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


@dataclass(frozen=True, slots=True)
class PlacedContext:
    """Where the words of a vocabulary stand in a context, by three rulers.

    Attributes:
        words: counted in content words.
        statements: the same without the lines that state nothing.
        sentences: counted in sentences.
    """

    words: PlacedWords
    statements: PlacedWords
    sentences: PlacedWords

    @classmethod
    def of(cls, context: ReadContext, vocabulary: Mapping[str, int]) -> Self:
        """The places in a context of the words that a vocabulary has."""
        words = PlacedWords.of(context.content, vocabulary)
        states = np.array(context.states, dtype=np.bool_)
        sentences = np.array(context.sentences, dtype=np.int64)
        is_stated = states[words.places]
        statements = PlacedWords(
            numbers=words.numbers[is_stated],
            places=words.places[is_stated],
            length=words.length,
        )
        by_sentence = PlacedWords(
            numbers=words.numbers,
            places=sentences[words.places],
            length=context.sentence_count,
        )
        return cls(words, statements, by_sentence)

    @classmethod
    def joined(cls, parts: Sequence[PlacedContext]) -> Self:
        """Several contexts, one behind the other."""
        return cls(
            PlacedWords.joined([part.words for part in parts]),
            PlacedWords.joined([part.statements for part in parts]),
            PlacedWords.joined([part.sentences for part in parts]),
        )


def _states(marks: int, words: int) -> bool:
    """Whether a line with so many marks and words states something."""
    return words <= marks * WORDS_A_MARK and marks * WORDS_OF_A_LIST <= words
