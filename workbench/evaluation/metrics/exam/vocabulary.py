"""Numbers for tokens, segments and features, and what is known of each token."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.base.ragged import Ints, ranges
from workbench.evaluation.metrics.exam.lexicon import DENIES, NEGATIONS, REPLACES, RETIRES, TURNS
from workbench.evaluation.metrics.exam.tokens import features_of, is_chunk, segments_of, tokens

_STEPS = {",()[]{}": 3, ";.!?|": 8, ":%": 1, "\n": 60}
"""What marks add to the distance of what stands on both their sides: a label is near, another
sentence is far.
"""
STEP = {mark: step for marks, step in _STEPS.items() for mark in marks}
"""What each mark adds to the distance; a chunk adds one."""
_DENIAL = {
    "from": 4,
    "to": 5,
    **dict.fromkeys(DENIES, 1),
    **dict.fromkeys(REPLACES, 2),
    **dict.fromkeys(RETIRES, 3),
}
Small = NDArray[np.int8]


class Numbers(dict[str, int]):
    """Numbers for strings, in the order in which they are first met.

    Attributes:
        texts: the strings, by number.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        self.texts.append(text)
        return number


class Properties(NamedTuple):
    """What is known of some tokens, wherever they stand: a value for each.

    Attributes:
        step: what it adds to the distance of what stands on both its sides.
        denial: 1 for a word of `DENIES`, 2 for one of `REPLACES`, 3 for one of `RETIRES`, 4 for
            `from`, 5 for `to`, 0 for all others.
    """

    step: Small
    denial: Small
    is_chunk: Small
    ends_line: Small
    ends_clause: Small
    turns: Small
    negates: Small


class _Parts:
    """The numbers of each token's parts, in one flat array: sessions have a million tokens."""

    def __init__(self) -> None:
        self.numbers = Numbers()
        self._flat = array("q")
        self._ends = array("q", [0])

    def add(self, texts: Sequence[str]) -> None:
        """Add the parts of the next token."""
        for text in texts:
            self._flat.append(self.numbers[text])
        self._ends.append(len(self._flat))

    def of_token(self, token: int) -> array[int]:
        """The numbers of the parts of a token."""
        start = self._ends[token]
        end = self._ends[token + 1]
        return self._flat[start:end]

    def of_tokens(self, tokens: Ints) -> tuple[Ints, Ints]:
        """The numbers of the parts of some tokens, and the row of the token that each belongs to."""
        # no name for what shows an array as numpy's: while it lives, the array cannot grow
        starts = np.frombuffer(self._ends, dtype=np.int64)[tokens]
        ends = np.frombuffer(self._ends, dtype=np.int64)[tokens + 1]
        row, place = ranges(starts, ends - starts)
        return np.frombuffer(self._flat, dtype=np.int64)[place], row


class Vocabulary(dict[str, int]):
    """The numbers of tokens, segments and features; it grows with what is read."""

    def __init__(self) -> None:
        super().__init__()
        self._segments = _Parts()
        self._features = _Parts()
        self._properties = array("b")

    @property
    def features(self) -> Numbers:
        """The numbers of features."""
        return self._features.numbers

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        word = text.lower().replace("’", "'")
        segments: Sequence[str] = ()
        features: Sequence[str] = ()
        if is_chunk(text):
            segments = segments_of(text)
            features = features_of(text)
        self._segments.add(segments)
        self._features.add(features)
        properties = (
            STEP.get(text, 1),
            _DENIAL.get(word, 0),
            is_chunk(text),
            text == "\n",
            text in ";.)|",
            word in TURNS,
            word in NEGATIONS,
        )
        self._properties.extend(properties)
        return number

    def properties(self, tokens: Ints) -> Properties:
        """What is known of some tokens, by number."""
        shape = (-1, len(Properties._fields))
        rows = np.frombuffer(self._properties, dtype=np.int8).reshape(shape)[tokens]
        return Properties(*rows.T)

    def segments_of(self, tokens: Ints) -> tuple[Ints, Ints]:
        """The segments of some tokens, and the row of the token that each belongs to."""
        return self._segments.of_tokens(tokens)

    def features_of(self, tokens: Ints) -> tuple[Ints, Ints]:
        """The features of some tokens, and the row of the token that each belongs to."""
        return self._features.of_tokens(tokens)

    def phrase(self, name: str) -> tuple[int, ...]:
        """The segments of a name."""
        segments: list[int] = []
        for text in tokens(name):
            segments += self._segments.of_token(self[text])
        return tuple(segments)
