"""Whether lines state a sentence, also in other words, and whether they mean it or its opposite."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from workbench.base.ragged import Floats, Ints
from workbench.evaluation.metrics.exam.closeness import Hits, starts
from workbench.evaluation.metrics.exam.item import Item, ItemKind
from workbench.evaluation.metrics.exam.lexicon import DEMANDING, NEGATIONS
from workbench.evaluation.metrics.exam.tokens import (
    STEP,
    Lines,
    Vocabulary,
    features_of,
    is_chunk,
    joined,
    stem,
    tokens,
)

ENOUGH = 0.5
"""The share of a sentence's words that must lie within `WINDOW` of each other for it to be
stated.
"""
WINDOW = 60
"""In the steps of `tokens.STEP`: some thirty words."""
CONTRAST = 0.5
"""What the words of a contrast count (", not imperial", "rather than ..."): a paraphrase leaves
them out first.
"""
BEFORE = 10
"""How far before a sentence's first word its negation may stand."""

_GENERIC = frozenset(map(stem, DEMANDING | NEGATIONS))
_CONTRAST = re.compile(
    r",\s*(?=not |no |even |rather )|\s(?=over |rather than |instead of )", re.IGNORECASE
)
_FIRST_NEGATION = re.compile(
    r"\b(?:(?:do|does|must|should|may|can|will)\s+not|(?:do|does|must|should|ca|wo)n['’]t|cannot|never|not|no|avoid)\b\s*",
    re.IGNORECASE,
)
_MODAL = re.compile(r"\b(must|should|may|will|shall)\b", re.IGNORECASE)
_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), opposite)
    for words, opposite in (
        ("always", "never"),
        ("needs? to|ha(?:s|ve) to", "must not"),
        ("only", "not only"),
    )
)
_DEMANDS = re.compile(
    r"(?:^|[,;:—–]|\b(?:and|but|so|please|then|ok|okay|yes|instead|also|just)\b)[\W_]*"
    r"(?:do not|don['’]?t|never|always|avoid|keep|only|prefer|stick to|leave|use|no more than)\b"
    r"|\b(?:must|mustn['’]t|should|shouldn['’]t|has to|have to|needs? to|your task is to"
    r"|(?<!to )(?:make sure|ensure|be sure))\b"
    r"|\b(?:is|are) (?:forbidden|not allowed)\b|\b(?:you|it|they) (?:can['’]t|cannot|may not)\b"
    r"|\b(?:i|we) (?:do |don['’]t |do not )?want\b",
    re.IGNORECASE,
)
_NO_DEMAND = re.compile(
    r"^\W*(?:rather than|instead of|because|related|as expected|seems?|maybe|perhaps|not sure"
    r"|i (?:do not|don['’]t|can['’]t|cannot|think|guess|just)(?! want)|ok, i"
    r" think|like|why|what|how|which|who|where"
    r"|this means)\b"
    r"|\b(?:can|can['’]t|could|couldn['’]t|would|should|shouldn['’]t|does|doesn['’]t|did)"
    r" (?:the|this|that|these|those|it|we|you|i|they|there)\b|\bdo (?:we|you|i|they)\b"
    r"|\b(?:don['’]?t|do not|doesn['’]t|does not) (?:have|need) to\b"
    r"|^\S+\.\w+:\d+"
    r"|(?:\b(?:the|a|an|of|to|and|or|with|for|must|in|is|are|this|full)|[,:(—–-]|[\"'`][);,]+)$",
    re.IGNORECASE,
)
"""Questions, guesses, permissions, lines of tools and code, clauses that hang on another one or
are clipped.
"""
_QUOTED = re.compile(r"(?<!\w)(['\"]).{10,}?\1(?!\w)")


def flipped(sentence: str) -> str:
    """The sentence with the opposite demand: a prohibition without its negation, anything else
    forbidden.
    """
    if denies(sentence):
        return _FIRST_NEGATION.sub("", sentence, count=1)
    forbidden = _MODAL.sub(r"\1 not", sentence, count=1)
    for words, opposite in _OPPOSITES:
        forbidden = forbidden if denies(forbidden) else words.sub(opposite, sentence, count=1)
    return forbidden if denies(forbidden) else f"do not {sentence}"


