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
    if denies(forbidden):
        return forbidden
    return f"do not {sentence}"


def demands(sentence: str) -> bool:
    """Whether a sentence tells somebody what to do or not to do, and has an opposite."""
    without_quotations = _QUOTED.sub("", sentence)
    parts = without_quotations.split("? ")
    if not any(map(_is_demand, parts)):
        return False
    opposite = flipped(sentence)
    return denies(sentence) != denies(opposite)


def _is_demand(part: str) -> bool:
    if not _DEMANDS.search(part):
        return False
    return not _NO_DEMAND.search(part)


@lru_cache(maxsize=10_000)
def words_of(sentence: str) -> Mapping[str, float]:
    """The words of a sentence by weight, without endings and without what any demand says."""
    weights: dict[str, float] = {}
    for number, part in enumerate(CONTRAST_MARK.split(sentence)):
        weight = 1.0
        if number:
            weight = CONTRAST
        chunks = filter(is_chunk, tokens(part))
        for chunk in chunks:
            for name in features_of(chunk):
                if name[0] == "=" or name in _GENERIC:
                    continue
                weights.setdefault(name, weight)
    return weights


def denies(sentence: str) -> bool:
    """Whether a sentence forbids: a negation comes before its first specific word."""
    specific_words = words_of(sentence).keys()
    place = 0
    last_negation = -BEFORE - 1
    with_plain_marks = sentence.replace("’", "'")
    for token in tokens(with_plain_marks):
        place += STEP.get(token, 1)
        if token.lower() in NEGATIONS:
            last_negation = place
            continue
        if not is_chunk(token):
            continue
        features = features_of(token)
        if not specific_words.isdisjoint(features):
            break
    distance = place - last_negation
    return distance <= BEFORE


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
        self,
        items: Sequence[Item],
        kind: ItemKind,
        vocabulary: Vocabulary,
        width: int,
    ) -> None:
        rows: list[tuple[int, int, float]] = []
        cell_count = len(items) * width
        self._weight_of_all_words = np.ones(cell_count)
        self._denied = np.zeros(cell_count, dtype=bool)
        self._is_directed = kind == "rule"
        for number, item in enumerate(items):
            if item.kind != kind:
                continue
            first_cell = number * width
            for cell, text in enumerate(item.candidates, start=first_cell):
                weights = words_of(text)
                for name, weight in weights.items():
                    feature = vocabulary.features[name]
                    rows.append((feature, cell, weight))
                weight_of_all = sum(weights.values())
                self._weight_of_all_words[cell] = weight_of_all or np.inf
                self._denied[cell] = denies(text)
        rows.sort()
        table = np.array(rows, dtype=np.float64)
        features, sentences, weights_of_rows = table.reshape(-1, 3).T
        self._feature = features.astype(np.int64)
        self._sentence = sentences.astype(np.int64)
        self._weight = weights_of_rows

    def hits(self, lines: Lines) -> Hits:
        """The share of each sentence's words in each line's best window, where it is enough.

        Where it matters what a line means, the opposite counts 0.
        """
        is_sought = np.isin(lines.feature, self._feature)
        row = np.flatnonzero(is_sought)
        match, word = joined(lines.feature[row], self._feature)
        row = row[match]
        line_count = max(lines.count, 1)
        line = lines.feature_line[row]
        position = lines.feature_pos[row]
        step = position - lines.start[line]
        place = self._sentence[word] * line_count + line
        # two rows of windows, the second shifted by half a window
        places: list[Ints] = []
        shares: list[Floats] = []
        for shift in (0, WINDOW // 2):
            window = (step + shift) // WINDOW
            window_place, window_share = self._in_windows(
                lines,
                place,
                window,
                position,
                word,
            )
            places.append(window_place)
            shares.append(window_share)
        place = np.concatenate(places)
        share = np.concatenate(shares)
        is_stated = share >= ENOUGH
        place = place[is_stated]
        return Hits(
            cell=place // line_count,
            line=place % line_count,
            score=share[is_stated],
        )

    def _in_windows(
        self,
        lines: Lines,
        place: Ints,
        window: Ints,
        position: Ints,
        word: Ints,
    ) -> tuple[Ints, Floats]:
        """The place (sentence and line) of each window, and its share of the sentence's words."""
        if not len(place):
            return place, np.zeros(0)
        window_count = int(window.max()) + 1
        window_key = place * window_count + window
        word_count = len(self._feature)
        words = np.sort(window_key * word_count + word)
        # each once; `np.unique` hashes them and takes twenty times as long
        words = words[starts(words)]
        window_of_word = words // word_count
        window_starts = starts(window_of_word)
        windows = window_of_word[window_starts]
        place_of_window = windows // window_count
        sentence = place_of_window // max(lines.count, 1)
        weights = self._weight[words % word_count]
        weight = np.add.reduceat(weights, window_starts)
        share = weight / self._weight_of_all_words[sentence]
        if self._is_directed:
            farthest = np.iinfo(np.int64).max
            first_word = np.full(len(windows), farthest)
            window_number = np.searchsorted(windows, window_key)
            np.minimum.at(first_word, window_number, position)
            is_negated = lines.negated_before(first_word, BEFORE)
            is_same_sense = is_negated == self._denied[sentence]
            share = np.where(is_same_sense, share, 0.0)
        return place_of_window, share
