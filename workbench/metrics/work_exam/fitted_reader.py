"""The chance that a real model answers a written question right from a context, from features that a person can check.

No model reads. A logistic function of how much of the answer's points stands in the context, and how near together, was
fitted to answers that real models gave (`work_reader.json` says which). `workbench judge fit` fits it anew.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.errors import FormatError
from workbench.extraction.lexicon import STOP
from workbench.metrics.work_exam.question import WorkQuestion
from workbench.metrics.work_exam.word_cover import SHORTEST, Rarity, WordPlaces
from workbench.ragged import Floats

WIDE, NARROW = 80, 25
"""Words of a context in which a point must stand, for a paragraph and for a sentence or two."""
FEATURES = (
    "points_near_mean",
    "points_near_least",
    "points_close_mean",
    "points_close_least",
    "points_anywhere_mean",
    "points_anywhere_least",
    "answer_near",
    "answer_with_question_near",
    "question_near",
    "prose",
    "points",
)
"""`near` is the best share within `WIDE` words, `close` within `NARROW`, `anywhere` in the whole context.

`prose` is the share of small words such as `the`, which a list of names lacks; `points` is their number.
"""
VERSION = 1
_RAW_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class ReadContext:
    """A context as the fitted reader sees it.

    Attributes:
        places: of its content words.
        prose: the share of its words that join others and name nothing, 0 to 1.
    """

    places: WordPlaces
    prose: float

    @classmethod
    def of(cls, text: str) -> ReadContext:
        """A context's text, read once."""
        words = _RAW_WORD.findall(text.lower())
        small = sum(1 for word in words if word in STOP or len(word) < SHORTEST)
        return cls(WordPlaces.of(text), small / max(len(words), 1))


def features(question: str, gold: str, points: Sequence[str], context: ReadContext, rarity: Rarity) -> list[float]:
    """The values of `FEATURES` for one question and one context, each about 0 to 1.

    Words of an answer that stand in its question count only where nothing else is left: a context that has them does
    not answer by that.
    """
    asked = rarity.weights(question)
    places = context.places
    near, close, anywhere = [], [], []
    for point in points:
        weights = _new_words(rarity.weights(point), asked)
        near.append(places.best_share(weights, WIDE))
        close.append(places.best_share(weights, NARROW))
        anywhere.append(places.share_anywhere(weights))
    answer = _new_words(rarity.weights(gold), asked)
    half_asked = {word: weight / 2 for word, weight in asked.items()}
    return [
        _mean(near),
        min(near),
        _mean(close),
        min(close),
        _mean(anywhere),
        min(anywhere),
        places.best_share(answer, WIDE),
        places.best_share(half_asked | answer, WIDE),
        places.best_share(asked, WIDE),
        context.prose,
        len(points) / 4,
    ]


def _new_words(weights: dict[str, float], asked: Mapping[str, float]) -> dict[str, float]:
    new = {word: weight for word, weight in weights.items() if word not in asked}
    return new or weights


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@dataclass(frozen=True, slots=True)
class WorkReader:
    """A fitted reader.

    Attributes:
        weights: one a feature, by name; `bias` beside them.
        fitted_on: what it was fitted to, for people: answers, contexts, recordings, projects, the readers' model.
    """

    weights: Mapping[str, float]
    bias: float
    fitted_on: Mapping[str, Any]

    def probability(self, values: Sequence[float]) -> float:
        """The chance of a right answer for the values of `FEATURES`, 0 to 1."""
        total = self.bias + sum(self.weights[name] * value for name, value in zip(FEATURES, values, strict=True))
        return 1 / (1 + math.exp(-total))

    def chances(self, questions: Sequence[WorkQuestion], text: str, rarity: Rarity) -> Floats:
        """(questions,) the chance of a right answer to each question from a context's text."""
        context = ReadContext.of(text)
        return np.array(
            [
                self.probability(features(question.question, question.gold, question.points, context, rarity))
                for question in questions
            ]
        )

    def text(self) -> str:
        """The reader as the text of a JSON file."""
        document = {
            "version": VERSION,
            "features": {name: round(self.weights[name], 4) for name in FEATURES},
            "bias": round(self.bias, 4),
            "fitted_on": dict(self.fitted_on),
        }
        return json.dumps(document, indent=1) + "\n"

    @classmethod
    def read(cls, path: Path) -> Self:
        """The reader in a file.

        Raises:
            FormatError: it is none, or one of another version.
        """
        try:
            return cls._of(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(f"is no fitted reader of version {VERSION} ({error})", where=str(path)) from None

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Self:
        if document["version"] != VERSION:
            raise ValueError(f"it has version {document['version']!r}")
        weights = {name: float(document["features"][name]) for name in FEATURES}
        return cls(weights, float(document["bias"]), document["fitted_on"])


@cache
def shipped_reader() -> WorkReader:
    """The reader that ships with the package."""
    text = files("workbench.metrics.work_exam").joinpath("work_reader.json").read_text("utf-8")
    return WorkReader._of(json.loads(text))
