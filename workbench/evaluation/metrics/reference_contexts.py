"""Reference contexts that no agent could make: a random choice, and the best one, made with the
future known.
"""

import random
from collections.abc import Iterable, Sequence

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
    kept = protected(history.messages)
    units = _units(history.messages, kept)
    random.Random(seed).shuffle(units)
    return _chosen(history, _filled(history, kept, units, target))


class Oracle:
    """Makes the context of a history that answers most of its exam, at any size.

    It holds what is protected, a note that answers the exam, and the newest messages that fit
    beside it. The note has lines of the history, whole or cut to the words around an answer, in
    their order; each answers an item whatever else of the history is beside it. They are taken by
    newly answered items for their tokens, so that hardly any context of that size answers more.
    """

    def __init__(self, history: Context, exam: BoundaryExam) -> None:
        self._history = history
        self._kept = protected(history.messages)
        self._texts = _candidates(exam)
        missing = exam.credit(View(frozenset(self._kept), (), ())) < 1
        self._answers = (
            exam.answered_by(self._texts) * missing * np.array([item.weight for item in exam.items])
        )
        self._tokens = np.array(
            [history.count(_note((text,))) for text in self._texts], dtype=np.float64
        )
        self._units = _units(history.messages, self._kept)[::-1]

    def context(self, target: int) -> Context:
        """The best context of so many tokens, overhead included."""
        history = self._history
        size = history.overhead + sum(history.sizes[i] for i in self._kept)
        chosen = self._best(target - size)
        while chosen and size + history.count(self._said(chosen)) > target:
            chosen.pop()
        note = self._said(chosen) if chosen else None
        rest = target - history.count(note) if note is not None else target
        return _chosen(history, _filled(history, self._kept, self._units, rest), note)

    def _said(self, chosen: Sequence[int]) -> Summary:
        return _note([self._texts[number] for number in sorted(chosen)])

    def _best(self, room: float) -> list[int]:
        """Texts in the order of newly answered items for their tokens, as long as they fit."""
        chosen: list[int] = []
        missing = self._answers.copy()
        while len(missing):
            gains = np.where(self._tokens <= room, missing.sum(axis=1), 0)
            best = int(np.argmax(gains / np.maximum(self._tokens, 1)))
            if not gains[best]:
                break
            chosen.append(best)
            room -= self._tokens[best]
            missing[:, missing[best] > 0] = 0
        return chosen


def _candidates(exam: BoundaryExam) -> list[str]:
    """The lines that answer an exam, in order, each after its parts: so many words on both sides
    of each answer.
    """
    texts: dict[str, None] = {}
    for line in exam.answering_lines():
        words = line.split()
        for item in exam.items:
            at = line.lower().find(item.answer.lower())
            if at >= 0 and item.cue:
                place, long = len(line[:at].split()), len(item.answer.split())
                for side in SIDES:
                    part = words[max(0, place - side) : place + long + side]
                    texts[plain(" ".join(part))] = None
        texts[plain(line)] = None
    return list(texts)


def plain(line: str) -> str:
    """The line, quoted where it would be read as a heading of those below it."""
    return line if list(lines_of(f"{line}\nx", headed=True)) == [line, "x"] else f"`{line}`"


def _note(lines: Sequence[str]) -> Summary:
    return Summary(id="note", text="\n".join(lines))


def _units(messages: Sequence[Message], but: set[int]) -> list[tuple[int, ...]]:
    """The messages that stand or fall together, in order, without some."""
    caller_of = callers(messages)
    found: dict[int, list[int]] = {}
    for i in range(len(messages)):
        if i not in but:
            found.setdefault(caller_of.get(i, i), []).append(i)
    return [tuple(unit) for unit in found.values()]


def _filled(
    history: Context, kept: set[int], units: Iterable[tuple[int, ...]], target: int
) -> set[int]:
    """What is kept, and of the units in their order each that still fits."""
    found = set(kept)
    room = target - history.overhead - sum(history.sizes[i] for i in kept)
    for unit in units:
        size = sum(history.sizes[i] for i in unit)
        if size <= room:
            found.update(unit)
            room -= size
    return found


def _chosen(history: Context, kept: set[int], note: Summary | None = None) -> Context:
    chosen = [(history.messages[i], history.sizes[i]) for i in sorted(kept)]
    if note is not None:
        chosen.insert(
            sum(isinstance(message, SystemMessage) for message, _ in chosen),
            (note, history.count(note)),
        )
    messages, sizes = zip(*chosen, strict=True) if chosen else ((), ())
    return Context(messages, sizes, history.overhead, history.count)
