"""The lexical reader: sits an exam by the words of a context alone. The default reader: no model, always the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress
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
    """The items of one exam, made ready to be looked up in any number of lines.

    Attributes:
        items: those that are asked.
    """

    def __init__(self, items: Sequence[Item], vocabulary: Vocabulary) -> None:
        self.items = self._drafted = tuple(items)
        self._vocabulary = vocabulary
        self._of = {
            name: np.array([i for i, item in enumerate(items) if item.kind in kinds], dtype=np.int64)
            for name, kinds in (("name", ("fact", "latest", "decision")), ("rule", ("rule",)), ("todo", ("todo",)))
        }
        self._closeness = Closeness(self._items("name"), vocabulary)
        self._rules = Sentences([item.candidates for item in self._items("rule")], vocabulary, directed=True)
        self._todos = Sentences([item.candidates for item in self._items("todo")], vocabulary, directed=False)
        self._is_latest = np.array([item.kind != "fact" for item in self._items("name")], dtype=bool)
        self._asked = np.ones(len(items), dtype=bool)
        self._candidates = {
            name: np.ones(one.shape, dtype=bool)
            for name, one in (("name", self._closeness), ("rule", self._rules), ("todo", self._todos))
        }

    def _items(self, name: str) -> list[Item]:
        return [self._drafted[number] for number in self._of[name].tolist()]

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

    def scores(self, found: Sequence[Found], orders: Sequence[Ints] | None = None) -> dict[str, Floats]:
        """For each group of kinds (items, candidates) how much speaks for each candidate.

        Args:
            found: what lines say, part by part.
            orders: for each part (lines,) the place of each line in the context, -1 for one that it lacks; by default
                all lines count, in their order.
        """
        orders = orders or [np.arange(part.count) for part in found]
        pairs = list(zip(found, orders, strict=True))
        rules = _highest(self._rules.shape, [(one.rules, order) for one, order in pairs]) * self._candidates["rule"]
        return {"name": self._names(pairs), "rule": rules, "todo": self._open(pairs) * self._candidates["todo"]}

    def credit(self, found: Sequence[Found], orders: Sequence[Ints] | None = None) -> Floats:
        """(items,) the credit of each in [0, 1] for what some lines say together; arguments as in `scores`."""
        credit = np.zeros(len(self._drafted))
        for name, score in self.scores(found, orders).items():
            credit[self._of[name]] = np.where(right(score), 1 / np.maximum(near(score).sum(axis=1), 1), 0.0)
        return credit[self._asked]

    def keep_answered(self, found: Sequence[Found], orders: Sequence[Ints]) -> None:
        """Ask only what a context answers right, without the look-alikes that it cannot tell from the answer."""
        for name, score in self.scores(found, orders).items():
            kept = ~near(score)
            kept[:, 0] = True
            fewest = np.array([FEWEST if item.kind == "fact" else 1 for item in self._items(name)], dtype=np.int64)
            there = [len(item.look_alikes) for item in self._items(name)]
            kept &= np.arange(kept.shape[1]) <= np.array(there, dtype=np.int64)[:, None]
            self._asked[self._of[name]] = right(score) & (kept.sum(axis=1) > fewest)
            self._candidates[name] = kept & self._asked[self._of[name]][:, None]
        left = {
            number: tuple(compress(self._drafted[number].look_alikes, kept[1:]))
            for name, of in self._of.items()
            for number, kept in zip(of.tolist(), self._candidates[name].tolist(), strict=True)
        }
        self.items = tuple(
            replace(item, look_alikes=left[number]) for number, item in enumerate(self._drafted) if self._asked[number]
        )

    def answering(self, found: Found, order: Ints) -> list[int]:
        """The lines that speak most for the answers, the newest of equal ones, each once."""
        best: dict[tuple[str, int], tuple[float, int, int]] = {}
        for name, hits in (("name", found.names), ("rule", found.rules), ("todo", found.todos)):
            of_answer = (hits.candidate == 0) & self._candidates[name][hits.item, 0] & (order[hits.line] >= 0)
            one = hits.where(of_answer)
            for item, line, score in zip(one.item.tolist(), one.line.tolist(), one.score.tolist(), strict=True):
                entry = (score, int(order[line]), line)
                best[name, item] = max(best.get((name, item), entry), entry)
        return list(dict.fromkeys(line for _, _, line in best.values()))

    def _names(self, pairs: Sequence[tuple[Found, Ints]]) -> Floats:
        shape = self._closeness.shape
        kept = self._candidates["name"]
        score = _highest(shape, [(found.names, order) for found, order in pairs]) * kept
        least = np.maximum(RIVAL * score.max(axis=1, initial=0.0), 1e-9)
        newest = np.full(shape, -1)
        for found, order in pairs if self._is_latest.any() else ():
            newest = np.maximum(newest, np.where(kept, found.names.newest(shape, order, least), -1))
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
