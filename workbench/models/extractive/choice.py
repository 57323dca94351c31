"""Which lines are worth their tokens: those that tie exact names, likely to be needed again, to their context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.extraction.entities import Kind
from workbench.models.extractive.gains import Floats, Gains, Known, powers
from workbench.models.extractive.reading import SPOKEN, Ints, Lines, Reader, Reads, Source


@dataclass(frozen=True, slots=True)
class Weights:
    """How much speaks for a line. Chosen on half of the recordings, confirmed on the others and on other formats.

    An entity's worth is (1 + messages that said it) ** spoken * (1 + tool results that held it) ** heard
    * (messages since) ** age * exp(distance * share of the text since) * its kind's worth; a line's is the sum over
    its entities, times its source's worth and 1 - exp(-context * other words), since a bare list binds nothing.

    Attributes:
        again: what is left of an entity's worth once a chosen line holds it.
        older: what is left of it in a line that is not the entity's newest.
        prose: worth of one word in a line, so that a conversation without exact names is not left out.
        earlier: factor for an entity that only the earlier summary holds.
        unsaid: factor for an entity that only tools said.
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
"""How often entities of a kind are needed again, against identifiers."""

CHARS_PER_TOKEN = 3.3
"""A first guess for technical text; the exact count is made afterwards."""

Pick: TypeAlias = tuple[int, int, int, int]
"""A line that was or may be chosen: the index of its message (-1 for the earlier summary), its place in it, where it
stands (a `Source`), and its number."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Chooses lines, best first, from what was read.

    Attributes:
        reader: knows what each line says.
        reads: the messages.
        earlier: the earlier summary's lines.
        focus: words in lower case that a line should rather hold.
    """

    reader: Reader
    reads: Reads
    earlier: Lines
    focus: frozenset[str] = frozenset()
    weights: Weights = MEASURED

    def picks(self, tokens: float, sure: Sequence[Pick] = ()) -> Iterator[Pick]:
        """Lines of about so many tokens in all, in the order in which they are chosen; none of the sure ones."""
        own = self.reader.lines([line for _, _, _, line in sure], [source for _, _, source, _ in sure])
        flags = self._candidates(own)
        lines = Lines.joined((self.reads.lines, self.earlier)).where(flags)
        at = np.concatenate((self.reads.at, np.full(len(self.earlier.numbers), -1)))[flags]
        place = np.concatenate((self.reads.place, np.arange(len(self.earlier.numbers))))[flags]
        left: dict[int, float] = {}
        for entity in own.entities.tolist():
            left[entity] = left.get(entity, 1.0) * self.weights.again
        every = list(zip(at.tolist(), place.tolist(), lines.sources.tolist(), lines.numbers.tolist(), strict=True))
        return map(every.__getitem__, self._gains(lines, at, left).best(tokens, self.weights.again))

    def _candidates(self, sure: Lines) -> NDArray[np.bool_]:
        """For each line whether it may be chosen: somebody said it or it names something exact, and it is new."""
        reads, earlier = self.reads.lines, self.earlier.numbers
        good = np.concatenate(((reads.sources <= SPOKEN) | (reads.held > 0), np.ones(len(earlier), dtype=bool)))
        numbers = np.concatenate((sure.numbers, np.concatenate((reads.numbers, earlier))[good]))
        first = np.empty(len(self.reader.extractor.spans), dtype=np.int64)  # only the places that are written are read
        first[numbers[::-1]] = np.arange(len(numbers))[::-1]
        good[good] = (first[numbers] == np.arange(len(numbers)))[len(sure.numbers) :]
        return good

    def _gains(self, lines: Lines, at: Ints, left: Mapping[int, float]) -> Gains:
        """What each candidate gains by each of its entities and by its prose, and what it costs."""
        weights, owner, count = self.weights, lines.owners, lines.words
        origin = self._origins(lines)
        tie = np.array([1.0 - exp(-weights.context * n) for n in range(int(count.max(initial=0)) + 1)])
        factor = origin * tie[count]
        most = len(self.reader.extractor.entities)
        known = Known.of(self.reads, self.earlier.entities, lines.entities, most)
        slots = known.slots
        worth = self._worth(known)[slots]
        older = at[owner] < known.last[slots]
        gain = worth * np.where(older, (factor * weights.older)[owner], factor[owner])
        rest = np.array([left.get(entity, 1.0) for entity in known.entities.tolist()])
        starts = np.concatenate(([0], np.cumsum(lines.held)))
        prose = weights.prose * origin * np.minimum(count, 12)
        return Gains(starts, slots, gain, prose, lines.chars / CHARS_PER_TOKEN + weights.frame, rest)

    def _origins(self, lines: Lines) -> Floats:
        """The worth of each candidate's origin."""
        of = np.array([self.weights.of_source(source) for source in Source])
        origins: Floats = of[lines.sources]
        if self.focus:
            for i, line in enumerate(lines.numbers.tolist()):
                said = self.reader.text(line).lower()
                if any(word in said for word in self.focus):
                    origins[i] *= self.weights.focus
        return origins

    def _worth(self, known: Known) -> Floats:
        """The worth of each entity; 0 for one that nobody said and no tool held."""
        weights, n = self.weights, self.reads.n
        until = [0]
        for chars in self.reads.chars:
            until.append(until[-1] + chars)
        whole = max(until[-1], 1)
        when = [
            max(n - at, 1) ** weights.age * exp(weights.distance * (whole - until[max(at, 0)]) / whole)
            for at in range(-1, n)
        ]
        names = self.reader.extractor.names
        worth: Floats = (
            np.array([WORTH.get(names[entity][0], 0.0) for entity in known.entities.tolist()])
            * powers(known.spoken, weights.spoken)
            * powers(known.heard, weights.heard)
            * np.array(when)[known.last + 1]
            * np.where(known.last < 0, weights.earlier, 1.0)
            * np.where(known.spoken > 0, 1.0, weights.unsaid)
        )
        return np.where((known.spoken > 0) | (known.heard > 0), worth, 0.0)
