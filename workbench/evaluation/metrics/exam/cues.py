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
"""The share of the answer's score on the whole history that a look-alike may have: then the
history separates them.
"""
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
        """The lines of the use and of the evidence, and the rows at which the answer begins in
        them.
        """
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
        found: dict[str, float] = {}
        low = self.answer.lower()
        own = {stem(part) for part in re.findall(r"[^\W_]+", low)} | set(segments_of(low)) | ASKING
        lines, rows = self._lines
        for which, (text, weight) in enumerate(((self.use, IN_USE), (self.evidence, IN_EVIDENCE))):
            places = (lines.segment_pos[rows] - lines.start[which])[
                lines.segment_line[rows] == which
            ]
            for name, pos in _features(text):
                if name.lstrip("=") in own or _gives_away(name, low):
                    continue
                distance = float(np.abs(places - pos).min()) if len(places) else 0.0
                value = weight * self.history.weight(name) / (1 + distance / REACH)
                found[name] = max(found.get(name, 0.0), value)
        return found

    @cached_property
    def sides(self) -> dict[str, int]:
        """The names of the cue that the evidence has on one side of the answer, and the side;
        see `Item.sides`.
        """
        lines, rows = self._lines
        own = np.flatnonzero(lines.segment_line[rows] == 1)
        first = lines.segment_pos[rows[own]] - lines.start[1]
        last = lines.segment_pos[rows[own] + self._names.length[0] - 1] - lines.start[1]
        found: dict[str, set[int]] = {}
        for name, pos in _features(self.evidence) if len(own) else ():
            if name in self.cue:
                found.setdefault(name, set()).update(
                    np.where(pos < first, -1, np.where(pos > last, 1, 0)).tolist()
                )
        one_side = {name: side.pop() for name, side in found.items() if len(side) == 1}
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
        score, bar = self._scores(of_kind, past.lines)
        names, low, use, own = (
            self.history.names,
            self.answer.lower(),
            self.use.lower(),
            _shape(self.answer),
        )
        alike: list[str] = []
        other: list[str] = []
        apart = np.flatnonzero(of_kind & (score < max(bar, 1e-9)))
        for number in apart[np.argsort(-score[apart], kind="stable")].tolist():
            if len(alike) >= LOOK_ALIKES or (
                score[number] <= 0 and len(alike) + len(other) >= FEWEST
            ):
                break
            text = names[number].text.lower()
            if text not in use and text not in low and low not in text:
                (alike if _shape(names[number].text) == own else other).append(names[number].text)
        return tuple((alike + other)[:LOOK_ALIKES])

    def _scores(self, wanted: Flags, past: Flags) -> tuple[Floats, float]:
        """(names,) the score of each wanted name in the lines with most of the cue, and the
        bound for look-alikes.
        """
        history, lines = self.history, self.history.lines
        there = history.sums(self.cue)
        there[~past] = 0
        keep = np.zeros(len(past), dtype=bool)
        keep[
            (
                np.argpartition(-there, BEST_LINES)[:BEST_LINES]
                if len(there) > BEST_LINES
                else slice(None)
            )
        ] = True
        keep &= there > 0
        own = self._own_rows()
        own = own[past[lines.segment_line[own]]]
        keep[lines.segment_line[own]] = True
        chosen = np.flatnonzero(keep[history.name_line] & wanted[history.name])
        number = np.concatenate((history.name[chosen], np.full(len(own), len(history.names))))
        first = np.concatenate((history.name_row[chosen], own))
        last = first + np.append(history.length, self._names.length[0])[number] - 1
        cue = Cues([self.cue], [self.sides], history.vocabulary)
        total = cue.near(lines, np.zeros_like(first), first, last, beyond=False) * agrees(
            lines, first, self.denied
        )
        score = np.zeros(len(history.names) + 1)
        np.maximum.at(score, number, total)
        return score[:-1], BELOW * float(score[-1])

    def _own_rows(self) -> Ints:
        """Where the answer begins in the session's lines."""
        number = self.history.name_number.get(self.answer.lower())
        if number is None:
            return self._names.found(self.history.lines)[1]
        return self.history.rows_with_name(number)


def _gives_away(name: str, answer: str) -> bool:
    """Whether a name of the cue spells the answer, or a part of it, however both are joined."""
    one, other = (re.sub(r"[\W_]+", "", text) for text in (name, answer))
    return (len(one) >= 4 and one in other) or (len(other) >= 4 and other in one) or answer in name


def _shape(text: str) -> tuple[str, ...]:
    """How a name is written: its ending, its case, and the marks in it."""
    ending = _ENDING.search(text)
    case = "upper" if text.isupper() else "lower" if text.islower() else "mixed"
    return ending[0].lower() if ending else "", case, *(mark for mark in " _-/" if mark in text)


def _features(text: str) -> list[tuple[str, int]]:
    """The features of a line with their places in it."""
    place, found = 0, []
    for token in tokens(text):
        place += STEP.get(token, 1)
        if is_chunk(token):
            found += [(name, place) for name in features_of(token)]
    return found


def _related(evidence: str, answer: str, cue: Mapping[str, float]) -> dict[str, int]:
    """The sides, times `RELATED`, of each name of the cue, and of its words, that a relation
    joins to the answer.
    """
    low = evidence.lower()
    at = low.find(answer.lower())
    found: dict[str, int] = {}
    for name in cue if at >= 0 else ():
        place = low.find(name[1:]) if name[0] == "=" else -1
        if place < 0:
            continue
        between = low[place + len(name) - 1 : at] if place < at else low[at + len(answer) : place]
        related = _ARROW.search(between) or RELATES.intersection(between.split())
        if len(between) <= 40 and related and not _APART.search(between):
            parts = cue.keys() & {name, *features_of(name[1:])}
            found.update(dict.fromkeys(parts, -RELATED if place < at else RELATED))
    return found
