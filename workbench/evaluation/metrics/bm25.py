"""BM25, the plain measure of search engines: how well a context's best line answers some words.

It is the baseline beside every other measure in the tables of `workbench lab validate`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

SATURATION = 1.2
"""How soon a word that is repeated counts no more (`k1`)."""
LENGTH = 0.75
"""How much a long line loses (`b`)."""
_WORD = re.compile(r"\w+")
_Gain: TypeAlias = tuple[int, float]
"""A line of the context, by its number, and what a word adds there."""


class Bm25:
    """BM25 with the rarity of words and the usual length of lines taken from a history.

    Args:
        history: its texts; each line is a document.
    """

    def __init__(self, history: Iterable[str]) -> None:
        self._lines_with: Counter[str] = Counter()
        self._lines = 0
        word_count = 0
        for text in history:
            for words in _lines(text):
                self._lines += 1
                word_count += len(words)
                distinct_words = set(words)
                self._lines_with.update(distinct_words)
        mean_length = word_count / max(self._lines, 1)
        self._usual_length = max(mean_length, 1.0)

    def share(self, sought: str, context: str) -> float:
        """The score of the context's best line; 1: a line of usual length has each word once."""
        (share,) = self.shares([sought], context)
        return share

    def shares(self, sought: Sequence[str], context: str) -> list[float]:
        """`share` of several texts that are sought in one context."""
        gains: dict[str, list[_Gain]] = defaultdict(list)
        for number, words in enumerate(_lines(context)):
            relative_length = LENGTH * len(words) / self._usual_length
            damping = SATURATION * (1 - LENGTH + relative_length)
            word_counts = Counter(words)
            for word, count in word_counts.items():
                undamped = count * (SATURATION + 1)
                gain = undamped / (count + damping)
                gains[word].append((number, gain))
        return [self._best_share(text, gains) for text in sought]

    def _best_share(self, text: str, gains: Mapping[str, Sequence[_Gain]]) -> float:
        """The share of the best line for one text.

        Args:
            text: what is sought.
            gains: for each word of the context the lines that hold it, and what it adds there.
        """
        scores: dict[int, float] = defaultdict(float)
        total_weight = 0.0
        distinct_words = dict.fromkeys(_words(text))
        for word in distinct_words:
            weight = self._weight(word)
            total_weight += weight
            gains_of_word = gains.get(word, ())
            for number, gain in gains_of_word:
                scores[number] += weight * gain
        if not total_weight:
            return 0.0
        best = max(scores.values(), default=0.0)
        return best / total_weight

    def _weight(self, word: str) -> float:
        """How rare a word is in the history; a word that every line has weighs almost nothing."""
        lines_with = self._lines_with[word]
        lines_without = self._lines - lines_with
        odds = (lines_without + 0.5) / (lines_with + 0.5)
        return math.log(1 + odds)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _lines(text: str) -> list[list[str]]:
    """The words of each line that has any."""
    words_by_line: list[list[str]] = []
    for line in text.splitlines():
        words = _words(line)
        if words:
            words_by_line.append(words)
    return words_by_line
