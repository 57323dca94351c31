"""What leads to an answer, and what it could be mistaken for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, growing
from workbench.engine.extraction.entities import KINDS, Kind
from workbench.evaluation.metrics.exam.closeness import REACH, Cues, agrees, ranks
from workbench.evaluation.metrics.exam.history import ExamHistory, Past
from workbench.evaluation.metrics.exam.item import RELATED
from workbench.evaluation.metrics.exam.lexicon import ASKING, RELATES
from workbench.evaluation.metrics.exam.names import Names
from workbench.evaluation.metrics.exam.quoted_line import QuotedLine
from workbench.evaluation.metrics.exam.tokens import features_of, segments_of, stem

IN_USE, IN_EVIDENCE = 3.0, 1.0
"""What a word of the cue counts for standing in the line of the use, and in the evidence."""
LOOK_ALIKES = 15
BELOW = 0.5
"""The share of the answer's score on the whole history that a look-alike may have."""
LEAST_BOUND = 1e-9
"""The score from which a name has some of the cue beside it."""
FEWEST = 3
"""Look-alikes that an item needs."""
LONGEST_RELATION = 40
"""Characters between two names that a relation joins."""
REMEMBERED_NAMES = 50_000
"""Names of which a process remembers the letters."""
MOST_OF_CUE = 1_000
"""Parts of a cue: the heaviest. Only a line of many pages has more."""
MOST_PAIRS = 100_000
"""Places with parts of the cue that are compared for look-alikes: the first places of each name.
Only lines of many pages have more.
"""
BEST_LINES = 150
"""Lines, those with most of the cue, in which look-alikes are looked for."""
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_ARROW = re.compile(r"[-=]>|→")
_APART = re.compile(r"[;.|]\s|\bby\b")


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where names stand in lines.

    Attributes:
        number: (places,) of the name.
        first_row, last_row: (places,) of the lines' segments, with which each begins and ends.
    """

    number: Ints
    first_row: Ints
    last_row: Ints

    def among(self, is_chosen: Flags) -> _Places:
        """The chosen ones."""
        return _Places(
            self.number[is_chosen],
            self.first_row[is_chosen],
            self.last_row[is_chosen],
        )


@dataclass(frozen=True)
class Question:
    """An answer with the lines that hold it: the material of an item."""

    history: ExamHistory
    answer: str
    use: str
    evidence: str

    @cached_property
    def _lower_answer(self) -> str:
        return self.answer.lower()

    @cached_property
    def _lower_use(self) -> str:
        return self.use.lower()

    @cached_property
    def _names(self) -> Names:
        return Names([self.answer], self.history.vocabulary)

    @cached_property
    def _use_line(self) -> QuotedLine:
        return QuotedLine.of(self.use, self._names, self.history)

    @cached_property
    def _evidence_line(self) -> QuotedLine:
        return QuotedLine.of(self.evidence, self._names, self.history)

    @cached_property
    def denied(self) -> bool:
        """Whether the evidence denies the answer wherever it names it."""
        return self._evidence_line.denied

    @cached_property
    def cue(self) -> dict[str, float]:
        """Words and names of both lines by weight: rare ones near the answer weigh most; none
        gives the answer away.
        """
        cue: dict[str, float] = {}
        answer = self._lower_answer
        words_of_answer = {stem(word) for word in re.findall(r"[^\W_]+", answer)}
        left_out = words_of_answer | set(segments_of(answer)) | ASKING
        gives_away = _spelling(answer)
        weighted_lines = (
            (self._use_line, IN_USE),
            (self._evidence_line, IN_EVIDENCE),
        )
        for line, line_weight in weighted_lines:
            names = line.features.names
            distances = line.distances.tolist()
            for name, distance in zip(names, distances, strict=True):
                bare_name = name.lstrip("=")
                if bare_name in left_out or gives_away(name):
                    continue
                rarity = self.history.weight(name)
                farness = 1 + distance / REACH
                weight = line_weight * rarity / farness
                earlier_weight = cue.get(name, 0.0)
                cue[name] = max(earlier_weight, weight)
        return _heaviest(cue)

    @cached_property
    def sides(self) -> dict[str, int]:
        """The names of the cue that the evidence has on one side of the answer, and the side;
        see `Item.sides`.
        """
        sides: dict[str, int] = {}
        for name, side in self._evidence_line.sides():
            if name in self.cue:
                sides[name] = side
        related_sides = _related(self.evidence, self.answer, self.cue)
        return sides | related_sides

    def look_alikes(self, kind: Kind, past: Past) -> tuple[str, ...]:
        """The names of the history of its kind that come closest to the answer; none occurs in the
        use.

        Names that are written alike come first. Where fewer than `FEWEST` have any of the cue
        beside them, others of the kind fill up; names of another kind never do: a reader could tell
        them from the answer without a context.

        Args:
            kind: of the answer.
            past: the history.
        """
        kind_number = KINDS.index(kind)
        is_of_kind = self.history.kind == kind_number
        candidates = past.names & is_of_kind
        scores, bound = self._scores(candidates, past.lines)
        is_below = scores < max(bound, LEAST_BOUND)
        separated = np.flatnonzero(candidates & is_below)
        score_of_separated = scores[separated]
        by_score = np.argsort(-score_of_separated, kind="stable")
        closest_first = separated[by_score]
        shape = _shape(self.answer)
        written_alike: list[str] = []
        of_other_shape: list[str] = []
        for number in closest_first.tolist():
            if len(written_alike) >= LOOK_ALIKES:
                break
            look_alike_count = len(written_alike) + len(of_other_shape)
            if scores[number] <= 0 and look_alike_count >= FEWEST:
                break
            name = self.history.names[number].text
            if self._tells_answer(name):
                continue
            if _shape(name) == shape:
                written_alike.append(name)
            else:
                of_other_shape.append(name)
        look_alikes = written_alike + of_other_shape
        return tuple(look_alikes[:LOOK_ALIKES])

    def _tells_answer(self, name: str) -> bool:
        """Whether a name stands in the use, or is a part of the answer, or has it as a part."""
        text = name.lower()
        if text in self._lower_use:
            return True
        answer = self._lower_answer
        return text in answer or answer in text

    def _scores(self, names: Flags, past: Flags) -> tuple[Floats, float]:
        """(names,) the score of each of some names, and the bound for look-alikes."""
        history = self.history
        lines = history.lines
        answer_rows = self._answer_rows()
        answer_lines = lines.segment_line[answer_rows]
        is_past = past[answer_lines]
        answer_rows = answer_rows[is_past]
        past_answer_lines = answer_lines[is_past]
        is_searched = self._lines_with_most_of_cue(past)
        is_searched[past_answer_lines] = True
        is_line_searched = is_searched[history.name_line]
        is_occurrence = is_line_searched & names[history.name]
        occurrences = np.flatnonzero(is_occurrence)
        # the answer is numbered behind the session's names
        answer_number = len(history.names)
        answer_numbers = np.full(len(answer_rows), answer_number)
        answer_length = self._names.length[0]
        name_numbers = history.name[occurrences]
        name_rows = history.name_row[occurrences]
        number = np.concatenate((name_numbers, answer_numbers))
        lengths = np.append(history.length, answer_length)
        first_row = np.concatenate((name_rows, answer_rows))
        rank = ranks(number)
        most_places = MOST_PAIRS // max(len(self.cue), 1)
        if len(number) > most_places:
            # the first places of each name before further ones
            first_places = growing(rank)[:most_places]
            occurrence = np.sort(first_places)
            number = number[occurrence]
            rank = rank[occurrence]
            first_row = first_row[occurrence]
        last_row = first_row + lengths[number] - 1
        places = _Places(
            number,
            first_row,
            last_row,
        )
        cues = Cues([self.cue], [self.sides], history.vocabulary)
        highest = np.zeros(answer_number + 1)
        # a name is out by its first place where that is as close as a look-alike may not be
        is_first = (rank == 0) | (number == answer_number)
        self._raise_to(highest, places.among(is_first), cues)
        bound = BELOW * float(highest[-1])
        is_open = highest[number] < max(bound, LEAST_BOUND)
        self._raise_to(highest, places.among(is_open & ~is_first), cues)
        return highest[:-1], bound

    def _raise_to(self, highest: Floats, places: _Places, cues: Cues) -> None:
        """Raise the highest score of each name to those of some places."""
        lines = self.history.lines
        closeness = cues.near(
            lines,
            np.zeros_like(places.first_row),
            places.first_row,
            places.last_row,
            behind_inside=False,
        )
        score = closeness * agrees(lines, places.first_row, self.denied)
        np.maximum.at(highest, places.number, score)

    def _lines_with_most_of_cue(self, past: Flags) -> Flags:
        """(lines,) whether look-alikes are looked for in each line of the history.

        Of lines with an equal share of the cue the first ones are taken. `np.argpartition` would
        take others on another processor.
        """
        cue_share = self.history.sums(self.cue)
        cue_share[~past] = 0
        if len(cue_share) <= BEST_LINES:
            return np.asarray(cue_share > 0)
        partitioned = np.partition(cue_share, -BEST_LINES)
        bar = partitioned[-BEST_LINES]
        is_best = np.asarray(cue_share > bar)
        level_lines = np.flatnonzero(cue_share == bar)
        missing_count = BEST_LINES - np.count_nonzero(is_best)
        first_level_lines = level_lines[:missing_count]
        is_best[first_level_lines] = True
        has_cue = cue_share > 0
        return is_best & has_cue

    def _answer_rows(self) -> Ints:
        """Where the answer begins in the session's lines."""
        number = self.history.name_number.get(self._lower_answer)
        if number is None:
            _, rows = self._names.found(self.history.lines)
            return rows
        return self.history.rows_with_name(number)


