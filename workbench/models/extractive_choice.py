"""Which lines are worth their tokens: those that tie exact names, likely to be needed again, to their context."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import TypeAlias

from workbench.models.extractive_reading import SPOKEN, Read, Source, Span
from workbench.transcript.atoms import Found, Kind


@dataclass(frozen=True, slots=True)
class Weights:
    """How much speaks for a line. Chosen on half of the recordings, confirmed on the others and on other formats.

    An atom's worth is (1 + messages that said it) ** spoken * (1 + tool results that held it) ** heard
    * (messages since) ** age * exp(distance * share of the text since) * its kind's worth; a line's is the sum over
    its atoms, times its source's worth and 1 - exp(-context * other words), since a bare list of names binds nothing.

    Attributes:
        again: what is left of an atom's worth once a chosen line holds it.
        older: what is left of it in a line that is not the atom's newest.
        prose: worth of one word in a line, so that a conversation without exact names is not left out.
        earlier: factor for an atom that only the earlier summary holds.
        unsaid: factor for an atom that only tools said.
        frame: tokens that a line costs beside its text.
        user, said, call, result, thought: worth of a line's origin.
        focus: factor for a line that holds a word of the user's instructions.
    """

    spoken: float = 1.2
    heard: float = -0.3
    age: float = -0.25
    distance: float = -1.0
    context: float = 0.4
    again: float = 0.5
    older: float = 0.6
    prose: float = 0.001
    earlier: float = 1.0
    frame: float = 2.0
    user: float = 1.5
    said: float = 1.4
    call: float = 1.0
    result: float = 0.7
    thought: float = 0.3
    focus: float = 10.0
    unsaid: float = 0.3

    def of_source(self, source: Source) -> float:
        """The worth of a line's origin."""
        return (self.user, self.said, self.call, self.call, self.said, self.result, self.result, self.thought)[source]


MEASURED = Weights()

WORTH: dict[Kind, float] = {
    "path": 1.3, "identifier": 1.0, "flag": 1.5, "command": 1.0, "error": 1.0, "url": 0.7, "id": 0.5,
    "version": 0.4, "hash": 0.35, "quote": 0.3, "number": 0.2,
}  # fmt: skip
"""How often atoms of a kind are needed again, against identifiers."""

CHARS_PER_TOKEN = 3.3
"""A first guess for technical text; the exact count is made afterwards."""

Place: TypeAlias = tuple[int, int]
"""Index of the message (-1 for the earlier summary) and of the line in it."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A line that was chosen."""

    place: Place
    source: Source
    span: Span

    @property
    def text(self) -> str:
        """The line as it was said."""
        return self.span.text


@dataclass(slots=True)
class _Candidate:
    """A line that may be chosen: what it gains by each of its atoms and by its prose, and what it costs in tokens."""

    place: Place
    source: Source
    span: Span
    gains: list[float]
    prose: float
    cost: float

    def worth(self, left: Mapping[int, float]) -> float:
        """Gain a token, given what is left of each atom's worth."""
        held = self.prose
        for atom, gain in zip(self.span.atoms, self.gains, strict=True):
            held += gain * left[atom] if atom in left else gain
        return held / self.cost


@dataclass(slots=True)
class _Known:
    """What is known of one atom: how many messages said it, how many results held it, where it stood last."""

    spoken: int = 0
    heard: int = 0
    last: int = -1


@dataclass(slots=True)
class Choice:
    """Chooses lines, best first, from what was read.

    Attributes:
        atoms: kind and text of each atom, by number.
        reads: the messages, oldest first.
        earlier: the earlier summary's lines.
        focus: words in lower case that a line should rather hold.
    """

    atoms: Sequence[Found]
    reads: Sequence[Read]
    earlier: Sequence[Span] = ()
    focus: frozenset[str] = frozenset()
    weights: Weights = MEASURED
    left: dict[int, float] = field(default_factory=dict)

    def picks(self, tokens: float, sure: Sequence[Pick] = ()) -> list[Pick]:
        """Lines of about so many tokens in all, in the order in which they were chosen; none of the sure ones."""
        for pick in sure:
            self._cover(pick.span.atoms)
        candidates = self._candidates({pick.span for pick in sure})
        heap = [(-one.worth(self.left), i) for i, one in enumerate(candidates)]
        heapq.heapify(heap)
        chosen: list[Pick] = []
        spent = 0.0
        while heap and spent < tokens:
            i = heap[0][1]
            one = candidates[i]
            now = -one.worth(self.left)
            if now > heap[0][0]:  # it gained more before others were chosen
                heapq.heapreplace(heap, (now, i))
                continue
            heapq.heappop(heap)
            chosen.append(Pick(one.place, one.source, one.span))
            spent += one.cost
            self._cover(one.span.atoms)
        return chosen

    def _cover(self, atoms: Iterable[int]) -> None:
        for atom in atoms:
            self.left[atom] = self.left.get(atom, 1.0) * self.weights.again

    def _candidates(self, seen: set[Span]) -> list[_Candidate]:
        known = self._known()
        worth = self._worth(known)
        found: list[_Candidate] = []
        for at in range(len(self.reads) - 1, -1, -1):
            for i, (source, span) in enumerate(self.reads[at].lines):
                if span not in seen and (span.atoms or source <= SPOKEN):
                    seen.add(span)
                    found.append(self._candidate((at, i), source, span, known, worth))
        for i, span in enumerate(self.earlier):
            if span not in seen:
                seen.add(span)
                found.append(self._candidate((-1, i), Source.EARLIER, span, known, worth))
        return found

    def _candidate(
        self, place: Place, source: Source, span: Span, known: Mapping[int, _Known], worth: Mapping[int, float]
    ) -> _Candidate:
        weights, at = self.weights, place[0]
        origin = weights.of_source(source)
        if self.focus and any(word in span.text.lower() for word in self.focus):
            origin *= weights.focus
        factor = origin * (1.0 - exp(-weights.context * span.words))
        older = factor * weights.older
        gains = [
            worth.get(atom, 0.0) * (older if (one := known.get(atom)) and at < one.last else factor)
            for atom in span.atoms
        ]
        prose = weights.prose * origin * min(span.words, 12)
        return _Candidate(place, source, span, gains, prose, len(span.text) / CHARS_PER_TOKEN + weights.frame)

    def _known(self) -> dict[int, _Known]:
        known: dict[int, _Known] = {}
        for span in self.earlier:
            for atom in span.atoms:
                known.setdefault(atom, _Known(spoken=1))
        for at, read in enumerate(self.reads):
            for atom in read.spoken:
                one = known.setdefault(atom, _Known())
                one.spoken += 1
                one.last = at
            for atom in read.heard:
                one = known.setdefault(atom, _Known())
                one.heard += 1
                one.last = at
        return known

    def _worth(self, known: dict[int, _Known]) -> dict[int, float]:
        weights, n = self.weights, len(self.reads)
        until = [0]
        for read in self.reads:
            until.append(until[-1] + read.chars)
        whole = max(until[-1], 1)
        kinds = [WORTH.get(kind, 0.0) for kind, _ in self.atoms]
        when = [
            max(n - at, 1) ** weights.age * exp(weights.distance * (whole - until[max(at, 0)]) / whole)
            for at in range(-1, n)
        ]
        return {
            atom: kinds[atom]
            * (1 + one.spoken) ** weights.spoken
            * (1 + one.heard) ** weights.heard
            * when[one.last + 1]
            * (weights.earlier if one.last < 0 else 1.0)
            * (1.0 if one.spoken else weights.unsaid)
            for atom, one in known.items()
        }
