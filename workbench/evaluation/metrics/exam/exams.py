"""The exams of a session, and what contexts score in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from workbench.base.ragged import Flags, Floats
from workbench.engine.extraction.statements import is_pending
from workbench.evaluation.metrics.exam.changes import latest_and_decisions
from workbench.evaluation.metrics.exam.facts import facts
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.item import Item, mean_score
from workbench.evaluation.metrics.exam.later_use import LaterUse
from workbench.evaluation.metrics.exam.lexical import Sheet
from workbench.evaluation.metrics.exam.stating import demands, flipped, words_of
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.indexes.text_index import StatementIndex
from workbench.evaluation.metrics.state.work import Work
from workbench.evaluation.metrics.view import View

MOST = 8
"""Rules, and pieces of open work, of a boundary that are asked about: the newest."""
OTHERS = 3
"""Look-alikes beside a rule's own opposite: the opposites of other rules of the session."""
FEWEST_WORDS = 3
"""Specific words that a sentence needs: with fewer it says nothing in particular."""
_PROGRESS = re.compile(
    r"\b(?:(?:am|are|is|i['’]m|we['’]re) (?:still )?(?:\w+ing|in progress)|waiting for|let me)\b"
)
_ANNOUNCED = re.compile(
    r"\[ \]|\b(?:todo|fixme|(?:still|also|will) (?:need|have) to|left to do|to be done|needs? to be"
    r" \w+(?:ed|t|n)\b"
    r"|next steps? (?:is|are|would be|will be) to|follow[- ]up is to|will"
    r" (?:ask|tell|send|bring|check with))",
    re.IGNORECASE,
)
"""What announces work, where a sentence could as well say how things stand ("the remaining
failure is ...").
"""


class Exams:
    """The exams of one session, each made when it is first asked for."""

    def __init__(self, index: Index) -> None:
        self.history = ExamHistory(index.messages, index.entities)
        self._index = index
        self._at: dict[int, BoundaryExam] = {}

    @classmethod
    def of(cls, index: Index) -> Exams:
        """Those of an index, made once; they do not depend on what it takes for background."""
        kept = index.inverted_index.exams
        if not isinstance(kept, cls):
            index.inverted_index.exams = kept = cls(index)
        return kept

    @cached_property
    def later_use(self) -> LaterUse:
        """What the session used again in lines and phrases."""
        return LaterUse(self.history)

    def at(self, boundary: int) -> BoundaryExam:
        """The exam of `messages[:boundary]`."""
        if boundary not in self._at:
            index = self._index
            items = (
                *facts(self.history, boundary),
                *latest_and_decisions(self.history, index.changes.changes, boundary),
                *rules(index.statements, boundary),
                *todos(index.statements, index.work, boundary),
            )
            self._at[boundary] = BoundaryExam(self.history, boundary, items)
        return self._at[boundary]


class BoundaryExam:
    """One exam, with what each line of the history says of its items."""

    def __init__(self, history: ExamHistory, at: int, items: tuple[Item, ...]) -> None:
        self.at, self._history = at, history
        self._sheet = Sheet(items, history.vocabulary)
        self._whole = self._sheet.look_up(history.texts, history.lines)
        self._sheet.keep_answered(self._whole, history.before(at).newest)
        self.items = self._sheet.items

    def credit(self, seen: View) -> Floats:
        """(items,) what a context earns with the lexical reader, in [0, 1], chance not taken
        off.
        """
        return self.credit_behind(seen)(())

    def credit_behind(self, seen: View) -> Callable[[Sequence[str]], Floats]:
        """A function: what a context earns where the reader reads some lines before it."""
        history, sheet = self._history, self._sheet
        order, new = history.newest_in(seen.kept), history.new_text(seen)
        place = {line: number for number, line in enumerate(new.all)}  # the last place of each
        order = history.placed(np.where(order >= 0, order + len(new.all), order), place)
        hits, own = (
            sheet.look_up(*new[1:]),
            np.array([place[line] for line in new.unknown], dtype=np.int64),
        )

        def credit(earlier: Sequence[str]) -> Floats:
            first = {line: number for number, line in enumerate(earlier)}
            shifted = history.placed(np.where(order >= 0, order + len(earlier), order), first)
            rest = [line for line in first if line not in history.number]
            orders = [
                shifted,
                own + len(earlier),
                np.array([first[line] for line in rest], dtype=np.int64),
            ]
            return sheet.credit([self._whole, hits, sheet.look_up(rest)], orders)

        return credit

    def answering_lines(self) -> list[str]:
        """For each item the line of the history that speaks most for the answer, each once, in
        the history's order.
        """
        newest = self._history.before(self.at).newest
        lines = self._sheet.answering(self._whole, newest)
        return [
            self._history.texts[line]
            for line in sorted(lines, key=lambda line: (newest[line], line))
        ]

    def answered_by(self, texts: Sequence[str]) -> Flags:
        """(texts, items) which items each text answers, whatever other lines of the history are
        beside it.
        """
        newest = self._history.before(self.at).newest
        return self._sheet.answered_by(self._sheet.look_up(texts), len(texts), self._whole, newest)

    def score(self, seen: View) -> float:
        """The mean of the credits with chance taken off; 0 is guessing.

        Raises:
            ZeroDivisionError: the exam has no items.
        """
        return mean_score(self.items, self.credit(seen))


def rules(stated: StatementIndex, at: int) -> list[Item]:
    """What the user demanded or forbade before a boundary, each against its opposite and those
    of other rules.
    """
    found = [
        (int(first), entity.text)
        for entity, first in zip(stated.entities, stated.first.tolist(), strict=True)
        if entity.kind == "constraint"
        and first < at
        and _says(entity.text)
        and demands(entity.text)
    ]
    texts = [text for _, text in found]
    return [
        Item("rule", text, (flipped(text), *_opposites(texts, number)), evidence=text, said=said)
        for number, (said, text) in list(enumerate(found))[-MOST:]
    ]


def _opposites(texts: Sequence[str], but: int) -> Iterable[str]:
    others = [text for number, text in enumerate(texts) if number != but]
    return [flipped(text) for text in others[-OTHERS:]]


def todos(stated: StatementIndex, work: Work, at: int) -> list[Item]:
    """The announced work that is open at a boundary, each against what was announced and is
    done.
    """
    pending, done = (
        [
            entity.text
            for entity, one in zip(stated.entities, which.tolist(), strict=True)
            if one and is_work(entity.text)
        ]
        for which in work.open_and_done(at)
    )
    return [
        Item("todo", text, tuple(done[-2 * OTHERS :]), evidence=text)
        for text in pending[-MOST:]
        if done
    ]


def is_work(text: str) -> bool:
    """Whether announced work says something in particular, and more than what is going on or how
    things stand.
    """
    return (
        _says(text)
        and not _PROGRESS.search(text)
        and (bool(_ANNOUNCED.search(text)) or not is_pending(text))
    )


def _says(text: str) -> bool:
    return len(words_of(text)) >= FEWEST_WORDS
