"""Values that a summary states flatly although the history was unsure of them or denied them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workbench.metrics.mining import Index
from workbench.ragged import distinct
from workbench.transcript.atoms import Atom
from workbench.transcript.signs import Signs, words_in

_HEDGE = Signs(
    r"\b(?:maybe|perhaps|might|may|could be|possibly|probably|likely|seems?|appears?|suspect|unsure|uncertain|unclear"
    r"|guess|not sure|assum(?:e|ed|ing|ption)|unverified|untested|tentative(?:ly)?|approximately|roughly|todo"
    r"|hypothes[ie]s)\b"
    r"|\?\s*$",
    "maybe perhaps might may could possibly probably likely seem seems appear appears suspect unsure uncertain unclear"
    " guess sure assume assumed assuming assumption unverified untested tentative tentatively approximately roughly"
    " todo hypothesis hypotheses",
    ("?",),
)
_DENIAL = Signs(
    r"\b(?:not|never|no longer|isn't|wasn't|aren't|doesn't|didn't|don't|won't|can't|cannot|shouldn't|mustn't|without"
    r"|instead of|rather than|failed|fails|wrong|incorrect|neither|nor|avoid|remove[ds]?|forbidden)\b",
    "not never longer isn wasn aren doesn didn don won can cannot shouldn mustn without instead rather failed fails"
    " wrong incorrect neither nor avoid remove removes removed forbidden",
)

REMEMBERED = 50_000
"""Lines of which a process remembers whether they are unsure: those of one summary mostly stand in the next one."""


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
    return tuple(one for one in _named_unsure(index, at, texts).values() if one is not None)


def named_unsure(index: Index, at: int, texts: Iterable[str]) -> tuple[int, int]:
    """Of the atoms that texts name and `messages[:at]` only ever hedged or denied: overclaimed ones, and all."""
    found = _named_unsure(index, at, texts)
    return sum(one is not None for one in found.values()), len(found)


def _named_unsure(index: Index, at: int, texts: Iterable[str]) -> dict[Atom, Overclaim | None]:
    """Each such atom, with the overclaim where a line of the texts states it flatly."""
    p = index.postings
    reading = index.read(texts)
    found: dict[Atom, Overclaim | None] = {}
    every = distinct(reading.atoms)
    every = every[p.first_seen[every] < at]
    wanted = np.zeros(len(p.names), dtype=bool)
    wanted[every[index.first_flat(every, unsure) >= at]] = True
    entries = np.flatnonzero(wanted[reading.atoms])
    for atom, row in zip(reading.atoms[entries].tolist(), reading.atom_row[entries].tolist(), strict=True):
        name = p.names[atom]
        if found.get(name) is not None:
            continue
        claimed = index.span_text(int(reading.spans[row]))
        found[name] = None if unsure(claimed) else Overclaim(name, _last_said(index, atom, at), claimed)
    return found


def _last_said(index: Index, atom: int, at: int) -> str:
    """The last line, in the order in which lines were first said, of `messages[:at]` that holds the atom."""
    p = index.postings
    starts, spans = p.of_atom
    holders = spans[starts[atom] : starts[atom + 1]]
    return p.texts[int(holders[p.span_said[holders] < at][-1])]


@lru_cache(maxsize=REMEMBERED)
def unsure(line: str) -> bool:
    """Whether a line hedges or denies what it says."""
    there = words_in(line) if line.isascii() else None
    return _HEDGE.search(line, there) or _DENIAL.search(line, there)
