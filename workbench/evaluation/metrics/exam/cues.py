"""What leads to an answer, and what it could be mistaken for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints
from workbench.engine.extraction.entities import KINDS, Kind
from workbench.evaluation.metrics.exam.closeness import REACH, Cues, agrees
from workbench.evaluation.metrics.exam.history import ExamHistory, Past
from workbench.evaluation.metrics.exam.item import RELATED
from workbench.evaluation.metrics.exam.lexicon import ASKING, RELATES
from workbench.evaluation.metrics.exam.tokens import (
    STEP,
    Lines,
    Names,
    features_of,
    is_chunk,
    segments_of,
    stem,
    tokens,
)

IN_USE, IN_EVIDENCE = 3.0, 1.0
"""What a word of the cue counts for standing in the line of the use, and in the evidence."""
LOOK_ALIKES = 15
BELOW = 0.5
"""The share of the answer's score on the whole history that a look-alike may have."""
FEWEST = 3
"""Look-alikes that an item needs."""
BEST_LINES = 150
"""Lines, those with most of the cue, in which look-alikes are looked for."""
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_ARROW = re.compile(r"[-=]>|→")
_APART = re.compile(r"[;.|]\s|\bby\b")


@dataclass(frozen=True)
class Question:
    """An answer with the lines that hold it: the material of an item."""

    history: ExamHistory
    answer: str
    use: str
    evidence: str

    @cached_property
    def _names(self) -> Names:
        return Names([self.answer], self.history.vocabulary)

    @cached_property
    def _lines(self) -> tuple[Lines, Ints]:
        """The lines of the use and the evidence, and the rows at which the answer begins."""
        lines = Lines([self.use, self.evidence], self.history.vocabulary)
        return lines, self._names.found(lines)[1]

    @cached_property
    def denied(self) -> bool:
        """Whether the evidence denies the answer wherever it names it."""
        lines, rows = self._lines
        rows = rows[lines.segment_line[rows] == 1]
        return bool(len(rows)) and bool(lines.denied[rows].all())

    @cached_property
    def cue(self) -> dict[str, float]:
        """Words and names of both lines by weight: rare ones near the answer weigh most; none
        gives the answer away.
        """
        cue: dict[str, float] = {}
        answer = self.answer.lower()
        words_of_answer = {stem(word) for word in re.findall(r"[^\W_]+", answer)}
        left_out = words_of_answer | set(segments_of(answer)) | ASKING
        for line, text, line_weight in ((0, self.use, IN_USE), (1, self.evidence, IN_EVIDENCE)):
            places = self._places_in(line)
            for name, position in _features(text):
                if name.lstrip("=") in left_out or _gives_away(name, answer):
                    continue
                distance = float(np.abs(places - position).min()) if len(places) else 0.0
                weight = line_weight * self.history.weight(name) / (1 + distance / REACH)
                cue[name] = max(cue.get(name, 0.0), weight)
        return cue

    def _places_in(self, line: int) -> Ints:
        """Where the answer begins in the line of the use (0) or of the evidence (1)."""
        lines, rows = self._lines
        rows = rows[lines.segment_line[rows] == line]
        places: Ints = lines.segment_pos[rows] - lines.start[line]
        return places

    @cached_property
    def sides(self) -> dict[str, int]:
        """The names of the cue that the evidence has on one side of the answer, and the side;
        see `Item.sides`.
        """
        lines, rows = self._lines
        rows = rows[lines.segment_line[rows] == 1]
        if not len(rows):
            return _related(self.evidence, self.answer, self.cue)
        begins = lines.segment_pos[rows] - lines.start[1]
        ends = lines.segment_pos[rows + self._names.length[0] - 1] - lines.start[1]
        sides_by_name: dict[str, set[int]] = {}
        for name, position in _features(self.evidence):
            if name in self.cue:
                side = np.where(position < begins, -1, np.where(position > ends, 1, 0))
                sides_by_name.setdefault(name, set()).update(side.tolist())
        one_side = {name: sides.pop() for name, sides in sides_by_name.items() if len(sides) == 1}
        return one_side | _related(self.evidence, self.answer, self.cue)

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
        of_kind = past.names & (self.history.kind == KINDS.index(kind))
        scores, bound = self._scores(of_kind, past.lines)
        separated = np.flatnonzero(of_kind & (scores < max(bound, 1e-9)))
        closest_first = separated[np.argsort(-scores[separated], kind="stable")]
        use = self.use.lower()
        answer = self.answer.lower()
        shape = _shape(self.answer)
        written_alike: list[str] = []
        of_other_shape: list[str] = []
        for number in closest_first.tolist():
            if len(written_alike) >= LOOK_ALIKES:
                break
            if scores[number] <= 0 and len(written_alike) + len(of_other_shape) >= FEWEST:
                break
            name = self.history.names[number].text
            text = name.lower()
            if text in use or text in answer or answer in text:
                continue
            if _shape(name) == shape:
                written_alike.append(name)
            else:
                of_other_shape.append(name)
        return tuple((written_alike + of_other_shape)[:LOOK_ALIKES])

    def _scores(self, names: Flags, past: Flags) -> tuple[Floats, float]:
        """(names,) the score of each of some names, and the bound for look-alikes."""
        history = self.history
        lines = history.lines
        answer_rows = self._answer_rows()
        answer_rows = answer_rows[past[lines.segment_line[answer_rows]]]
        is_searched = self._lines_with_most_of_cue(past)
        is_searched[lines.segment_line[answer_rows]] = True
        occurrences = np.flatnonzero(is_searched[history.name_line] & names[history.name])
        answer_number = len(history.names)
        answer_numbers = np.full(len(answer_rows), answer_number)
        number = np.concatenate((history.name[occurrences], answer_numbers))
        lengths = np.append(history.length, self._names.length[0])
        first_row = np.concatenate((history.name_row[occurrences], answer_rows))
        last_row = first_row + lengths[number] - 1
        item = np.zeros_like(first_row)
        cues = Cues([self.cue], [self.sides], history.vocabulary)
        score = cues.near(lines, item, first_row, last_row, behind_inside=False)
        score = score * agrees(lines, first_row, self.denied)
        highest = np.zeros(answer_number + 1)
        np.maximum.at(highest, number, score)
        return highest[:-1], BELOW * float(highest[-1])

    def _lines_with_most_of_cue(self, past: Flags) -> Flags:
        """(lines,) whether look-alikes are looked for in each line of the history.

        Of lines with an equal share of the cue the first ones are taken. `np.argpartition` would
        take others on another processor.
        """
        cue_share = self.history.sums(self.cue)
        cue_share[~past] = 0
        if len(cue_share) <= BEST_LINES:
            return np.asarray(cue_share > 0)
        bar = np.partition(cue_share, -BEST_LINES)[-BEST_LINES]
        is_best = np.asarray(cue_share > bar)
        level_lines = np.flatnonzero(cue_share == bar)
        is_best[level_lines[: BEST_LINES - np.count_nonzero(is_best)]] = True
        return is_best & (cue_share > 0)

    def _answer_rows(self) -> Ints:
        """Where the answer begins in the session's lines."""
        number = self.history.name_number.get(self.answer.lower())
        if number is None:
            return self._names.found(self.history.lines)[1]
        return self.history.rows_with_name(number)


