"""Where a line mentions an entity, however it is spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.extraction.entities import Entity
from workbench.extraction.lexicon import UNIT


def mention(entity: Entity, line: str) -> tuple[int, int] | None:
    """Where an entity first stands in a line, in characters; None where it is written in a way that cannot be found."""
    for pattern in _spellings(entity):
        found = re.search(pattern, line, re.IGNORECASE)
        if found:
            return found.span()
    return None


def _spellings(entity: Entity) -> Iterable[str]:
    if entity.kind == "number":
        value, _, unit = entity.text.partition(" ")
        digits = ",?".join(re.escape(char) for char in value)
        known = sorted((written for written, normal in UNIT.items() if normal == unit), key=len, reverse=True)
        yield rf"(?<![\w.]){digits}" + (rf"\s*(?:{'|'.join(map(re.escape, known))})(?!\w)" if unit else r"(?![\w])")
        return
    yield r"\s+".join(map(re.escape, entity.text.split()))
    if entity.kind == "path":
        parts = entity.text.strip("/").split("/")
        for first in range(1, len(parts)):
            yield r"(?<![\w-])" + re.escape("/".join(parts[first:])) + r"(?![\w-])"
