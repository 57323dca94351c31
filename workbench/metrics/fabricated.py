"""Entities that a text names and no history does."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.extraction.entities import Entity
from workbench.metrics.indexes.inverted_index import InvertedIndex
from workbench.metrics.indexes.text_index import TextIndex

_HEADING = re.compile(r"^(?:#{1,6}\s|</?[\w-]+>$|\*\*[^*]+\*\*:?$|[A-Z][\w /&-]{0,40}:$|[-=_*]{3,}$)")

_EXACT = frozenset({"path", "url", "hash", "flag", "version"})
"""Kinds that are false even in a heading, and for which other words in common excuse nothing."""


def fabricated(inverted_index: InvertedIndex, index: TextIndex, at: int, texts: Iterable[str]) -> tuple[Entity, ...]:
    """The entities in texts that occur nowhere in `messages[:at]`, each once, in order.

    No fabrication: another spelling of something said, a path that a said path ends with, a name that stands in the
    history as part of something else, words quoted from the middle of a line, section headings, what any model knows.

    Fails to see: a true entity in a false sentence; takes for false: a number that was worked out, a file's new folder.
    """
    found: dict[Entity, None] = {}
    named = index.every_entity(texts)
    unsaid = {number for number in {number for number, _ in named} if index.first_said(number) >= at}
    for number, span in named:
        if number not in unsaid:
            continue
        name = index.name(number)
        if name in found or (name.kind not in _EXACT and _HEADING.match(index.text(span))):
            continue
        if index.first_inside(name) >= at:
            found[name] = None
    return tuple(found)
