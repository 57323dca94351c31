"""Values that a summary states flatly although the history was unsure of them or denied them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from workbench.extraction.entities import Entity
from workbench.metrics.index import Index

_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|might|may|could be|possibly|probably|likely|seems?|appears?|suspect|unsure|uncertain|unclear"
    r"|guess|not sure|assum(?:e|ed|ing|ption)|unverified|untested|tentative(?:ly)?|approximately|roughly|todo"
    r"|hypothes[ie]s)\b"
    r"|\?\s*$",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not|never|no longer|isn't|wasn't|aren't|doesn't|didn't|don't|won't|can't|cannot|shouldn't|mustn't|without"
    r"|instead of|rather than|failed|fails|wrong|incorrect|neither|nor|avoid|remove[ds]?|forbidden)\b",
    re.IGNORECASE,
)

REMEMBERED = 50_000
"""Lines of which a process remembers whether they are unsure: those of one summary mostly stand in the next one."""


@dataclass(frozen=True, slots=True)
class Overclaim:
    """An entity that every line of the history hedges or denies, and a line of a text that states it flatly."""

    entity: Entity
    said: str
    claimed: str


def overclaims(index: Index, at: int, texts: Iterable[str]) -> tuple[Overclaim, ...]:
    """The entities of `messages[:at]` that texts state flatly although the history never did.

    An entity that one line of the history states without hedge or denial is free to be stated. Fails to see a hedge in
    the line before, and hedges in other languages than English.
    """
    return tuple(one for one in _named_unsure(index, at, texts).values() if one is not None)


def named_unsure(index: Index, at: int, texts: Iterable[str]) -> tuple[int, int]:
    """Of the entities that texts name and `messages[:at]` only ever hedged or denied: overclaimed ones, and all."""
    found = _named_unsure(index, at, texts)
    return sum(one is not None for one in found.values()), len(found)


def _named_unsure(index: Index, at: int, texts: Iterable[str]) -> dict[Entity, Overclaim | None]:
    """Each such entity, with the overclaim where a line of the texts states it flatly."""
    p = index.inverted_index
    indexed = index.read(dict.fromkeys(texts))
    found: dict[Entity, Overclaim | None] = {}
    for entity, row in zip(indexed.entities.tolist(), indexed.entity_row.tolist(), strict=True):
        name = p.names[entity]
        if found.get(name) is not None or p.first_seen[entity] >= at or index.first_flat(entity, unsure) < at:
            continue
        claimed = index.span_text(int(indexed.spans[row]))
        found[name] = None if unsure(claimed) else Overclaim(name, _last_said(index, entity, at), claimed)
    return found


def _last_said(index: Index, entity: int, at: int) -> str:
    """The last line, in the order in which lines were first said, of `messages[:at]` that holds the entity."""
    p = index.inverted_index
    holders = p.spans_with_entity(entity)
    return p.texts[int(holders[p.span_said[holders] < at][-1])]


@lru_cache(maxsize=REMEMBERED)
def unsure(line: str) -> bool:
    """Whether a line hedges or denies what it says."""
    return _HEDGE.search(line) is not None or _DENIAL.search(line) is not None
