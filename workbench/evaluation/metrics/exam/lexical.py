"""The lexical reader: sits an exam by the words of a context alone. The default reader: no
model, always the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.base.ragged import Flags, Floats, Ints
from workbench.engine.extraction.statements import says_done
from workbench.evaluation.metrics.exam.closeness import Closeness, Hits
from workbench.evaluation.metrics.exam.cues import FEWEST
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.stating import Sentences
from workbench.evaluation.metrics.exam.tokens import Lines, Vocabulary, lines_of

Value = TypeVar("Value", np.int64, np.float64)

MARGIN = 1.15
"""A candidate whose score is so near the best one shares the credit with it."""
ENOUGH = 0.5
"""The share of what its evidence says for an answer at which the reader is sure of its choice; with
less it partly guesses. Below half, names that merely stand near the same words say as much: see
`cues.BELOW`.
"""
RIVAL = 0.85
"""Of several values of a thing, those with at least this share of the best score are rivals; the
newest one holds.
"""


class Reader(Protocol):
    """Sits an exam: sees a context and chooses among the candidates of each item."""

    @property
    def name(self) -> str:
        """Name shown in tables."""
        ...

    def read(self, items: Sequence[Item], texts: Sequence[str], /) -> Floats:
        """(items,) the credit of each in [0, 1], chance not taken off.

        Args:
            items: the exam.
            texts: the context, oldest text first.
        """
        ...


class Lexical:
    """Takes the candidate that the cue's words stand closest to; of sentences, those that the
    context states.
    """

    name = "lexical"

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def read(self, items: Sequence[Item], texts: Sequence[str]) -> Floats:
        """(items,) the credit of each in [0, 1]; see `Reader`."""
        sheet = Sheet(items, self._vocabulary)
        lines = [line for text in texts for line in lines_of(text, headed=True)]
        # each where it is said last
        return sheet.credit([sheet.look_up([*dict.fromkeys(lines[::-1])][::-1])])


class Sheet:
    """The items of one exam, made ready to be looked up in any number of lines.

    Attributes:
        items: those that are asked.
    """

    def __init__(self, items: Sequence[Item], vocabulary: Vocabulary) -> None:
        self.items = self._drafted = tuple(items)
        self._vocabulary = vocabulary
        self._width = width = max((len(item.candidates) for item in items), default=1)
        self._closeness = Closeness(items, vocabulary, width)
        self._rules, self._todos = (
            Sentences(items, kind, vocabulary, width) for kind in ("rule", "todo")
        )
        kinds = np.array([item.kind for item in items], dtype=np.str_)[:, None]
        self._is_latest, self._is_todo = np.isin(kinds, ("latest", "decision")), kinds == "todo"
        sizes = np.array([len(item.candidates) for item in items], dtype=np.int64)
        self._kept: Flags = np.arange(width) < sizes[:, None]
        self._enough = np.where(self._is_latest[:, 0], 0, ENOUGH * self._in_evidence())

    def look_up(self, texts: Sequence[str], lines: Lines | None = None) -> Hits:
        """What some lines say of the items.

        Args:
            texts: lines, as `lines_of` gives them.
            lines: the same, where they were read before.
        """
        lines = lines or Lines(texts, self._vocabulary)
        names, rules, todos = (
            part.hits(lines) for part in (self._closeness, self._rules, self._todos)
        )
        done = [says_done(texts[line]) for line in todos.line.tolist()]
        cell, line, score = (
            np.concatenate(parts) for parts in zip(names[:3], rules[:3], todos[:3], strict=True)
        )
        return Hits(
            cell,
            line,
            score,
            np.append(np.zeros(len(cell) - len(done), dtype=bool), np.array(done, dtype=bool)),
        )

    def _in_evidence(self) -> Floats:
        """(items,) how much the line of its evidence speaks for each answer that a cue leads to;
        0 for others.
        """
        cell, row, score, _ = self._closeness.hits(
            Lines([item.evidence for item in self._drafted], self._vocabulary)
        )
        own = cell == row * self._width
        return np.asarray(
            np.bincount(row[own], score[own], minlength=len(self._drafted)), dtype=np.float64
        )

    def scores(self, found: Sequence[Hits], orders: Sequence[Ints] | None = None) -> Floats:
        """(items, candidates) how much speaks for each candidate.

        Args:
            found: what lines say, part by part.
            orders: for each part (lines,) the place of each line in the context, -1 for one that it
                lacks; by default all lines count, in their order.
        """
        places = (
            [hits.line for hits in found]
            if orders is None
            else [order[hits.line] for hits, order in zip(found, orders, strict=True)]
        )
        place = np.concatenate(places)
        cell, _, score, done = (
            np.concatenate(parts)[place >= 0] for parts in zip(*found, strict=True)
        )
        place = place[place >= 0]
        best = self._highest(cell, score, 0.0)
        least = np.where(
            self._is_todo, 0.0, np.maximum(RIVAL * best.max(axis=1, initial=0.0)[:, None], 1e-9)
        )
        rows = (score >= least[cell // self._width, 0]) & (self._is_latest | self._is_todo)[
            cell // self._width, 0
        ]
        newest, over = (
            self._highest(cell[one], place[one], -1) for one in (rows & ~done, rows & done)
        )
        holds = (newest >= 0) & (newest >= newest.max(axis=1, keepdims=True, initial=-1))
        # a piece of work is open where the last line that states it does not say that it is done
        return np.where(
            self._is_latest, holds * 1.0, np.where(self._is_todo, (newest > over) * 1.0, best)
        )

    def _highest(self, cell: Ints, values: NDArray[Value], none: float) -> NDArray[Value]:
        """(items, candidates) the highest value of each candidate that is asked."""
        highest = np.full(self._kept.size, none, dtype=values.dtype)
        np.maximum.at(highest, cell, values)
        return np.where(self._kept, highest.reshape(self._kept.shape), none)

    def credit(self, found: Sequence[Hits], orders: Sequence[Ints] | None = None) -> Floats:
        """(items,) the credit of each in [0, 1] for what some lines say together; arguments as in
        `scores`.

        Where nothing speaks for any candidate the reader guesses, and where little does it half
        guesses.
        """
        score = self.scores(found, orders)
        choice = np.where(right(score), 1 / np.maximum(near(score).sum(axis=1), 1), 0.0)
        sure = np.minimum(score.max(axis=1, initial=0.0) / np.maximum(self._enough, 1e-9), 1.0)
        credit: Floats = sure * choice + (1 - sure) / np.maximum(self._kept.sum(axis=1), 1)
        return credit[self._kept[:, 0]]

    def keep_answered(self, found: Hits, order: Ints) -> None:
        """Ask only what a context answers right, without the look-alikes that it cannot tell
        from the answer.
        """
        score = self.scores([found], [order])
        kept = self._kept & ~near(score)
        kept[:, 0] = True
        fewest = np.array(
            [FEWEST if item.kind == "fact" else 1 for item in self._drafted], dtype=np.int64
        )
        self._kept = kept & (right(score) & (kept.sum(axis=1) > fewest))[:, None]
        self.items = tuple(
            replace(item, look_alikes=tuple(compress(item.look_alikes, flags[1:])))
            for item, flags in zip(self._drafted, self._kept.tolist(), strict=True)
            if flags[0]
        )

    def answering(self, found: Hits, order: Ints) -> list[int]:
        """The lines that speak most for the answers, the newest of equal ones, each once."""
        of_answer = (
            (found.cell % self._width == 0)
            & self._kept.ravel()[found.cell]
            & (order[found.line] >= 0)
        )
        cell, line, score = (part[of_answer] for part in found[:3])
        by_item = np.lexsort((line, order[line], score, cell))
        best = by_item[np.diff(cell[by_item], append=-1) != 0]
        return list(dict.fromkeys(line[best].tolist()))

    def answered_by(self, found: Hits, count: int, whole: Hits, order: Ints) -> Flags:
        """(lines, items) the answers of which a line makes the reader sure, whatever else a context
        says.

        Args:
            found: what some lines say.
            count: their number.
            whole: what the context says. The answer's best score there will do, too.
            order: of its lines, as in `scores`.
        """
        held = order[whole.line] >= 0
        best = self._highest(whole.cell[held], whole.score[held], 0.0)
        rival = np.maximum(MARGIN * best[:, 1:].max(axis=1, initial=0.0), self._enough)
        bar = np.minimum(best[:, 0], rival)[self._kept[:, 0]] - 1e-9
        score = np.zeros((count, len(self._kept)))
        of_answer = found.cell % self._width == 0
        np.maximum.at(
            score,
            (found.line[of_answer], found.cell[of_answer] // self._width),
            found.score[of_answer],
        )
        score = score[:, self._kept[:, 0]]
        answered: Flags = (score >= bar) & (score > 0)
        return answered


def near(score: Floats) -> Flags:
    """(items, candidates) whether a candidate's score is near the best one."""
    found: Flags = (score * MARGIN >= score.max(axis=1, initial=0.0)[:, None]) & (score > 0)
    return found


def right(score: Floats) -> Flags:
    """(items,) whether the answer, the first candidate, has the best score."""
    found: Flags = (score[:, 0] >= score.max(axis=1, initial=0.0) - 1e-9) & (score[:, 0] > 0)
    return found
