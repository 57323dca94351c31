"""The chance that a real model answers a written question right from a context, from features that a person can check.

No model reads. A logistic function of how much of the answer's points stands in the context, and how near together, was
fitted to answers that real models gave (`work_reader.json` says which). `workbench judge fit` fits it anew.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import TypeAdapter

from workbench.errors import FormatError
from workbench.extraction.lexicon import STOP
from workbench.metrics.work_exam.question import WorkQuestion
from workbench.metrics.work_exam.word_cover import SHORTEST, Rarity, content_words
from workbench.metrics.work_exam.word_windows import ANYWHERE, PlacedWords, WordWindow, WordWindows
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
class ReadText:
    """A text, or a part of one, as the fitted reader sees it.

    Attributes:
        content: its content words.
        words: how many words of any kind it has.
        small_words: those of them that join others and name nothing.
    """

    content: Sequence[str]
    words: int
    small_words: int

    @classmethod
    def of(cls, text: str) -> ReadText:
        """A text, read once."""
        counts = Counter(_RAW_WORD.findall(text.lower()))
        small = sum(count for word, count in counts.items() if word in STOP or len(word) < SHORTEST)
        return cls(content_words(text), counts.total(), small)


@dataclass(frozen=True, slots=True)
class ReadContext:
    """A context as the fitted reader sees it.

    Attributes:
        content: its content words.
        prose: the share of its words that join others and name nothing, 0 to 1.
    """

    content: Sequence[str]
    prose: float

    @classmethod
    def of(cls, text: str) -> ReadContext:
        """A context's text, read once."""
        read = ReadText.of(text)
        return cls(read.content, read.small_words / max(read.words, 1))


@dataclass(frozen=True, slots=True)
class WeightedQuestion:
    """A question with the weights of its words, which are the same for every context of a history.

    Attributes:
        asked: of the question's words.
        points: of each point's.
        answer: of the full answer's.
    """

    asked: Mapping[str, float]
    points: tuple[Mapping[str, float], ...]
    answer: Mapping[str, float]

    @classmethod
    def of(cls, question: str, gold: str, points: Sequence[str], rarity: Rarity) -> WeightedQuestion:
        """A question to a history.

        Words of an answer that stand in its question count only where nothing else is left: a context that has them
        does not answer by that.
        """
        asked = rarity.weights(question)
        weighted_points = tuple(_new_words(rarity.weights(point), asked) for point in points)
        return cls(asked, weighted_points, _new_words(rarity.weights(gold), asked))

    @property
    def wanted(self) -> list[WordWindow]:
        """What is looked for in a context: the points three times, then the answer and the question."""
        half_asked = {word: weight / 2 for word, weight in self.asked.items()}
        near = []
        for window in (WIDE, NARROW, ANYWHERE):
            for point in self.points:
                near.append(WordWindow(point, window))
        return [
            *near,
            WordWindow(self.answer, WIDE),
            WordWindow({**half_asked, **self.answer}, WIDE),
            WordWindow(self.asked, WIDE),
        ]

    def features(self, shares: Sequence[float], prose: float) -> list[float]:
        """The values of `FEATURES`.

        Args:
            shares: how much of each of `wanted` a context has.
            prose: of the context.
        """
        points = len(self.points)
        near, close, anywhere = (shares[start : start + points] for start in (0, points, 2 * points))
        answer, answer_with_question, asked = shares[3 * points :]
        return [
            _mean(near),
            min(near),
            _mean(close),
            min(close),
            _mean(anywhere),
            min(anywhere),
            answer,
            answer_with_question,
            asked,
            prose,
            points / 4,
        ]


class QuestionSheet:
    """The questions of one boundary, for any number of contexts.

    Args:
        questions: weighted by the boundary's history.
        vocabulary: a number for each of their words; None numbers them.
    """

    def __init__(self, questions: Sequence[WeightedQuestion], vocabulary: Mapping[str, int] | None = None) -> None:
        self._questions = questions
        by_question = [question.wanted for question in questions]
        self._ends = list(accumulate(map(len, by_question)))
        wanted = list(chain.from_iterable(by_question))
        words = dict.fromkeys(word for part in wanted for word in part.weights)
        self.vocabulary = {word: number for number, word in enumerate(words)} if vocabulary is None else vocabulary
        self._windows = WordWindows(wanted, self.vocabulary)

    def features(self, words: PlacedWords, prose: float) -> list[list[float]]:
        """For each question the values of `FEATURES` for a context, each about 0 to 1."""
        shares = self._windows.best_shares(words).tolist()
        parts = pairwise((0, *self._ends))
        return [
            question.features(shares[start:end], prose)
            for question, (start, end) in zip(self._questions, parts, strict=True)
        ]


def features(question: str, gold: str, points: Sequence[str], context: ReadContext, rarity: Rarity) -> list[float]:
    """The values of `FEATURES` for one question and one context."""
    sheet = QuestionSheet([WeightedQuestion.of(question, gold, points, rarity)])
    return sheet.features(PlacedWords.of(context.content, sheet.vocabulary), context.prose)[0]


def _new_words(weights: Mapping[str, float], asked: Mapping[str, float]) -> Mapping[str, float]:
    new = {word: weight for word, weight in weights.items() if word not in asked}
    return new or weights


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


TextKind: TypeAlias = Literal["model", "rule", "cut"]
"""Who made a context: a model wrote a summary, a rule wrote one, or messages were only cut."""
RULES = ("extractive", "the strategy's stand-in")
"""Writers of summaries that are no models."""


def text_kind(writer: str) -> TextKind:
    """The kind of context that a writer of summaries makes: a model's name, several with ` + `, or nothing."""
    if not writer:
        return "cut"
    return "rule" if all(name in RULES for name in writer.split(" + ")) else "model"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Promised chances beside real readers' answers: means over so many answers of one kind of context."""

    promised: float
    real: float
    answers: int

    @property
    def bias(self) -> float:
        """How much too high the promise is; below 0 where it is too low."""
        return self.promised - self.real


@dataclass(frozen=True, slots=True)
class LeftOutCheck:
    """How well answers of projects that were left out of the fit are foretold.

    Attributes:
        auc: how often a right answer has a higher chance than a wrong one.
        order: Spearman correlation of the strategies' means within a recording.
        kinds: the calibration of each kind of context.
    """

    auc: float
    order: float
    kinds: Mapping[TextKind, Calibration]


@dataclass(frozen=True, slots=True)
class WorkReader:
    """A fitted reader.

    Attributes:
        weights: one a feature, by name; `bias` beside them.
        fitted_on: what it was fitted to, for people: answers, contexts, recordings, projects, the readers' model.
        left_out: how it does on projects that it was not fitted to; None where nobody looked.
    """

    weights: Mapping[str, float]
    bias: float
    fitted_on: Mapping[str, Any]
    left_out: LeftOutCheck | None = None

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
            **({} if self.left_out is None else {"left_out": _rounded(asdict(self.left_out))}),
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
        left_out = document.get("left_out")
        check = None if left_out is None else _CHECK.validate_python(left_out)
        return cls(weights, float(document["bias"]), document["fitted_on"], check)


_CHECK = TypeAdapter(LeftOutCheck)


def _rounded(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A document with its numbers to four places."""
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


@cache
def shipped_reader() -> WorkReader:
    """The reader that ships with the package."""
    text = files("workbench.metrics.work_exam").joinpath("work_reader.json").read_text("utf-8")
    return WorkReader._of(json.loads(text))