def _heaviest(cue: dict[str, float]) -> dict[str, float]:
    """The heaviest parts of a cue, in their order."""
    if len(cue) <= MOST_OF_CUE:
        return cue
    by_weight = sorted(cue, key=lambda name: -cue[name])
    lighter_names = set(by_weight[MOST_OF_CUE:])
    heaviest = dict(cue)
    for name in lighter_names:
        del heaviest[name]
    return heaviest


def _spelling(answer: str) -> Callable[[str], bool]:
    """Whether a name of a cue spells an answer, or a part of it, however both are joined."""
    bare_answer = _bare(answer)

    def gives_away(name: str) -> bool:
        bare_name = _bare(name)
        if len(bare_name) >= 4 and bare_name in bare_answer:
            return True
        if len(bare_answer) >= 4 and bare_answer in bare_name:
            return True
        return answer in name

    return gives_away


@lru_cache(maxsize=REMEMBERED_NAMES)
def _bare(name: str) -> str:
    """The letters and digits of a name."""
    return re.sub(r"[\W_]+", "", name)


def _shape(text: str) -> tuple[str, ...]:
    """How a name is written: its ending, its case, and the marks in it."""
    match = _ENDING.search(text)
    ending = ""
    if match:
        ending = match[0].lower()
    marks = [mark for mark in " _-/" if mark in text]
    return (ending, _case(text), *marks)


