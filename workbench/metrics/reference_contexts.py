"""Reference contexts that no agent could make: a random choice, and the best one, made with the future known."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import numpy as np

from workbench.extraction.words import words
from workbench.metrics.demand import Demand, Need
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, SystemMessage
from workbench.transcript.pairing import callers, protected


def random_context(history: Context, target: int, seed: str) -> Context:
    """Messages drawn at random, calls with their results, as long as they fit into `target` tokens, overhead included.

    What is protected stays. Equal seeds draw equal messages.
    """
    kept = protected(history.messages)
    units = _units(history.messages, kept)
    random.Random(seed).shuffle(units)
    return _chosen(history, _filled(history, kept, units, target))


class Oracle:
    """Makes the context of a history that keeps most of what is needed of it later, at any size.

    It holds what is protected, a note with lines for what is needed later, and the newest messages that fit beside it.
    Of each needed entity the note has the evidence, or no more than binds it: the entity and two words of its evidence.
    Lines are taken by newly bound entities for their tokens, so that hardly any context of that size binds more.
    """

    def __init__(self, history: Context, demand: Demand) -> None:
        self._history = history
        self._kept = protected(history.messages)
        self._bound = demand.retained(self._kept).bound
        self._texts, self._binds = demand.bound_by(_candidates(demand.needs))
        self._tokens = np.array([history.count(_note((text,))) for text in self._texts], dtype=np.float64)
        self._units = _units(history.messages, self._kept)[::-1]

    def context(self, target: int) -> Context:
        """The best context of so many tokens, overhead included."""
        history = self._history
        size = history.overhead + sum(history.sizes[i] for i in self._kept)
        lines = self._best(target - size)
        while lines and size + history.count(_note(lines)) > target:
            lines.pop()
        note = _note(lines) if lines else None
        rest = target - history.count(note) if note is not None else target
        return _chosen(history, _filled(history, self._kept, self._units, rest), note)

    def _best(self, room: float) -> list[str]:
        """Lines in the order of newly bound entities for their tokens, as long as they fit."""
        chosen: list[str] = []
        missing = self._binds & ~self._bound
        while len(missing):
            gains = np.where(self._tokens <= room, missing.sum(axis=1), 0)
            best = int(np.argmax(gains / np.maximum(self._tokens, 1)))
            if not gains[best]:
                break
            chosen.append(self._texts[best])
            room -= self._tokens[best]
            missing &= ~missing[best]
        return chosen


def _candidates(needs: Iterable[Need]) -> list[str]:
    """For each needed entity its evidence and the least that may bind it; each line once."""
    texts: dict[str, None] = {}
    for need in needs:
        own = set(words(need.entity.text))
        rest = sorted((word for word in words(need.evidence_text) if word not in own), key=len)
        texts[f"{need.entity.text} {' '.join(rest[:2])}".strip()] = None
        texts[need.evidence_text] = None
    return list(texts)


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


def _filled(history: Context, kept: set[int], units: Iterable[tuple[int, ...]], target: int) -> set[int]:
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
        chosen.insert(sum(isinstance(message, SystemMessage) for message, _ in chosen), (note, history.count(note)))
    messages, sizes = zip(*chosen, strict=True) if chosen else ((), ())
    return Context(messages, sizes, history.overhead, history.count)
