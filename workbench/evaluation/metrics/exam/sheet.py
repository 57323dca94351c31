"""The items of an exam as a sheet, which says how much some lines speak for each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.base.ragged import Flags, Floats, Ints, integers
from workbench.engine.extraction.statements import says_done
from workbench.evaluation.metrics.exam.closeness import Closeness, Hits
from workbench.evaluation.metrics.exam.cues import FEWEST
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.stating import Sentences
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary

Value = TypeVar("Value", np.int64, np.float64)
Scalar = TypeVar("Scalar", bound=np.generic)

MARGIN = 1.15
"""A candidate whose score is so near the best one shares the credit with it."""
ENOUGH = 0.5
"""The share of what its evidence says for an answer at which the reader is sure of its choice; with
less it partly guesses. Below half, names that merely stand near the same words say as much: see
`cues.BELOW`.
"""
LEAST_SCORE = 1e-9
"""Scores that differ by less are the same, and a smaller one is none."""
RIVAL = 0.85
"""Of several values of a thing, those with at least this share of the best score are rivals; the
newest one holds.
"""


class Sheet:
    """The items of one exam, made ready to be looked up in any number of lines.

    Attributes:
        items: those that are asked.
    """

    def __init__(self, items: Sequence[Item], vocabulary: Vocabulary) -> None:
        self._drafted = tuple(items)
        self.items = self._drafted
        self._vocabulary = vocabulary
        candidate_counts = integers(len(item.candidates) for item in items)
        most_candidates = candidate_counts.max(initial=1)
        self._width = int(most_candidates)
        self._closeness = Closeness(items, vocabulary, self._width)
        self._rules = Sentences(items, "rule", vocabulary, self._width)
        self._todos = Sentences(items, "todo", vocabulary, self._width)
        kind_names = [item.kind for item in items]
        kinds = np.array(kind_names, dtype=np.str_)
        is_latest = np.isin(kinds, ("latest", "decision"))
        self._is_latest = _column(is_latest)
        self._is_todo = _column(kinds == "todo")
        candidates = np.arange(self._width)
        self._is_asked: Flags = candidates < _column(candidate_counts)
        enough = ENOUGH * self._in_evidence()
        self._enough = np.where(is_latest, 0, enough)

    def look_up(self, texts: Sequence[str], lines: Lines | None = None) -> Hits:
        """What some lines say of the items.

        Args:
            texts: lines, as `lines_of` gives them.
            lines: the same, where they were read before.
        """
        if not texts:
            return Hits.none()
        if lines is None:
            lines = Lines(texts, self._vocabulary)
        names = self._closeness.hits(lines)
        rules = self._rules.hits(lines)
        todos = self._todos.hits(lines)
        parts = (names, rules, todos)
        cell = _cells(parts)
        score = _scores(parts)
        is_done = np.zeros(len(cell), dtype=bool)
        first_todo = len(cell) - len(todos.cell)
        todo_lines = todos.line.tolist()
        for row, todo_line in enumerate(todo_lines, start=first_todo):
            text = texts[todo_line]
            is_done[row] = says_done(text)
        return Hits(cell, _lines(parts), score, is_done)

    def _in_evidence(self) -> Floats:
        """(items,) how much the evidence speaks for the answer; 0 for items without a cue."""
        texts = [item.evidence for item in self._drafted]
        evidence = Lines(texts, self._vocabulary)
        hits = self._closeness.hits(evidence)
        # the line of an evidence has the number of its item
        answer_cell = hits.line * self._width
        is_answer = hits.cell == answer_cell
        item = hits.line[is_answer]
        score = hits.score[is_answer]
        item_count = len(self._drafted)
        sums = np.bincount(item, score, minlength=item_count)
        return np.asarray(sums, dtype=np.float64)

    def scores(self, hits: Sequence[Hits], orders: Sequence[Ints] | None = None) -> Floats:
        """(items, candidates) how much speaks for each candidate.

        Args:
            hits: what lines say, part by part.
            orders: for each part (lines,) the place of each line in the context, -1 for one that it
                lacks; by default all lines count, in their order.
        """
        context_hits = _HeldHits.of(hits, orders)
        best = self._highest(context_hits.cell, context_hits.score, 0.0)
        last_open, last_over = self._last_statements(context_hits, best)
        newest_of_item = last_open.max(axis=1, initial=-1)
        is_newest = last_open >= _column(newest_of_item)
        is_stated = last_open >= 0
        holds = is_stated & is_newest
        # a piece of work is open where the last line that states it does not say that it is done
        is_left = last_open > last_over
        score_of_todo = is_left * 1.0
        score_of_latest = holds * 1.0
        scores = np.where(self._is_todo, score_of_todo, best)
        return np.where(self._is_latest, score_of_latest, scores)

    def _last_statements(self, context_hits: _HeldHits, best: Floats) -> tuple[Ints, Ints]:
        """(items, candidates) the place of the last line that states each and does not say that it
        is done, and of the last that says so; -1 where there is none, or time does not matter.
        """
        best_of_item = best.max(axis=1, initial=0.0)
        near_best = RIVAL * best_of_item
        rival_score = np.maximum(near_best, LEAST_SCORE)
        is_todo = self._is_todo[:, 0]
        is_latest = self._is_latest[:, 0]
        bar = np.where(is_todo, 0.0, rival_score)
        matters = is_latest | is_todo
        item = context_hits.cell // self._width
        is_enough = context_hits.score >= bar[item]
        is_statement = is_enough & matters[item]
        is_open = is_statement & ~context_hits.says_done
        is_over = is_statement & context_hits.says_done
        last_open = self._last_place(context_hits, is_open)
        last_over = self._last_place(context_hits, is_over)
        return last_open, last_over

    def _last_place(self, context_hits: _HeldHits, is_counted: Flags) -> Ints:
        """(items, candidates) the place of the last line of some hits of each; -1 for none."""
        cell = context_hits.cell[is_counted]
        place = context_hits.place[is_counted]
        return self._highest(cell, place, -1)

    def _highest(self, cell: Ints, values: NDArray[Value], none: float) -> NDArray[Value]:
        """(items, candidates) the highest value of each candidate that is asked."""
        cell_count = self._is_asked.size
        highest = np.full(cell_count, none, dtype=values.dtype)
        np.maximum.at(highest, cell, values)
        by_item = highest.reshape(self._is_asked.shape)
        return np.where(self._is_asked, by_item, none)

    def credit(self, hits: Sequence[Hits], orders: Sequence[Ints] | None = None) -> Floats:
        """(items,) the credit of each in [0, 1] for what some lines say together; arguments as in
        `scores`.

        Where nothing speaks for any candidate the reader guesses, and where little does it half
        guesses.
        """
        score = self.scores(hits, orders)
        near_count = near(score).sum(axis=1)
        rival_count = np.maximum(near_count, 1)
        share_of_credit = 1 / rival_count
        choice = np.where(right(score), share_of_credit, 0.0)
        best = score.max(axis=1, initial=0.0)
        enough = np.maximum(self._enough, LEAST_SCORE)
        sureness = np.minimum(best / enough, 1.0)
        asked_count = self._is_asked.sum(axis=1)
        candidate_count = np.maximum(asked_count, 1)
        guess = (1 - sureness) / candidate_count
        credit: Floats = sureness * choice + guess
        is_item_asked = self._is_asked[:, 0]
        return credit[is_item_asked]

    def keep_answered(self, hits: Hits, order: Ints) -> None:
        """Ask only what a context answers right, without look-alikes that are as near."""
        score = self.scores([hits], [order])
        is_asked = self._is_asked & ~near(score)
        is_asked[:, 0] = True
        is_fact = [item.kind == "fact" for item in self._drafted]
        fewest = np.where(is_fact, FEWEST, 1)
        asked_count = is_asked.sum(axis=1)
        has_enough = asked_count > fewest
        is_answered = right(score) & has_enough
        self._is_asked = is_asked & _column(is_answered)
        flags_of_items = self._is_asked.tolist()
        items: list[Item] = []
        for item, flags in zip(self._drafted, flags_of_items, strict=True):
            answer_flag, *look_alike_flags = flags
            if not answer_flag:
                continue
            look_alikes = compress(item.look_alikes, look_alike_flags)
            asked_item = replace(item, look_alikes=tuple(look_alikes))
            items.append(asked_item)
        self.items = tuple(items)

    def answering(self, hits: Hits, order: Ints) -> list[int]:
        """The lines that speak most for the answers, the newest of equal ones, each once."""
        is_answer = hits.cell % self._width == 0
        is_cell_asked = self._is_asked.ravel()
        is_asked = is_cell_asked[hits.cell]
        place_of_line = order[hits.line]
        is_held = place_of_line >= 0
        rows = is_answer & is_asked & is_held
        cell = hits.cell[rows]
        line = hits.line[rows]
        place = place_of_line[rows]
        score = hits.score[rows]
        by_item = np.lexsort((line, place, score, cell))
        step_to_next = np.diff(cell[by_item], append=-1)
        is_last_of_item = step_to_next != 0
        best_of_item = by_item[is_last_of_item]
        best_lines = line[best_of_item]
        distinct_lines = dict.fromkeys(best_lines.tolist())
        return list(distinct_lines)

    def answered_by(self, hits: Hits, line_count: int, context: Hits, order: Ints) -> Flags:
        """(lines, items) the answers of which a line alone makes the reader sure.

        Args:
            hits: what some lines say.
            line_count: their number.
            context: what the context says. The answer's best score there will do, too.
            order: of its lines, as in `scores`.
        """
        is_item_asked = self._is_asked[:, 0]
        bar = self._bar_of_answers(context, order)
        asked_bar = bar[is_item_asked]
        score = self._scores_of_answers(hits, line_count)
        asked_score = score[:, is_item_asked]
        has_enough = asked_score >= asked_bar
        is_answered: Flags = has_enough & (asked_score > 0)
        return is_answered

    def _bar_of_answers(self, context: Hits, order: Ints) -> Floats:
        """(items,) the score with which an answer is sure; arguments as of `answered_by`."""
        place = order[context.line]
        is_held = place >= 0
        cell = context.cell[is_held]
        score = context.score[is_held]
        best = self._highest(cell, score, 0.0)
        of_answer = best[:, 0]
        of_look_alikes = best[:, 1:]
        best_look_alike = of_look_alikes.max(axis=1, initial=0.0)
        rival = np.maximum(MARGIN * best_look_alike, self._enough)
        bar: Floats = np.minimum(of_answer, rival) - LEAST_SCORE
        return bar

    def _scores_of_answers(self, hits: Hits, line_count: int) -> Floats:
        """(lines, items) how much each line speaks for each answer."""
        is_answer = hits.cell % self._width == 0
        line = hits.line[is_answer]
        item = hits.cell[is_answer] // self._width
        item_count = len(self._is_asked)
        score = np.zeros((line_count, item_count))
        answer_score = hits.score[is_answer]
        np.maximum.at(score, (line, item), answer_score)
        return score


@dataclass(frozen=True, slots=True)
class _HeldHits:
    """What the lines of a context say: hits as in `Hits`, and the place of the line of each."""

    cell: Ints
    score: Floats
    says_done: Flags
    place: Ints

    @classmethod
    def of(cls, hits: Sequence[Hits], orders: Sequence[Ints] | None) -> _HeldHits:
        """Those of the lines that the context has; arguments as in `Sheet.scores`."""
        place = _places_in_context(hits, orders)
        is_held = place >= 0
        says_done = np.concatenate([of_part.says_done for of_part in hits])
        return cls(
            cell=_cells(hits)[is_held],
            score=_scores(hits)[is_held],
            says_done=says_done[is_held],
            place=place[is_held],
        )


def _cells(hits: Sequence[Hits]) -> Ints:
    return np.concatenate([of_part.cell for of_part in hits])


def _lines(hits: Sequence[Hits]) -> Ints:
    return np.concatenate([of_part.line for of_part in hits])


def _scores(hits: Sequence[Hits]) -> Floats:
    return np.concatenate([of_part.score for of_part in hits])


def _places_in_context(hits: Sequence[Hits], orders: Sequence[Ints] | None) -> Ints:
    """The place in the context of the line of each hit; arguments as in `Sheet.scores`."""
    if orders is None:
        return _lines(hits)
    places: list[Ints] = []
    for of_part, order in zip(hits, orders, strict=True):
        place = order[of_part.line]
        places.append(place)
    return np.concatenate(places)


def _column(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """One value for each item, as a column beside its candidates."""
    return values[:, None]


def near(score: Floats) -> Flags:
    """(items, candidates) whether a candidate's score is near the best one."""
    best = score.max(axis=1, initial=0.0)
    widened_score = score * MARGIN
    is_close = widened_score >= _column(best)
    is_near: Flags = is_close & (score > 0)
    return is_near


def right(score: Floats) -> Flags:
    """(items,) whether the answer, the first candidate, has the best score."""
    of_answer = score[:, 0]
    best = score.max(axis=1, initial=0.0)
    is_best = of_answer >= best - LEAST_SCORE
    is_right: Flags = is_best & (of_answer > 0)
    return is_right
