"""Values that a summary states flatly although the history was unsure of them or denied them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

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


def named_unsure(index: Index, at: int, texts: Iterable[str]) -> tuple[int, int]:
    """Of the entities that texts name and `messages[:at]` only ever hedged or denied: overclaimed ones, and all.

    An entity is overclaimed where a line of the texts states it flatly. An entity that one line of the history states
    without hedge or denial is free to be stated. Fails to see a hedge in the line before, and hedges in other languages
    than English.
    """
    p = index.inverted_index
    found = index.read(dict.fromkeys(texts))
    known = np.unique(found.entities[p.first_seen[found.entities] < at])
    doubtful = [entity for entity in known.tolist() if index.first_flat(entity, unsure) >= at]
    rows = np.flatnonzero(np.isin(found.entities, doubtful))
    named = zip(found.entities[rows].tolist(), found.spans[found.entity_row[rows]].tolist(), strict=True)
    overclaimed = {entity for entity, span in named if not unsure(index.span_text(span))}
    return len(overclaimed), len(doubtful)


@lru_cache(maxsize=REMEMBERED)
def unsure(line: str) -> bool:
    """Whether a line hedges or denies what it says."""
    return _HEDGE.search(line) is not None or _DENIAL.search(line) is not None