def _case(text: str) -> str:
    if text.isupper():
        return "upper"
    if text.islower():
        return "lower"
    return "mixed"


def _related(evidence: str, answer: str, cue: Mapping[str, float]) -> dict[str, int]:
    """The sides, times `RELATED`, of each name of the cue, and of its words, that a relation
    joins to the answer.
    """
    evidence = evidence.lower()
    answer_start = evidence.find(answer.lower())
    sides: dict[str, int] = {}
    if answer_start < 0:
        return sides
    answer_end = answer_start + len(answer)
    for feature in cue:
        if feature[0] != "=":
            continue
        name = feature[1:]
        name_start = evidence.find(name)
        if name_start < 0:
            continue
        if name_start < answer_start:
            side = -RELATED
            begin = name_start + len(name)
            end = answer_start
        else:
            side = RELATED
            begin = answer_end
            end = name_start
        if end - begin > LONGEST_RELATION:
            continue
        if _is_relation(evidence[begin:end]):
            name_parts = {feature, *features_of(name)}
            for part in cue.keys() & name_parts:
                sides[part] = side
    return sides


def _is_relation(between: str) -> bool:
    """Whether the words between two names relate the one to the other."""
    if _APART.search(between):
        return False
    if _ARROW.search(between):
        return True
    words = between.split()
    return not RELATES.isdisjoint(words)
