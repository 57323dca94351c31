"""Contexts made to please a metric, which no agent could work with: a sound measure gives them next to nothing.

None of them knows how the headline metric is made. One that did, and wrote the commonest words of the session beside
every thing, would keep much of it: the measure is for strategies that are blind to it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from workbench.metrics.index import Index

Gamer = Callable[[Index, int, str], Iterator[str]]
"""The session, the boundary, a seed; the lines of the context, best first, until the reader has enough."""

A_LINE = 12
"""Things in a line."""
MARKERS = ("important:", "remember:", "note:", "fact:", "must keep:")


def entity_list(index: Index, at: int, seed: str) -> Iterator[str]:
    """Every exact thing of the history, without the words around it, in a random order."""
    entities = _entities(index, at)
    random.Random(seed).shuffle(entities)
    return (" ".join(line) for line in _lines(entities))


def word_soup(index: Index, at: int, seed: str) -> Iterator[str]:
    """The words and exact things of the history in a random order."""
    p = index.inverted_index
    said = p.place_span[: p.message_start[at]][~p.thought[: p.message_start[at]]]
    names = list(p.extractor.words)
    numbers = np.unique(p.span_words[said].indices)
    soup = _entities(index, at) + [names[number] for number in numbers.tolist()]
    random.Random(seed).shuffle(soup)
    return (" ".join(line) for line in _lines(soup))


def marker_copy(index: Index, at: int, seed: str) -> Iterator[str]:
    """Every exact thing of the history behind a word that promises weight, in a random order."""
    chance = random.Random(seed)
    entities = _entities(index, at)
    chance.shuffle(entities)
    return (f"{chance.choice(MARKERS)} {entity}" for entity in entities)


GAMERS: Mapping[str, Gamer] = {"entity_list": entity_list, "word_soup": word_soup, "marker_copy": marker_copy}


def filled(lines: Iterable[str], count: Callable[[str], int], budgets: Sequence[int]) -> list[str]:
    """For each budget as many of the lines as fit; each line is counted once.

    Args:
        lines: best first.
        count: tokens of a text.
        budgets: tokens, in growing order.
    """
    chosen: list[str] = []
    found: list[str] = []
    spent = 0
    for line in lines:
        spent += count(line) + 1
        while len(found) < len(budgets) and spent > budgets[len(found)]:
            found.append("\n".join(chosen))
        if len(found) == len(budgets):
            break
        chosen.append(line)
    return found + ["\n".join(chosen)] * (len(budgets) - len(found))


def _entities(index: Index, at: int) -> list[str]:
    p = index.inverted_index
    return [p.names[number].text for number in np.flatnonzero(p.first_seen < at).tolist()]


def _lines(things: list[str]) -> Iterator[list[str]]:
    return (things[i : i + A_LINE] for i in range(0, len(things), A_LINE))
