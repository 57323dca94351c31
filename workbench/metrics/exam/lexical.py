"""The lexical reader: sits an exam by the words of a context alone. The default reader: no model, always the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from workbench.metrics.exam.closeness import Closeness, Hits
from workbench.metrics.exam.cues import FEWEST
from workbench.metrics.exam.item import Item
from workbench.metrics.exam.stating import Sentences
from workbench.metrics.exam.tokens import Lines, Vocabulary, lines_of
from workbench.metrics.state.work import says_done
from workbench.ragged import Flags, Floats, Ints

MARGIN = 1.15
"""A candidate whose score is so near the best one shares the credit with it."""
RIVAL = 0.85
"""Of several values of a thing, those with at least this share of the best score are rivals; the newest one holds."""


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
    """Takes the candidate that the cue's words stand closest to; of sentences, those that the context states."""

    name = "lexical"

    def read(self, items: Sequence[Item], texts: Sequence[str]) -> Floats:
        """(items,) the credit of each in [0, 1]; see `Reader`."""
        sheet = Sheet(items, Vocabulary())
        lines = [line for text in texts for line in lines_of(text, headed=True)]
        return sheet.credit([sheet.look_up(lines)])


class Sheet:
    """The items of one exam, made ready to be looked up in any number of lines."""

    def __init__(self, items: Sequence[Item], vocabulary: Vocabulary) -> None:
        self.items = tuple(items)
        self._vocabulary = vocabulary
        self._of = {
            name: np.array([i for i, item in enumerate(items) if item.kind in kinds], dtype=np.int64)
            for name, kinds in (("name", ("fact", "latest", "decision")), ("rule", ("rule",)), ("todo", ("todo",)))
        }
        self._closeness = Closeness(self._items("name"), vocabulary)
        self._rules = Sentences([item.candidates for item in self._items("rule")], vocabulary, directed=True)
        self._todos = Sentences([item.candidates for item in self._items("todo")], vocabulary, directed=False)
        self._is_latest = np.array([item.kind != "fact" for item in self._items("name")], dtype=bool)

    def _items(self, name: str) -> list[Item]:
        return [self.items[number] for number in self._of[name].tolist()]

    def look_up(self, texts: Sequence[str], lines: Lines | None = None) -> Found:
        """What some lines say of the items.

        Args:
            texts: lines, as `lines_of` gives them.
            lines: the same, where they were read before.
        """
        lines = lines or Lines(texts, self._vocabulary)
        todo = self._todos.hits(lines)
        done = np.array([says_done(texts[line]) for line in todo.line.tolist()], dtype=bool)
        return Found(lines.count, self._closeness.hits(lines), self._rules.hits(lines), todo, done)

    def scores(self, found: Sequence[Found], orders: Sequence[Ints] | None = None) -> list[tuple[Ints, Floats]]:
        """For each group of kinds its items, and (items, candidates) how much speaks for each candidate.

        Args:
            found: what lines say, part by part.
            orders: for each part (lines,) the place of each line in the context, -1 for one that it lacks; by default
                all lines count, in their order.
        """
        orders = orders or [np.arange(part.count) for part in found]
        pairs = list(zip(found, orders, strict=True))
        rules = _highest(self._rules.shape, [(one.rules, order) for one, order in pairs])
        return [
            (self._of["name"], self._names(pairs)), (self._of["rule"], rules), (self._of["todo"], self._open(pairs)),
        ]  # fmt: skip

    def credit(self, found: Sequence[Found], orders: Sequence[Ints] | None = None) -> Floats:
        """(items,) the credit of each in [0, 1] for what some lines say together; arguments as in `scores`."""
        credit = np.zeros(len(self.items))
        for items, score in self.scores(found, orders):
            credit[items] = np.where(right(score), 1 / np.maximum(near(score).sum(axis=1), 1), 0.0)
        return credit

    def told_apart(self, found: Sequence[Found], orders: Sequence[Ints]) -> list[Item]:
        """The items that a context answers right, without the look-alikes that it cannot tell from the answer."""
        kept: dict[int, Item] = {}
        for items, score in self.scores(found, orders):
            for number, is_right, confused in zip(items.tolist(), right(score), near(score), strict=True):
                item = self.items[number]
                others = tuple(text for text, same in zip(item.look_alikes, confused[1:], strict=False) if not same)
                if is_right and len(others) >= (FEWEST if item.kind == "fact" else 1):
                    kept[number] = replace(item, look_alikes=others)
        return [kept[number] for number in sorted(kept)]

    def answering(self, found: Found, order: Ints) -> list[int]:
        """The lines that speak most for the answers, the newest of equal ones, each once."""
        best: dict[tuple[int, int], tuple[float, int, int]] = {}
        for group, hits in enumerate((found.names, found.rules, found.todos)):
            for item, candidate, line, score in zip(hits.item, hits.candidate, hits.line, hits.score, strict=True):
                if candidate == 0 and order[line] >= 0:
                    entry = (float(score), int(order[line]), int(line))
                    best[group, int(item)] = max(best.get((group, int(item)), entry), entry)
        return list(dict.fromkeys(line for _, _, line in best.values()))

    def _names(self, pairs: Sequence[tuple[Found, Ints]]) -> Floats:
        shape = self._closeness.shape
        score = _highest(shape, [(found.names, order) for found, order in pairs])
        least = np.maximum(RIVAL * score.max(axis=1, initial=0.0), 1e-9)
        newest = np.full(shape, -1)
        for found, order in pairs if self._is_latest.any() else ():
            newest = np.maximum(newest, found.names.newest(shape, order, least))
        holds = (newest >= 0) & (newest >= newest.max(axis=1, keepdims=True))
        return np.where(self._is_latest[:, None], holds * 1.0, score)

    def _open(self, pairs: Sequence[tuple[Found, Ints]]) -> Floats:
        """A piece of work is open where the last line that states it does not say that it is done."""
        shape = self._todos.shape
        last = {over: np.full(shape, -1) for over in (False, True)}
        for found, order in pairs:
            for over in (False, True):
                hits = found.todos.where(found.done == over)
                last[over] = np.maximum(last[over], hits.newest(shape, order, np.zeros(shape[0])))
        return (last[False] > last[True]).astype(np.float64)


class Found:
    """What some lines say of an exam's items."""

    def __init__(self, count: int, names: Hits, rules: Hits, todos: Hits, done: Flags) -> None:
        self.count, self.names, self.rules, self.todos, self.done = count, names, rules, todos, done


def _highest(shape: tuple[int, int], parts: Iterable[tuple[Hits, Ints]]) -> Floats:
    score = np.zeros(shape)
    for hits, order in parts:
        score = np.maximum(score, hits.best(shape, order >= 0))
    return score


def near(score: Floats) -> Flags:
    """(items, candidates) whether a candidate's score is near the best one."""
    found: Flags = (score * MARGIN >= score.max(axis=1, initial=0.0)[:, None]) & (score > 0)
    return found


def right(score: Floats) -> Flags:
    """(items,) whether the answer, the first candidate, has the best score."""
    found: Flags = (score[:, 0] >= score.max(axis=1, initial=0.0) - 1e-9) & (score[:, 0] > 0)
    return found
