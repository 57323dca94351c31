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
    messages = _filled(history, protected_messages, units, target)
    return _context(history, messages)


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
        protected_alone = View(frozenset(self._protected), (), ())
        credit = exam.credit(protected_alone)
        is_missing = credit < 1
        weights = np.array([item.weight for item in exam.items])
        is_answered = exam.answered_by(self._texts)
        self._answers = is_answered * is_missing * weights
        tokens: list[int] = []
        for text in self._texts:
            note = _note([text])
            note_size = history.count(note)
            tokens.append(note_size)
        self._tokens = np.array(tokens, dtype=np.float64)
        units = _units(history.messages, self._protected)
        self._newest_units = units[::-1]

    def context(self, target: int) -> Context:
        """The best context of so many tokens, overhead included."""
        history = self._history
        size = history.overhead + _size(history, self._protected)
        room_for_note = target - size
        texts = self._best(room_for_note)
        note: Summary | None = None
        room = target
        while texts:
            note = self._note_of(texts)
            note_size = history.count(note)
            if size + note_size <= target:
                room -= note_size
                break
            texts.pop()
            note = None
        messages = _filled(history, self._protected, self._newest_units, room)
        return _context(history, messages, note)

    def _note_of(self, numbers: Sequence[int]) -> Summary:
        """A note of some texts, in their order."""
        texts = [self._texts[number] for number in sorted(numbers)]
        return _note(texts)

    def _best(self, room: float) -> list[int]:
        """Texts in the order of newly answered items for their tokens, as long as they fit."""
        best_texts: list[int] = []
        missing = self._answers.copy()
        divisors = np.maximum(self._tokens, 1)
        while len(missing):
            newly_answered = missing.sum(axis=1)
            fits = self._tokens <= room
            gains = np.where(fits, newly_answered, 0)
            gains_a_token = gains / divisors
            best = int(np.argmax(gains_a_token))
            if not gains[best]:
                break
            best_texts.append(best)
            room -= self._tokens[best]
            is_answered = missing[best] > 0
            missing[:, is_answered] = 0
        return best_texts


def _candidates(exam: BoundaryExam) -> list[str]:
    """The lines that answer an exam, in order, each after its parts: so many words on both sides
    of each answer.
    """
    texts: dict[str, None] = {}
    for line in exam.answering_lines():
        for item in exam.items:
            if not item.cue:
                continue
            for part in _parts_around(line, item.answer):
                texts[part] = None
        texts[plain(line)] = None
    return list(texts)


def _parts_around(line: str, answer: str) -> Iterator[str]:
    """The words of a line around an answer, a few on each side, then more."""
    answer_start = line.lower().find(answer.lower())
    if answer_start < 0:
        return
    words = line.split()
    words_before_answer = line[:answer_start].split()
    first_word = len(words_before_answer)
    answer_words = answer.split()
    stop_word = first_word + len(answer_words)
    for side in SIDES:
        start = max(0, first_word - side)
        stop = stop_word + side
        part = " ".join(words[start:stop])
        yield plain(part)


def plain(line: str) -> str:
    """The line, quoted where it would be read as a heading of those below it."""
    text = f"{line}\nx"
    lines_as_read = list(lines_of(text, headed=True))
    if lines_as_read == [line, "x"]:
        return line
    return f"`{line}`"


def _note(lines: Sequence[str]) -> Summary:
    text = "\n".join(lines)
    return Summary(id="note", text=text)


def _units(messages: Sequence[Message], left_out: set[int]) -> list[tuple[int, ...]]:
    """The messages that stand or fall together, in order, without some."""
    caller_of = callers(messages)
    units: dict[int, list[int]] = defaultdict(list)
    for index in range(len(messages)):
        if index not in left_out:
            caller = caller_of.get(index, index)
            units[caller].append(index)
    return [tuple(unit) for unit in units.values()]


def _size(history: Context, indices: Iterable[int]) -> int:
    """The tokens of some messages of a history."""
    return sum(history.sizes[index] for index in indices)


def _filled(
    history: Context,
    fixed: set[int],
    units: Iterable[tuple[int, ...]],
    target: int,
) -> set[int]:
    """Some fixed messages, and of the units in their order each that still fits."""
    messages = set(fixed)
    fixed_size = history.overhead + _size(history, fixed)
    room = target - fixed_size
    for unit in units:
        size = _size(history, unit)
        if size <= room:
            messages.update(unit)
            room -= size
    return messages


def _context(
    history: Context,
    indices: set[int],
    note: Summary | None = None,
) -> Context:
    """Some messages of a history, and a note after the system's messages."""
    messages: list[Message] = []
    sizes: list[int] = []
    note_index = 0
    for index in sorted(indices):
        message = history.messages[index]
        messages.append(message)
        sizes.append(history.sizes[index])
        if isinstance(message, SystemMessage):
            note_index += 1
    if note is not None:
        note_size = history.count(note)
        messages.insert(note_index, note)
        sizes.insert(note_index, note_size)
    return Context(
        messages=tuple(messages),
        sizes=tuple(sizes),
        overhead=history.overhead,
        count=history.count,
    )