def demands(sentence: str) -> bool:
    """Whether a sentence tells somebody what to do or not to do, rather than what is, and has an
    opposite.
    """
    parts = _QUOTED.sub("", sentence).split("? ")
    told = any(_DEMANDS.search(part) and not _NO_DEMAND.search(part) for part in parts)
    return told and denies(sentence) != denies(flipped(sentence))


@lru_cache(maxsize=10_000)
def words_of(sentence: str) -> Mapping[str, float]:
    """The words of a sentence by weight, without endings and without what any demand says."""
    found: dict[str, float] = {}
    for place, part in enumerate(_CONTRAST.split(sentence)):
        weight = CONTRAST if place else 1.0
        for token in tokens(part):
            for name in features_of(token) if is_chunk(token) else ():
                if name[0] != "=" and name not in _GENERIC:
                    found.setdefault(name, weight)
    return found


def denies(sentence: str) -> bool:
    """Whether a sentence forbids rather than demands: a negation comes before its first specific
    word.
    """
    wanted, place, negation = words_of(sentence), 0, -BEFORE - 1
    for token in tokens(sentence.replace("’", "'")):
        place += STEP.get(token, 1)
        if token.lower() in NEGATIONS:
            negation = place
        elif is_chunk(token) and not wanted.keys().isdisjoint(features_of(token)):
            break
    return place - negation <= BEFORE


class Sentences:
    """The items of one kind that are sentences, made ready to be looked up in lines.

    Args:
        items: of all kinds.
        kind: `rule` or `todo`. Of a rule it matters what a line means: one that forbids states no
            demand, and the other way round.
        vocabulary: of the lines.
        width: number of candidates of the largest item.
    """

    def __init__(
        self, items: Sequence[Item], kind: ItemKind, vocabulary: Vocabulary, width: int
    ) -> None:
        rows: list[tuple[int, int, float]] = []
        self._whole = np.ones(len(items) * width)
        self._denied = np.zeros(len(self._whole), dtype=bool)
        self._directed = kind == "rule"
        for i, item in enumerate(items):
            for c, text in enumerate(item.candidates if item.kind == kind else ()):
                cell, weights = i * width + c, words_of(text)
                rows += [
                    (vocabulary.features[name], cell, weight) for name, weight in weights.items()
                ]
                self._whole[cell] = sum(weights.values()) or np.inf
                self._denied[cell] = denies(text)
        feature, cells, self._weight = np.array(sorted(rows), dtype=np.float64).reshape(-1, 3).T
        self._feature, self._sentence = feature.astype(np.int64), cells.astype(np.int64)

    def hits(self, lines: Lines) -> Hits:
        """The share of each sentence's words in the best window of each line; lines without enough
        are left out.

        Where it matters what a line means, the opposite counts 0.
        """
        at = np.flatnonzero(np.isin(lines.feature, self._feature))
        known, row = joined(lines.feature[at], self._feature)
        at = at[known]
        place = self._sentence[row] * max(lines.count, 1) + lines.feature_line[at]
        step = lines.feature_pos[at] - lines.start[lines.feature_line[at]]
        halves = [
            self._in_windows(lines, place, (step + by) // WINDOW, lines.feature_pos[at], row)
            for by in (0, WINDOW // 2)
        ]
        place, share = (np.concatenate(column) for column in zip(*halves, strict=True))
        place, share = place[share >= ENOUGH], share[share >= ENOUGH]
        return Hits(place // max(lines.count, 1), place % max(lines.count, 1), share)

    def _in_windows(
        self, lines: Lines, place: Ints, window: Ints, pos: Ints, row: Ints
    ) -> tuple[Ints, Floats]:
        """The place (sentence and line) of each window, and the share of the sentence's words
        there.
        """
        if not len(place):
            return place, np.zeros(0)
        widest, n = int(window.max()) + 1, max(lines.count, 1)
        key = place * widest + window
        words = np.sort(key * len(self._feature) + row)
        # each once; `np.unique` hashes them and takes twenty times as long
        words = words[starts(words)]
        begin = starts(words // len(self._feature))
        windows = words[begin] // len(self._feature)
        sentence = windows // widest // n
        share = (
            np.add.reduceat(self._weight[words % len(self._feature)], begin) / self._whole[sentence]
        )
        if self._directed:
            foremost = np.full(len(windows), np.iinfo(np.int64).max)
            np.minimum.at(foremost, np.searchsorted(windows, key), pos)
            share = np.where(
                lines.negated_before(foremost, BEFORE) == self._denied[sentence], share, 0.0
            )
        return windows // widest, share
