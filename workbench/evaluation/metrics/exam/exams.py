"""The exams of a session, and what contexts score in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import compress

import numpy as np

from workbench.base.ragged import Flags, Floats, Ints, integers
from workbench.engine.extraction.statements import is_pending
from workbench.evaluation.metrics.exam.changes import latest_and_decisions
from workbench.evaluation.metrics.exam.closeness import Hits
from workbench.evaluation.metrics.exam.facts import facts
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.item import Item, mean_score
from workbench.evaluation.metrics.exam.later_use import LaterUse
from workbench.evaluation.metrics.exam.sheet import Sheet
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
        exams = index.inverted_index.exams
        if not isinstance(exams, cls):
            exams = cls(index)
            index.inverted_index.exams = exams
        return exams

    @cached_property
    def later_use(self) -> LaterUse:
        """What the session used again in lines and phrases."""
        return LaterUse(self.history)

    def at(self, boundary: int) -> BoundaryExam:
        """The exam of `messages[:boundary]`."""
        if boundary not in self._at:
            items = self._items(boundary)
            self._at[boundary] = BoundaryExam(
                self.history,
                boundary,
                tuple(items),
            )
        return self._at[boundary]

    def _items(self, boundary: int) -> list[Item]:
        """What may be asked at a boundary."""
        index = self._index
        changes = index.changes.changes
        statements = index.statements
        items = facts(self.history, boundary)
        items += latest_and_decisions(self.history, changes, boundary)
        items += rules(statements, boundary)
        items += todos(statements, index.work, boundary)
        return items


class BoundaryExam:
    """One exam, with what each line of the history says of its items."""

    def __init__(self, history: ExamHistory, boundary: int, items: tuple[Item, ...]) -> None:
        self.at = boundary
        self._history = history
        self._sheet = Sheet(items, history.vocabulary)
        self._of_history = self._sheet.look_up(history.texts, history.lines)
        newest = history.before(boundary).newest
        self._sheet.keep_answered(self._of_history, newest)
        self.items = self._sheet.items

    def credit(self, context: View) -> Floats:
        """(items,) a context's credits by the lexical reader, in [0, 1], with chance."""
        credit = self.credit_behind(context)
        no_lines = ()
        return credit(no_lines)

    def credit_behind(self, context: View) -> Callable[[Sequence[str]], Floats]:
        """A function: what a context earns where the reader reads some lines before it."""
        history = self._history
        sheet = self._sheet
        new = history.new_text(context)
        last_place = _last_places(new.all)
        newest = history.newest_in(context.kept)
        new_line_count = len(new.all)
        order = _moved(newest, new_line_count)
        order = history.placed(order, last_place)
        of_new_lines = sheet.look_up(new.unknown, new.lines)
        new_order = integers(last_place[line] for line in new.unknown)

        def credit(earlier: Sequence[str]) -> Floats:
            earlier_count = len(earlier)
            earlier_place = _last_places(earlier)
            order_behind = _moved(order, earlier_count)
            order_behind = history.placed(order_behind, earlier_place)
            unknown: list[str] = []
            unknown_order: list[int] = []
            for line, place in earlier_place.items():
                if line not in history.number:
                    unknown.append(line)
                    unknown_order.append(place)
            of_unknown_lines = sheet.look_up(unknown)
            hits = (self._of_history, of_new_lines, of_unknown_lines)
            orders = (
                order_behind,
                new_order + earlier_count,
                integers(unknown_order),
            )
            return sheet.credit(hits, orders)

        return credit

    def answering_lines(self) -> list[str]:
        """For each item the line that speaks most for the answer, each once, in order."""
        newest = self._history.before(self.at).newest

        def place(line: int) -> tuple[int, int]:
            return newest[line], line

        lines = self._sheet.answering(self._of_history, newest)
        lines.sort(key=place)
        texts = self._history.texts
        return [texts[line] for line in lines]

    def answered_by(self, texts: Sequence[str]) -> Flags:
        """(texts, items) which items each text answers, whatever other lines are beside it."""
        hits = self._sheet.look_up(texts)
        text_count = len(texts)
        return self._answered(hits, text_count)

    def answered_by_lines(self) -> Flags:
        """(lines, items) the same of each line of the session."""
        line_count = len(self._history.texts)
        return self._answered(self._of_history, line_count)

    def _answered(self, hits: Hits, line_count: int) -> Flags:
        """(lines, items) which items each of some lines answers, by what these say."""
        newest = self._history.before(self.at).newest
        return self._sheet.answered_by(
            hits,
            line_count,
            self._of_history,
            newest,
        )

    def score(self, context: View) -> float:
        """The mean of the credits with chance taken off; 0 is guessing.

        Raises:
            ZeroDivisionError: the exam has no items.
        """
        credit = self.credit(context)
        return mean_score(self.items, credit)


def _last_places(lines: Sequence[str]) -> dict[str, int]:
    """The last place of each line."""
    return {line: place for place, line in enumerate(lines)}


def _moved(order: Ints, line_count: int) -> Ints:
    """The places of lines behind so many other lines; -1 stays what it is."""
    return np.where(order >= 0, order + line_count, order)


def rules(statements: StatementIndex, boundary: int) -> list[Item]:
    """What the user demanded before a boundary, each against its opposite and other rules'."""
    texts: list[str] = []
    messages: list[int] = []
    first_messages = statements.first.tolist()
    entities_with_messages = zip(statements.entities, first_messages, strict=True)
    for entity, message in entities_with_messages:
        if entity.kind != "constraint" or message >= boundary:
            continue
        text = entity.text
        if _says(text) and demands(text):
            texts.append(text)
            messages.append(message)
    items: list[Item] = []
    first_asked = max(len(texts) - MOST, 0)
    for number in range(first_asked, len(texts)):
        text = texts[number]
        opposite = flipped(text)
        look_alikes = (opposite, *_opposites(texts, number))
        item = Item(
            "rule",
            text,
            look_alikes,
            evidence=text,
            said=messages[number],
        )
        items.append(item)
    return items


def _opposites(texts: Sequence[str], left_out: int) -> Iterable[str]:
    """The opposites of the newest rules, without one."""
    earlier_texts = texts[:left_out]
    later_texts = texts[left_out + 1 :]
    other_texts = [*earlier_texts, *later_texts]
    newest_texts = other_texts[-OTHERS:]
    return map(flipped, newest_texts)


def todos(statements: StatementIndex, work: Work, boundary: int) -> list[Item]:
    """The announced work that is open at a boundary, each against finished work."""
    is_open, is_done = work.open_and_done(boundary)
    open_work = _work_among(statements, is_open)
    finished_work = _work_among(statements, is_done)
    if not finished_work:
        return []
    newest_finished = finished_work[-2 * OTHERS :]
    newest_open = open_work[-MOST:]
    items: list[Item] = []
    for text in newest_open:
        item = Item(
            "todo",
            text,
            tuple(newest_finished),
            evidence=text,
        )
        items.append(item)
    return items


def _work_among(statements: StatementIndex, flags: Flags) -> list[str]:
    """The announced work among the statements with a flag."""
    announced: list[str] = []
    for entity in compress(statements.entities, flags):
        if is_work(entity.text):
            announced.append(entity.text)
    return announced


def is_work(text: str) -> bool:
    """Whether announced work says something in particular, and not just how things stand."""
    if not _says(text) or _PROGRESS.search(text):
        return False
    if _ANNOUNCED.search(text):
        return True
    return not is_pending(text)


def _says(text: str) -> bool:
    """Whether a sentence has enough specific words."""
    words = words_of(text)
    return len(words) >= FEWEST_WORDS
