"""Values that a summary states flatly although the history was unsure of them or denied them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from workbench.metrics.mining import Index
from workbench.transcript.atoms import Atom

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


@dataclass(frozen=True, slots=True)
class Overclaim:
    """An atom that every line of the history hedges or denies, and a line of a text that states it flatly."""

    atom: Atom
    said: str
    claimed: str


def overclaims(index: Index, at: int, texts: Iterable[str]) -> tuple[Overclaim, ...]:
    """The atoms of `messages[:at]` that texts state flatly although the history never did.

    An atom that one line of the history states without hedge or denial is free to be stated. Fails to see a hedge in
    the line before, and hedges in other languages than English.
    """
    p = index.postings
    reading = index.read(texts)
    names = list(p.miner.spans)
    starts, spans = p.of_atom
    found: dict[Atom, Overclaim] = {}
    for atom, row in zip(reading.atoms.tolist(), reading.atom_row.tolist(), strict=True):
        claimed = names[reading.spans[row]]
        if p.first_seen[atom] >= at or unsure(claimed) or p.names[atom] in found:
            continue
        holders = spans[starts[atom] : starts[atom + 1]]
        said = [p.texts[span] for span in holders[_said_before(index, holders, at)].tolist()]
        if said and all(unsure(line) for line in said):
            found[p.names[atom]] = Overclaim(p.names[atom], said[-1], claimed)
    return tuple(found.values())


def unsure(line: str) -> bool:
    """Whether a line hedges or denies what it says."""
    return _HEDGE.search(line) is not None or _DENIAL.search(line) is not None


def _said_before(index: Index, spans: np.typing.NDArray[np.int64], at: int) -> np.typing.NDArray[np.bool_]:
    p = index.postings
    starts, places = p.of_span
    end = p.message_start[at]
    return np.array(
        [
            bool(((here := places[starts[span] : starts[span + 1]]) < end).any() and not p.thought[here].all())
            for span in spans.tolist()
        ],
        dtype=bool,
    )
