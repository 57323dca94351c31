"""Whether lines state a sentence, also in other words, and whether they mean it or its opposite."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from workbench.base.ragged import Floats, Ints
from workbench.evaluation.metrics.exam.closeness import Hits, starts
from workbench.evaluation.metrics.exam.item import Item, ItemKind
from workbench.evaluation.metrics.exam.lexicon import DEMANDING, NEGATIONS
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.names import joined
from workbench.evaluation.metrics.exam.tokens import features_of, is_chunk, stem, tokens
from workbench.evaluation.metrics.exam.vocabulary import STEP, Vocabulary

ENOUGH = 0.5
"""The share of a sentence's words that must stand within `WINDOW`."""
WINDOW = 60
"""In the steps of `tokens.STEP`: some thirty words."""
CONTRAST = 0.5
"""What the words of a contrast count (", not imperial", "rather than ..."): a paraphrase leaves
them out first.
"""
BEFORE = 10
"""How far before a sentence's first word its negation may stand."""

_GENERIC = frozenset(map(stem, DEMANDING | NEGATIONS))
CONTRAST_MARK = re.compile(
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
    """The opposite demand: a prohibition without its negation, anything else forbidden."""
    if denies(sentence):
        return _FIRST_NEGATION.sub("", sentence, count=1)
    forbidden = _MODAL.sub(r"\1 not", sentence, count=1)
    for words, opposite in _OPPOSITES:
        if not denies(forbidden):
            forbidden = words.sub(opposite, sentence, count=1)
    return forbidden if denies(forbidden) else f"do not {sentence}"


def demands(sentence: str) -> bool:
    """Whether a sentence tells somebody what to do or not to do, and has an opposite."""
    parts = _QUOTED.sub("", sentence).split("? ")
    is_demand = any(_DEMANDS.search(part) and not _NO_DEMAND.search(part) for part in parts)
    return is_demand and denies(sentence) != denies(flipped(sentence))


@lru_cache(maxsize=10_000)
def words_of(sentence: str) -> Mapping[str, float]:
    """The words of a sentence by weight, without endings and without what any demand says."""
    weights: dict[str, float] = {}
    for number, part in enumerate(CONTRAST_MARK.split(sentence)):
        weight = CONTRAST if number else 1.0
        for chunk in filter(is_chunk, tokens(part)):
            for name in features_of(chunk):
                if name[0] != "=" and name not in _GENERIC:
                    weights.setdefault(name, weight)
    return weights


def denies(sentence: str) -> bool:
    """Whether a sentence forbids: a negation comes before its first specific word."""
    specific_words = words_of(sentence).keys()
    place = 0
    last_negation = -BEFORE - 1
    for token in tokens(sentence.replace("’", "'")):
        place += STEP.get(token, 1)
        if token.lower() in NEGATIONS:
            last_negation = place
        elif is_chunk(token) and not specific_words.isdisjoint(features_of(token)):
            break
    return place - last_negation <= BEFORE


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
        cell_count = len(items) * width
        self._weight_of_all_words = np.ones(cell_count)
        self._denied = np.zeros(cell_count, dtype=bool)
        self._is_directed = kind == "rule"
        for number, item in enumerate(items):
            if item.kind != kind:
                continue
            for cell, text in enumerate(item.candidates, start=number * width):
                weights = words_of(text)
                for name, weight in weights.items():
                    rows.append((vocabulary.features[name], cell, weight))
                self._weight_of_all_words[cell] = sum(weights.values()) or np.inf
                self._denied[cell] = denies(text)
        columns = np.array(sorted(rows), dtype=np.float64).reshape(-1, 3).T
        self._feature = columns[0].astype(np.int64)
        self._sentence = columns[1].astype(np.int64)
        self._weight = columns[2]

    def hits(self, lines: Lines) -> Hits:
        """The share of each sentence's words in each line's best window, where it is enough.

        Where it matters what a line means, the opposite counts 0.
        """
        row = np.flatnonzero(np.isin(lines.feature, self._feature))
        match, word = joined(lines.feature[row], self._feature)
        row = row[match]
        line_count = max(lines.count, 1)
        line = lines.feature_line[row]
        position = lines.feature_pos[row]
        step = position - lines.start[line]
        place = self._sentence[word] * line_count + line
        # two rows of windows, the second shifted by half a window
        windows = step // WINDOW
        place_in_first, share_in_first = self._in_windows(lines, place, windows, position, word)
        windows = (step + WINDOW // 2) // WINDOW
        place_in_second, share_in_second = self._in_windows(lines, place, windows, position, word)
        place = np.concatenate((place_in_first, place_in_second))
        share = np.concatenate((share_in_first, share_in_second))
        is_stated = share >= ENOUGH
        place = place[is_stated]
        return Hits(place // line_count, place % line_count, share[is_stated])

    def _in_windows(
        self, lines: Lines, place: Ints, window: Ints, position: Ints, word: Ints
    ) -> tuple[Ints, Floats]:
        """The place (sentence and line) of each window, and its share of the sentence's words."""
        if not len(place):
            return place, np.zeros(0)
        window_count = int(window.max()) + 1
        window_key = place * window_count + window
        words = np.sort(window_key * len(self._feature) + word)
        # each once; `np.unique` hashes them and takes twenty times as long
        words = words[starts(words)]
        window_starts = starts(words // len(self._feature))
        windows = words[window_starts] // len(self._feature)
        sentence = windows // window_count // max(lines.count, 1)
        weights = self._weight[words % len(self._feature)]
        share = np.add.reduceat(weights, window_starts) / self._weight_of_all_words[sentence]
        if self._is_directed:
            first_word = np.full(len(windows), np.iinfo(np.int64).max)
            np.minimum.at(first_word, np.searchsorted(windows, window_key), position)
            is_negated = lines.negated_before(first_word, BEFORE)
            share = np.where(is_negated == self._denied[sentence], share, 0.0)
        return windows // window_count, share
