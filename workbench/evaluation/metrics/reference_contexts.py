"""Reference contexts that no agent could make: a random choice, and the best one, made with the
future known.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from workbench.engine.transcript.context import Context, callers, protected
from workbench.engine.transcript.message import Message, Summary, SystemMessage
from workbench.evaluation.metrics.exam.exams import BoundaryExam
from workbench.evaluation.metrics.exam.tokens import lines_of
from workbench.evaluation.metrics.view import View

SIDES = (1, 2, 3, 6, 12, 24)
"""Words on each side of an answer that a part of its line may have."""


def random_context(history: Context, target: int, seed: str) -> Context:
    """Messages drawn at random, calls with their results, as long as they fit into `target` tokens,
    overhead included.

    What is protected stays. Equal seeds draw equal messages.
    """
    protected_messages = protected(history.messages)
    units = _units(history.messages, protected_messages)
    random.Random(seed).shuffle(units)
    return _context(history, _filled(history, protected_messages, units, target))


class Oracle:
    """Makes the context of a history that answers most of its exam, at any size.

    It holds what is protected, a note that answers the exam, and the newest messages that fit
    beside it. The note has lines of the history, whole or cut to the words around an answer, in
    their order; each answers an item whatever else of the history is beside it. They are taken by
    newly answered items for their tokens, so that hardly any context of that size answers more.
    """

    def __init__(self, history: Context, exam: BoundaryExam) -> None:
        self._history = history
        self._protected = protected(history.messages)
        self._texts = _candidates(exam)
        is_missing = exam.credit(View(frozenset(self._protected), (), ())) < 1
        weights = np.array([item.weight for item in exam.items])
        self._answers = exam.answered_by(self._texts) * is_missing * weights
        tokens = [history.count(_note((text,))) for text in self._texts]
        self._tokens = np.array(tokens, dtype=np.float64)
        self._units = _units(history.messages, self._protected)[::-1]

    def context(self, target: int) -> Context:
        """The best context of so many tokens, overhead included."""
        history = self._history
        size = history.overhead + sum(history.sizes[index] for index in self._protected)
        texts = self._best(target - size)
        while texts and size + history.count(self._note_of(texts)) > target:
            texts.pop()
        if not texts:
            return _context(history, _filled(history, self._protected, self._units, target))
        note = self._note_of(texts)
        room = target - history.count(note)
        return _context(history, _filled(history, self._protected, self._units, room), note)

    def _note_of(self, texts: Sequence[int]) -> Summary:
        return _note([self._texts[number] for number in sorted(texts)])

    def _best(self, room: float) -> list[int]:
        """Texts in the order of newly answered items for their tokens, as long as they fit."""
        best_texts: list[int] = []
        missing = self._answers.copy()
        while len(missing):
            gains = np.where(self._tokens <= room, missing.sum(axis=1), 0)
            best = int(np.argmax(gains / np.maximum(self._tokens, 1)))
            if not gains[best]:
                break
            best_texts.append(best)
            room -= self._tokens[best]
            missing[:, missing[best] > 0] = 0
        return best_texts


def _candidates(exam: BoundaryExam) -> list[str]:
    """The lines that answer an exam, in order, each after its parts: so many words on both sides
    of each answer.
    """
    texts: dict[str, None] = {}
    for line in exam.answering_lines():
        for item in exam.items:
            if item.cue:
                texts.update(dict.fromkeys(_parts_around(line, item.answer)))
        texts[plain(line)] = None
    return list(texts)


def _parts_around(line: str, answer: str) -> Iterator[str]:
    """The words of a line around an answer, a few on each side, then more."""
    answer_start = line.lower().find(answer.lower())
    if answer_start < 0:
        return
    words = line.split()
    first_word = len(line[:answer_start].split())
    stop_word = first_word + len(answer.split())
    for side in SIDES:
        part = words[max(0, first_word - side) : stop_word + side]
        yield plain(" ".join(part))


def plain(line: str) -> str:
    """The line, quoted where it would be read as a heading of those below it."""
    is_no_heading = list(lines_of(f"{line}\nx", headed=True)) == [line, "x"]
    return line if is_no_heading else f"`{line}`"


def _note(lines: Sequence[str]) -> Summary:
    return Summary(id="note", text="\n".join(lines))


def _units(messages: Sequence[Message], left_out: set[int]) -> list[tuple[int, ...]]:
    """The messages that stand or fall together, in order, without some."""
    caller_of = callers(messages)
    units: dict[int, list[int]] = defaultdict(list)
    for index in range(len(messages)):
        if index not in left_out:
            units[caller_of.get(index, index)].append(index)
    return [tuple(unit) for unit in units.values()]


def _filled(
    history: Context, fixed: set[int], units: Iterable[tuple[int, ...]], target: int
) -> set[int]:
    """Some fixed messages, and of the units in their order each that still fits."""
    messages = set(fixed)
    room = target - history.overhead - sum(history.sizes[index] for index in fixed)
    for unit in units:
        size = sum(history.sizes[index] for index in unit)
        if size <= room:
            messages.update(unit)
            room -= size
    return messages


def _context(history: Context, indices: set[int], note: Summary | None = None) -> Context:
    """Some messages of a history, and a note after the system's messages."""
    in_order = sorted(indices)
    messages = [history.messages[index] for index in in_order]
    sizes = [history.sizes[index] for index in in_order]
    if note is not None:
        note_index = sum(isinstance(message, SystemMessage) for message in messages)
        messages.insert(note_index, note)
        sizes.insert(note_index, history.count(note))
    return Context(tuple(messages), tuple(sizes), history.overhead, history.count)
