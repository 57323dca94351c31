"""How much the words of a history say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from workbench.evaluation.metrics.work_exam.word_cover import WINDOW, content_words
from workbench.evaluation.metrics.work_exam.word_order import WordOrder


class Rarity:
    """How much words say: those in fewer stretches of the history weigh more.

    Attributes:
        order: which of the history's words stand side by side.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._stretches = 0
        self._holding: Counter[str] = Counter()
        self.order = WordOrder()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """One more text of the history."""
        self.order.add(text)
        words = content_words(text)
        for start in range(0, len(words), WINDOW):
            stop = start + WINDOW
            distinct_words = set(words[start:stop])
            self._stretches += 1
            self._holding.update(distinct_words)

    def weight(self, word: str) -> float:
        """log((n + 1) / (1 + stretches that hold the word)) + 0.1, with n stretches of `WINDOW`
        words.
        """
        holding_count = self._holding[word]
        rarity = (self._stretches + 1) / (1 + holding_count)
        return math.log(rarity) + 0.1

    def knows(self, word: str) -> bool:
        """Whether the history has a content word."""
        return self._holding[word] > 0

    def weights(self, statement: str) -> dict[str, float]:
        """The content words of a statement with their weights."""
        weights: dict[str, float] = {}
        for word in content_words(statement):
            weights[word] = self.weight(word)
        return weights
