"""Which lines are worth their tokens: those that tie exact names, likely to be needed again, to their context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, TypeAlias

from workbench.models.extractive_gains import Gains, Known, powers
from workbench.models.extractive_reading import SPOKEN, Read, Source, Span
from workbench.transcript.atoms import LEXICAL, Kind

if TYPE_CHECKING:
    from workbench.models.extractive_gains import Floats


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


@dataclass(slots=True)  # a frozen one takes three times as long to make, and there are thousands a summary
class Pick:
    """A line that was chosen."""

    place: Place
    source: Source
    span: Span

    @property
    def text(self) -> str:
        """The line as it was said."""
        return self.span.text


Candidate: TypeAlias = tuple[int, int, Source, Span]
"""A line that may be chosen: its place, its origin, and the line."""


@dataclass(slots=True)
class Choice:
    """Chooses lines, best first, from what was read.

    Attributes:
        kinds: the kind of each atom, by number, as its place in `LEXICAL`.
        reads: the messages, oldest first.
        earlier: the earlier summary's lines.
        focus: words in lower case that a line should rather hold.
    """

    kinds: bytes
    reads: Sequence[Read]
    earlier: Sequence[Span] = ()
    focus: frozenset[str] = frozenset()
    weights: Weights = MEASURED

    def picks(self, tokens: float, sure: Sequence[Pick] = ()) -> list[Pick]:
        """Lines of about so many tokens in all, in the order in which they were chosen; none of the sure ones."""
        candidates = self._candidates({pick.span for pick in sure})
        left: dict[int, float] = {}
        for pick in sure:
            for atom in pick.span.atoms:
                left[atom] = left.get(atom, 1.0) * self.weights.again
        gains = self._gains(candidates, left)
        return [
            Pick((at, i), source, span)
            for at, i, source, span in map(candidates.__getitem__, gains.best(tokens, self.weights.again))
        ]

    def _candidates(self, seen: set[Span]) -> list[Candidate]:
        found: list[Candidate] = []
        for at in range(len(self.reads) - 1, -1, -1):
            for source, first, lines in self.reads[at].parts:
                spoken = source <= SPOKEN
                for i, span in enumerate(lines, first):
                    if (spoken or span.atoms) and span not in seen:
                        seen.add(span)
                        found.append((at, i, source, span))
        for i, span in enumerate(self.earlier):
            if span not in seen:
                seen.add(span)
                found.append((-1, i, Source.EARLIER, span))
        return found

    def _gains(self, candidates: Sequence[Candidate], left: Mapping[int, float]) -> Gains:
        """What each candidate gains by each of its atoms and by its prose, and what it costs."""
        import numpy as np  # it takes a tenth of a second

        weights = self.weights
        held = [span.atoms for _, _, _, span in candidates]
        starts = np.cumsum([0, *map(len, held)])
        owner = np.repeat(np.arange(len(held)), np.diff(starts))
        at = np.array([at for at, _, _, _ in candidates], dtype=np.int64)
        count = [span.words for _, _, _, span in candidates]
        chars = np.array([len(span.text) for _, _, _, span in candidates], dtype=np.int64)
        origin = self._origins(candidates)
        tie = {n: 1.0 - exp(-weights.context * n) for n in set(count)}
        factor = origin * np.array([tie[n] for n in count], dtype=np.float64)
        known = Known.of(self.reads, self.earlier, held, len(self.kinds))
        slots = known.slots
        worth = self._worth(known)[slots]
        gain = worth * np.where(at[owner] < known.last[slots], (factor * weights.older)[owner], factor[owner])
        prose = weights.prose * origin * np.minimum(count, 12) if count else origin
        return Gains(
            starts, slots, gain, prose, chars / CHARS_PER_TOKEN + weights.frame,
            np.array([left.get(atom, 1.0) for atom in known.atoms.tolist()], dtype=np.float64),
        )  # fmt: skip

    def _origins(self, candidates: Sequence[Candidate]) -> Floats:
        """The worth of each candidate's origin."""
        import numpy as np

        of = [self.weights.of_source(source) for source in Source]
        origins = np.array([of[source] for _, _, source, _ in candidates], dtype=np.float64)
        if self.focus:
            for i, (_, _, _, span) in enumerate(candidates):
                said = span.text.lower()
                if any(word in said for word in self.focus):
                    origins[i] *= self.weights.focus
        return origins

    def _worth(self, known: Known) -> Floats:
        """The worth of each atom; 0 for one that nobody said and no tool held."""
        import numpy as np

        weights, n = self.weights, len(self.reads)
        until = [0]
        for read in self.reads:
            until.append(until[-1] + read.chars)
        whole = max(until[-1], 1)
        when = [
            max(n - at, 1) ** weights.age * exp(weights.distance * (whole - until[max(at, 0)]) / whole)
            for at in range(-1, n)
        ]
        kinds = np.frombuffer(self.kinds, dtype=np.uint8)[known.atoms]
        worth: Floats = (
            np.array([WORTH.get(kind, 0.0) for kind in LEXICAL])[kinds]
            * powers(known.spoken, weights.spoken)
            * powers(known.heard, weights.heard)
            * np.array(when)[known.last + 1]
            * np.where(known.last < 0, weights.earlier, 1.0)
            * np.where(known.spoken > 0, 1.0, weights.unsaid)
        )
        return np.where((known.spoken > 0) | (known.heard > 0), worth, 0.0)
