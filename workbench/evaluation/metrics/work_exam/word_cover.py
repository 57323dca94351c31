"""How much of a short statement a text has: the best share of the statement's words in one
stretch of the text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.engine.extraction.lexicon import STOP
from workbench.evaluation.metrics.exam.tokens import stem

WINDOW = 80
"""Words of a text in which a statement must stand."""
SHORTEST = 3
"""Letters of a word that says something: shorter ones are `of`, `to`, `is`."""
REMEMBERED = 1 << 16
"""Words of which a process remembers what they are without their endings."""
_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def written_words(text: str) -> list[str]:
    """All words as they are written, in order; names are split at marks and inner capitals."""
    return _WORD.findall(_CAMEL.sub(" ", text))


def content_words(text: str) -> list[str]:
    """The words that say something, in order: lower case, without endings, names taken apart at
    their marks.

    Numbers are written without marks of thousands, so that `24,603` and `24603` are one word.
    """
    words = map(content_word, written_words(text))
    return [word for word in words if word]


@lru_cache(maxsize=REMEMBERED)
def content_word(word: str) -> str:
    """A word without case and ending; empty where it says nothing."""
    word = word.lower().replace(",", "")
    if word[0].isdigit():
        return word
    if len(word) < SHORTEST or word in STOP:
        return ""
    return stem(word)


def word_share(statement: str, text: str) -> float:
    """The share of a statement's content words that a text has anywhere, 0 to 1; 0 for a
    statement without any.
    """
    words = set(content_words(statement))
    if not words:
        return 0.0
    shared = words.intersection(content_words(text))
    return len(shared) / len(words)


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """A text as the places of its content words.

    Attributes:
        places: for each word where it stands, counted in content words, in ascending order.
        length: how many content words there are.
    """

    places: Mapping[str, Sequence[int]]
    length: int

    @classmethod
    def of(cls, text: str) -> WordPlaces:
        """The places of a text's words."""
        words = content_words(text)
        places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            places[word].append(place)
        return cls(dict(places), len(words))

    def best_share(self, weights: Mapping[str, float], window: int = WINDOW) -> float:
        """The largest weighted share of some words that stands within `window` words of the
        text, 0 to 1.
        """
        total = sum(weights.values())
        hits: list[tuple[int, str]] = []
        for word in weights:
            for place in self.places.get(word, ()):
                hits.append((place, word))
        hits.sort()
        if not total or not hits:
            return 0.0
        counts: Counter[str] = Counter()
        weight = best = 0.0
        oldest = 0
        for place, word in hits:
            counts[word] += 1
            if counts[word] == 1:
                weight += weights[word]
            while hits[oldest][0] <= place - window:
                leaving = hits[oldest][1]
                counts[leaving] -= 1
                if counts[leaving] == 0:
                    weight -= weights[leaving]
                oldest += 1
            best = max(best, weight)
        return min(best / total, 1.0)
