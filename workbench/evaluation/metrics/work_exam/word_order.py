"""Which words of a history stand side by side, and which lines of a context are its words in
another order.

Such lines hold most of the words of an answer and no sentence. Real models read them, but get less
from them than from sentences with the same words.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from workbench.evaluation.metrics.work_exam.word_cover import content_word, written_words

SHORTEST_LINE = 6
"""Words of a line that can be jumbled; numbers are not counted."""
SMALL_WORDS = 1 / 8
"""A line with a larger share of words such as `of` and `is`, or with as large a one, is a
sentence.
"""
SIDE_BY_SIDE = 3 / 5
"""A line of whose neighbouring words so large a share stands side by side in the history quotes
it.
"""


class WordOrder:
    """The neighbouring words of a history's lines.

    They are read when a line is looked at that might be jumbled; for many contexts none is.
    """

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._numbers: dict[str, int] = {}
        self._neighbours: set[tuple[int, int]] = set()

    def add(self, text: str) -> None:
        """One more text of the history."""
        self._unread.append(text)

    def is_jumbled(self, line: str) -> bool:
        """Whether a line is neither a sentence nor a quotation, though all of its words are of the
        history.

        A line with a word of its own was written by somebody, and is never jumbled.
        """
        words = _spelled_words(line)
        if len(words) < SHORTEST_LINE:
            return False
        small_count = sum(not content_word(word) for word in words)
        enough_for_sentence = SMALL_WORDS * len(words)
        if small_count >= enough_for_sentence:
            return False
        self._read()
        line_words = set(words)
        if not line_words <= self._numbers.keys():
            return False
        neighbours = list(self._pairs(words))
        kept_count = sum(pair in self._neighbours for pair in neighbours)
        enough_for_quotation = SIDE_BY_SIDE * len(neighbours)
        return kept_count < enough_for_quotation

    def _read(self) -> None:
        numbers = self._numbers
        for text in self._unread:
            for line in text.split("\n"):
                words = _spelled_words(line)
                for word in words:
                    if word not in numbers:
                        numbers[word] = len(numbers)
                pairs = self._pairs(words)
                self._neighbours.update(pairs)
        self._unread.clear()

    def _pairs(self, words: list[str]) -> Iterator[tuple[int, int]]:
        """Neighbouring words, by their numbers."""
        numbers = [self._numbers[word] for word in words]
        return pairwise(numbers)


def _spelled_words(line: str) -> list[str]:
    """The words of a line that are no numbers, in lower case."""
    words: list[str] = []
    for word in written_words(line):
        if not word[0].isdigit():
            words.append(word.lower())
    return words
