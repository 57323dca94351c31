"""Entities that a text names and no history does."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from workbench.extraction.entities import Entity, plain
from workbench.extraction.words import words
from workbench.metrics.inverted_index import InvertedIndex
from workbench.metrics.reading import Reader

_HEADING = re.compile(r"^(?:#{1,6}\s|</?[\w-]+>$|\*\*[^*]+\*\*:?$|[A-Z][\w /&-]{0,40}:$|[-=_*]{3,}$)")

_EXACT = frozenset({"path", "url", "hash", "flag", "version"})
"""Kinds that are false even in a heading, and for which other words in common excuse nothing."""


def fabricated(inverted_index: InvertedIndex, reader: Reader, at: int, texts: Iterable[str]) -> tuple[Entity, ...]:
    """The entities in texts that occur nowhere in `messages[:at]`, each once, in order.

    No fabrication: another spelling of something said, a path that a said path ends with, a name that stands in the
    history as part of something else, words quoted from the middle of a line, section headings, what any model knows.

    Fails to see: a true entity in a false sentence; takes for false: a number that was worked out, a file's new folder.
    """
    reading = reader.read_all(texts)
    found: dict[Entity, None] = {}
    for number, row in zip(reading.every.tolist(), reading.every_row.tolist(), strict=True):
        if reader.first_said(number) < at:
            continue
        name = reader.name(number)
        if name in found or (name.kind not in _EXACT and _HEADING.match(reader.text(int(reading.spans[row])))):
            continue
        if not _stands_somehow(inverted_index, at, name):
            found[name] = None
    return tuple(found)


def _stands_somehow(p: InvertedIndex, at: int, name: Entity) -> bool:
    """Whether a history says these very characters after all, inside something else."""
    first = p.standing.get(name)
    if first is None:
        first = p.standing[name] = _first_standing(p, name)
    return first < at


def _first_standing(p: InvertedIndex, name: Entity) -> int:
    """The first message that holds these characters inside something else; n if none does."""
    if name.kind == "path" and p.files.is_ending(name.text):
        return p.first_ending.get(name.text.lstrip("/"), p.n)
    text = plain(name.text)
    needle = text.split(" ")[0] if name.kind == "number" else text
    numbers = [p.extractor.words.get(word, p.words) for word in words(needle)]
    if not numbers or any(number >= p.words for number in numbers):
        return p.n
    rarest = max(numbers, key=lambda number: float(p.idf[number]))
    starts, spans = p.of_word
    rows = spans[starts[rarest] : starts[rarest + 1]]
    firsts = p.span_first[rows]
    for at in np.argsort(firsts, kind="stable").tolist():
        if needle in plain(p.texts[rows[at]]):
            return int(firsts[at])
    return p.n
