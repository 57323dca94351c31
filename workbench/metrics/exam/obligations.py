"""Items that are sentences: what the user demanded, and what is still to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.metrics.exam.item import Item
from workbench.metrics.exam.stating import denies, flipped, words_of
from workbench.metrics.indexes.text_index import StatementIndex
from workbench.metrics.state.work import Work

MOST = 8
"""Items of each kind at a boundary: the newest."""
OTHERS = 3
"""Look-alikes beside a rule's own opposite: the opposites of other rules of the session."""
FEWEST_WORDS = 3
"""Words of its own that a sentence needs: with fewer it says nothing in particular."""


def rules(stated: StatementIndex, at: int) -> list[Item]:
    """What the user demanded or forbade before a boundary, each against its opposite and those of other rules."""
    found = [
        (int(first), entity.text)
        for entity, first in zip(stated.entities, stated.first.tolist(), strict=True)
        if entity.kind == "constraint" and first < at and _is_clear(entity.text)
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
    """The announced work that is open at a boundary, each against what was announced and is done."""
    pending, done = (
        [entity.text for entity, one in zip(stated.entities, which.tolist(), strict=True) if one and _says(entity.text)]
        for which in work.open_and_done(at)
    )
    return [Item("todo", text, tuple(done[-2 * OTHERS :]), evidence=text) for text in pending[-MOST:] if done]


def _is_clear(text: str) -> bool:
    """Whether a rule says something in particular, and its opposite says the opposite."""
    return _says(text) and denies(text) != denies(flipped(text))


def _says(text: str) -> bool:
    return len(words_of(text)) >= FEWEST_WORDS
