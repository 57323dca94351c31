"""The questions of a sheet beside a context: how much of each answer stands there, how near
together, and how much of the other answers, in features that a person can check.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Protocol, Self

import numpy as np

from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.read_context import PlacedContext, ReadContext
from workbench.evaluation.metrics.work_exam.word_cover import content_words
from workbench.evaluation.metrics.work_exam.word_windows import (
    ANYWHERE,
    PlacedWords,
    WordWindow,
    WordWindows,
)

SENTENCE, PHRASE, PAIR = 25, 10, 5
"""Content words of a context within which words must stand: of a sentence or two, of a phrase,
of a pair.
"""
SENTENCES = 2
"""Sentences in a row in which an answer must stand."""
FEATURES = (
    "answer_close",
    "answer_in_sentences",
    "points_close",
    "points_stated",
    "pairs_least",
    "others_stated",
    "new_words",
)
"""What the reader looks at; docs/reference/fitted-reader.md has a sentence on each."""
COMPLETE = 1 - 1e-9
"""A share above it has all words."""
JUMBLED = 0.64
"""What jumbled lines (`WordOrder`) count for: this share of what they add to each feature. It was
fitted to answers from salads and telegrams of ten projects (reports/studies/reader-guard).
"""


class AskedQuestion(Protocol):
    """What the reader needs of a question: its text, a full answer, and the points that an
    answer must have.
    """

    @property
    def question(self) -> str:
        """As it is asked."""

    @property
    def gold(self) -> str:
        """A full answer."""

    @property
    def points(self) -> tuple[str, ...]:
        """What an answer must have, each a few words."""


@dataclass(frozen=True, slots=True)
class AnswerCover:
    """How much of one answer a context has, each a share of its words: see `FEATURES`."""

    answer_close: float
    answer_in_sentences: float
    points_close: float
    points_stated: float
    pairs_least: float
    stated_anywhere: float


@dataclass(frozen=True, slots=True)
class WeightedQuestion:
    """A question with the weights of its words, which are the same for every context of a history.

    Attributes:
        points: the words of each point.
        pairs: for each point its pairs of neighbouring words; a point of one word is taken whole.
        answer: the words of the full answer, and at half their weight those of the question.
        new_words: the share of the answer's words that the history never has.
    """

    points: Sequence[Mapping[str, float]]
    pairs: Sequence[Sequence[Mapping[str, float]]]
    answer: Mapping[str, float]
    new_words: float

    @classmethod
    def of(cls, question: str, gold: str, points: Sequence[str], rarity: Rarity) -> Self:
        """A question to a history.

        Words of an answer that stand in its question count only where nothing else is left: a
        context that has them does not answer by that.
        """
        question_weights = rarity.weights(question)
        answer = _beyond_question(rarity.weights(gold), question_weights)
        weighted_points: list[Mapping[str, float]] = []
        pairs: list[Sequence[Mapping[str, float]]] = []
        for point in points:
            point_weights = rarity.weights(point)
            weights = _beyond_question(point_weights, question_weights)
            weighted_points.append(weights)
            pairs_of_point = _pairs(point)
            if not pairs_of_point:
                pairs_of_point = [weights]
            pairs.append(pairs_of_point)
        new_word_count = sum(not rarity.knows(word) for word in answer)
        word_count = max(len(answer), 1)
        half_weights: dict[str, float] = {}
        for word, weight in question_weights.items():
            half_weights[word] = weight / 2
        return cls(
            points=weighted_points,
            pairs=pairs,
            answer=half_weights | answer,
            new_words=new_word_count / word_count,
        )

    @property
    def in_words(self) -> list[WordWindow]:
        """What is looked for in all words: the answer, each point, then all pairs."""
        answer = WordWindow(self.answer, SENTENCE)
        points = _windows(self.points, PHRASE)
        all_pairs = chain.from_iterable(self.pairs)
        pairs = _windows(all_pairs, PAIR)
        return [answer, *points, *pairs]

    @property
    def in_statements(self) -> list[WordWindow]:
        """What is looked for in lines that state something: each point twice."""
        in_phrases = _windows(self.points, PHRASE)
        anywhere = _windows(self.points, ANYWHERE)
        return in_phrases + anywhere

    def cover(
        self,
        in_words: Sequence[float],
        in_statements: Sequence[float],
        in_sentences: float,
    ) -> AnswerCover:
        """How much of the answer a context has.

        Args:
            in_words: the shares of `in_words`.
            in_statements: the shares of `in_statements`.
            in_sentences: the share of `answer` in neighbouring sentences.
        """
        point_count = len(self.points)
        first_pair = 1 + point_count
        of_points = in_words[1:first_pair]
        of_pairs = in_words[first_pair:]
        in_phrases = in_statements[:point_count]
        anywhere = in_statements[point_count:]
        return AnswerCover(
            answer_close=in_words[0],
            answer_in_sentences=in_sentences,
            points_close=_mean(of_points),
            points_stated=_mean(in_phrases),
            pairs_least=min(self._shares_of_complete_pairs(of_pairs)),
            stated_anywhere=_mean(anywhere),
        )

    def _shares_of_complete_pairs(self, in_pairs: Sequence[float]) -> Iterator[float]:
        """For each point the share of its pairs of which both words are there.

        Args:
            in_pairs: the share of each pair, point after point.
        """
        start = 0
        for pairs in self.pairs:
            end = start + len(pairs)
            complete_count = 0
            for share in in_pairs[start:end]:
                if share > COMPLETE:
                    complete_count += 1
            yield complete_count / len(pairs)
            start = end


class QuestionSheet:
    """The questions of one boundary, for any number of contexts.

    Args:
        questions: weighted by the boundary's history.
        vocabulary: a number for each of their words; None numbers them.
    """

    def __init__(
        self,
        questions: Sequence[WeightedQuestion],
        vocabulary: Mapping[str, int] | None = None,
    ) -> None:
        self._questions = questions
        in_words: list[list[WordWindow]] = []
        in_statements: list[list[WordWindow]] = []
        in_sentences: list[WordWindow] = []
        for question in questions:
            answer_window = WordWindow(question.answer, SENTENCES)
            in_words.append(question.in_words)
            in_statements.append(question.in_statements)
            in_sentences.append(answer_window)
        if vocabulary is None:
            sets = chain(*in_words, *in_statements, in_sentences)
            vocabulary = _numbered(sets)
        self.vocabulary = vocabulary
        self._in_words = _SheetWindows(in_words, self.vocabulary)
        self._in_statements = _SheetWindows(in_statements, self.vocabulary)
        self._in_sentences = WordWindows(in_sentences, self.vocabulary)

    def features(
        self, context: PlacedContext, orderly: PlacedContext | None = None
    ) -> list[list[float]]:
        """For each question the values of `FEATURES` for a context, each about 0 to 1.

        Args:
            context: any.
            orderly: the same without its jumbled lines; None where it has none.
        """
        rows = self._rows(context)
        if orderly is None:
            return rows
        of_orderly = np.array(self._rows(orderly))
        of_all = np.array(rows)
        added = of_all - of_orderly
        mixed = of_orderly + JUMBLED * added
        mixed_rows: list[list[float]] = mixed.tolist()
        return mixed_rows

    def _rows(self, context: PlacedContext) -> list[list[float]]:
        covers = self._covers(context)
        stated_anywhere = [cover.stated_anywhere for cover in covers]
        rows: list[list[float]] = []
        for number, question in enumerate(self._questions):
            cover = covers[number]
            stated_before = stated_anywhere[:number]
            stated_behind = stated_anywhere[number + 1 :]
            stated_of_others = stated_before + stated_behind
            if not stated_of_others:
                stated_of_others = stated_anywhere
            values = [
                # the first words of an answer tell more than the last
                math.sqrt(cover.answer_close),
                math.sqrt(cover.answer_in_sentences),
                math.sqrt(cover.points_close),
                cover.points_stated,
                cover.pairs_least,
                _mean(stated_of_others),
                question.new_words,
            ]
            rows.append(values)
        return rows

    def _covers(self, context: PlacedContext) -> list[AnswerCover]:
        """How much of each answer a context has."""
        in_words = self._in_words.shares(context.words)
        in_statements = self._in_statements.shares(context.statements)
        shares_in_sentences = self._in_sentences.best_shares(context.sentences)
        in_sentences = shares_in_sentences.tolist()
        covers: list[AnswerCover] = []
        for number, question in enumerate(self._questions):
            cover = question.cover(
                in_words[number],
                in_statements[number],
                in_sentences[number],
            )
            covers.append(cover)
        return covers


class _SheetWindows:
    """Looks for the words of each question of a sheet."""

    def __init__(
        self,
        by_question: Sequence[Sequence[WordWindow]],
        vocabulary: Mapping[str, int],
    ) -> None:
        counts = [len(windows) for windows in by_question]
        self._bounds = list(accumulate(counts, initial=0))
        all_windows = list(chain.from_iterable(by_question))
        self._windows = WordWindows(all_windows, vocabulary)

    def shares(self, words: PlacedWords) -> list[list[float]]:
        """For each question the share of each of its sets of words."""
        shares = self._windows.best_shares(words).tolist()
        return [shares[start:end] for start, end in pairwise(self._bounds)]


def features(questions: Sequence[AskedQuestion], text: str, rarity: Rarity) -> list[list[float]]:
    """For each question of a sheet the values of `FEATURES`.

    Args:
        questions: all that are asked about a boundary; each says something of how much the context
            tells.
        text: of a context.
        rarity: of the words of the history.
    """
    weighted_questions: list[WeightedQuestion] = []
    for question in questions:
        weighted = WeightedQuestion.of(
            question.question,
            question.gold,
            question.points,
            rarity,
        )
        weighted_questions.append(weighted)
    sheet = QuestionSheet(weighted_questions)
    read_context = ReadContext.of(text)
    context = PlacedContext.of(read_context, sheet.vocabulary)
    lines = text.split("\n")
    orderly_lines = [line for line in lines if not rarity.order.is_jumbled(line)]
    if len(orderly_lines) == len(lines):
        return sheet.features(context)
    orderly_text = "\n".join(orderly_lines)
    orderly_context = ReadContext.of(orderly_text)
    orderly = PlacedContext.of(orderly_context, sheet.vocabulary)
    return sheet.features(context, orderly)


def _windows(sets: Iterable[Mapping[str, float]], window: int) -> list[WordWindow]:
    """Several sets of words that must stand within the same window."""
    return [WordWindow(weights, window) for weights in sets]


def _numbered(sets: Iterable[WordWindow]) -> dict[str, int]:
    """A number for each word of some sets."""
    numbers: dict[str, int] = {}
    for word_set in sets:
        for word in word_set.weights:
            if word not in numbers:
                numbers[word] = len(numbers)
    return numbers


def _beyond_question(
    weights: dict[str, float],
    question_weights: Mapping[str, float],
) -> dict[str, float]:
    """The words that a question does not have; all of them where it has all."""
    other_weights: dict[str, float] = {}
    for word, weight in weights.items():
        if word not in question_weights:
            other_weights[word] = weight
    return other_weights or weights


def _pairs(point: str) -> list[Mapping[str, float]]:
    """The pairs of neighbouring words of a point."""
    pairs: list[Mapping[str, float]] = []
    for word, follower in pairwise(content_words(point)):
        if word != follower:
            pair = {word: 1.0, follower: 1.0}
            pairs.append(pair)
    return pairs


def _mean(values: Sequence[float]) -> float:
    if not values:
        return 0.0
    return sum(values) / len(values)
