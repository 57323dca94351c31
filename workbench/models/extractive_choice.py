"""Which lines are worth their tokens: those that tie exact names, likely to be needed again, to their context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, TypeAlias

from workbench.extraction.entities import LEXICAL, Kind
from workbench.models.extractive_gains import Gains, Known, powers
from workbench.models.extractive_lines import Lines
from workbench.models.extractive_reading import SPOKEN, Reads, Source

if TYPE_CHECKING:
    from workbench.models.extractive_gains import Floats
    from workbench.models.extractive_lines import Ints


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


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Lines that may be chosen, each text once: those of messages, newest message first, then the earlier summary's.

    Attributes:
        at, place, sources, lines: the parts of each one's `Pick`.
    """

    at: Ints
    place: Ints
    sources: Ints
    lines: Ints

    def picks(self, chosen: Iterable[int]) -> Iterator[Pick]:
        """Some of them, in that order."""
        parts = [part.tolist() for part in (self.at, self.place, self.sources, self.lines)]
        every = list(zip(*parts, strict=True))
        return map(every.__getitem__, chosen)


@dataclass(slots=True)
class Choice:
    """Chooses lines, best first, from what was read.

    Attributes:
        lines: what is known of each line.
        reads: the messages.
        earlier: the earlier summary's lines, by number.
        focus: words in lower case that a line should rather hold.
    """

    lines: Lines
    reads: Reads
    earlier: Sequence[int] = ()
    focus: frozenset[str] = frozenset()
    weights: Weights = MEASURED

    def picks(self, tokens: float, sure: Sequence[Pick] = ()) -> Iterator[Pick]:
        """Lines of about so many tokens in all, in the order in which they are chosen; none of the sure ones."""
        import numpy as np  # it takes a tenth of a second

        own = np.array([line for _, _, _, line in sure], dtype=np.int64)
        candidates = self._candidates(own)
        left: dict[int, float] = {}
        for entity in self.lines.entities_of(own)[1].tolist():
            left[entity] = left.get(entity, 1.0) * self.weights.again
        return candidates.picks(self._gains(candidates, left).best(tokens, self.weights.again))

    def _candidates(self, sure: Ints) -> Candidates:
        """The lines that somebody said or that name something exact, but for the sure ones."""
        import numpy as np

        reads, earlier = self.reads, np.array(self.earlier, dtype=np.int64)
        good = np.flatnonzero((reads.sources <= SPOKEN) | (self.lines.named(reads.lines) > 0))
        lines = np.concatenate((reads.lines[good], earlier))
        every = np.concatenate((sure, lines))
        first = np.empty(self.lines.size, dtype=np.int64)  # only the places that are written are ever touched
        first[every[::-1]] = np.arange(len(every))[::-1]
        new = np.flatnonzero(first[lines] == np.arange(len(sure), len(every)))
        return Candidates(
            np.concatenate((reads.at[good], np.full(len(earlier), -1)))[new],
            np.concatenate((reads.place[good], np.arange(len(earlier))))[new],
            np.concatenate((reads.sources[good], np.full(len(earlier), Source.EARLIER, dtype=np.int8)))[new],
            lines[new],
        )

    def _gains(self, candidates: Candidates, left: dict[int, float]) -> Gains:
        """What each candidate gains by each of its entities and by its prose, and what it costs."""
        import numpy as np

        weights = self.weights
        owner, entities = self.lines.entities_of(candidates.lines)
        starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(candidates.lines)))))
        count = self.lines.words_of(candidates.lines)
        origin = self._origins(candidates)
        tie = np.array([1.0 - exp(-weights.context * n) for n in range(int(count.max(initial=0)) + 1)])
        factor = origin * tie[count]
        earlier = self.lines.entities_of(np.array(self.earlier, dtype=np.int64))[1]
        kinds = self.lines.kinds
        known = Known.of(self.reads, earlier, entities, len(kinds))
        slots = known.slots
        worth = self._worth(known, kinds)[slots]
        older = candidates.at[owner] < known.last[slots]
        gain = worth * np.where(older, (factor * weights.older)[owner], factor[owner])
        prose = weights.prose * origin * np.minimum(count, 12)
        cost = self.lines.lengths(candidates.lines) / CHARS_PER_TOKEN + weights.frame
        rest = np.empty(len(kinds))  # only the places that are written are ever touched
        rest[known.entities] = 1.0
        rest[list(left)] = list(left.values())
        return Gains(starts, slots, gain, prose, cost, rest[known.entities])

    def _origins(self, candidates: Candidates) -> Floats:
        """The worth of each candidate's origin."""
        import numpy as np

        of = np.array([self.weights.of_source(source) for source in Source])
        origins: Floats = of[candidates.sources]
        if self.focus:
            for i, line in enumerate(candidates.lines.tolist()):
                said = self.lines.text(line).lower()
                if any(word in said for word in self.focus):
                    origins[i] *= self.weights.focus
        return origins

    def _worth(self, known: Known, every: Ints) -> Floats:
        """The worth of each entity; 0 for one that nobody said and no tool held."""
        import numpy as np

        weights, n = self.weights, self.reads.n
        until = [0]
        for chars in self.reads.chars:
            until.append(until[-1] + chars)
        whole = max(until[-1], 1)
        when = [
            max(n - at, 1) ** weights.age * exp(weights.distance * (whole - until[max(at, 0)]) / whole)
            for at in range(-1, n)
        ]
        kinds = every[known.entities]
        worth: Floats = (
            np.array([WORTH.get(kind, 0.0) for kind in LEXICAL])[kinds]
            * powers(known.spoken, weights.spoken)
            * powers(known.heard, weights.heard)
            * np.array(when)[known.last + 1]
            * np.where(known.last < 0, weights.earlier, 1.0)
            * np.where(known.spoken > 0, 1.0, weights.unsaid)
        )
        return np.where((known.spoken > 0) | (known.heard > 0), worth, 0.0)
