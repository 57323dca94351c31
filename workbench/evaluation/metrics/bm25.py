"""BM25, the plain measure of search engines: how well a context's best line answers some words.

It is the baseline beside every other measure in the tables of `workbench lab validate`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

SATURATION = 1.2
"""How soon a word that is repeated counts no more (`k1`)."""
LENGTH = 0.75
"""How much a long line loses (`b`)."""
_WORD = re.compile(r"\w+")


class Bm25:
    """BM25 with the rarity of words and the usual length of lines taken from a history.

    Args:
        history: its texts; each line is a document.
    """

    def __init__(self, history: Iterable[str]) -> None:
        self._lines_with: Counter[str] = Counter()
        self._lines = 0
        words = 0
        for text in history:
            for line in _lines(text):
                self._lines += 1
                words += len(line)
                self._lines_with.update(set(line))
        self._usual_length = max(words / max(self._lines, 1), 1.0)

    def share(self, sought: str, context: str) -> float:
        """The score of the context's best line; 1: a line of usual length has each word once."""
        return self.shares([sought], context)[0]

    def shares(self, sought: Sequence[str], context: str) -> list[float]:
        """`share` of several texts that are sought in one context."""
        gains: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, line in enumerate(_lines(context)):
            relative_length = LENGTH * len(line) / self._usual_length
            damping = SATURATION * (1 - LENGTH + relative_length)
            for word, count in Counter(line).items():
                gain = count * (SATURATION + 1) / (count + damping)
                gains[word].append((number, gain))
        return [self._best_share(text, gains) for text in sought]

    def _best_share(self, text: str, gains: dict[str, list[tuple[int, float]]]) -> float:
        """The share of the best line for one text.

        Args:
            text: what is sought.
            gains: for each word of the context the lines that hold it, and what it adds there.
        """
        scores: dict[int, float] = defaultdict(float)
        total_weight = 0.0
        for word in dict.fromkeys(_words(text)):
            weight = self._weight(word)
            total_weight += weight
            for number, gain in gains.get(word, ()):
                scores[number] += weight * gain
        if not total_weight:
            return 0.0
        return max(scores.values(), default=0.0) / total_weight

    def _weight(self, word: str) -> float:
        """How rare a word is in the history; a word that every line has weighs almost nothing."""
        lines_with = self._lines_with[word]
        return math.log(1 + (self._lines - lines_with + 0.5) / (lines_with + 0.5))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _lines(text: str) -> list[list[str]]:
    """The words of each line that has any."""
    words_by_line = [_words(line) for line in text.splitlines()]
    return [words for words in words_by_line if words]