def _gives_away(name: str, answer: str) -> bool:
    """Whether a name of the cue spells the answer, or a part of it, however both are joined."""
    bare_name = re.sub(r"[\W_]+", "", name)
    bare_answer = re.sub(r"[\W_]+", "", answer)
    if len(bare_name) >= 4 and bare_name in bare_answer:
        return True
    if len(bare_answer) >= 4 and bare_answer in bare_name:
        return True
    return answer in name


def _shape(text: str) -> tuple[str, ...]:
    """How a name is written: its ending, its case, and the marks in it."""
    match = _ENDING.search(text)
    ending = match[0].lower() if match else ""
    marks = [mark for mark in " _-/" if mark in text]
    return (ending, _case(text), *marks)


def _case(text: str) -> str:
    if text.isupper():
        return "upper"
    if text.islower():
        return "lower"
    return "mixed"


def _features(text: str) -> list[tuple[str, int]]:
    """The features of a line with their places in it."""
    place = 0
    features: list[tuple[str, int]] = []
    for token in tokens(text):
        place += STEP.get(token, 1)
        if is_chunk(token):
            features += [(name, place) for name in features_of(token)]
    return features


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
            between = evidence[name_start + len(name) : answer_start]
        else:
            side = RELATED
            between = evidence[answer_end:name_start]
        if _is_relation(between):
            parts = cue.keys() & {feature, *features_of(name)}
            sides.update(dict.fromkeys(parts, side))
    return sides


def _is_relation(between: str) -> bool:
    """Whether the words between two names relate the one to the other."""
    if len(between) > 40 or _APART.search(between):
        return False
    return bool(_ARROW.search(between)) or not RELATES.isdisjoint(between.split())
