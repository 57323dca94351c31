"""Which lines are worth their tokens: those that tie exact names, likely to be needed again, to their context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import exp
from typing import NamedTuple

from workbench.extraction.entities import Entity, Kind
from workbench.models.extractive.reading import SPOKEN, Line, Origin, ReadMessage


@dataclass(frozen=True, slots=True)
class LineWeights:
    """How much speaks for a line. Chosen on half of the recordings, confirmed on the others and on other formats.

    An entity's worth is (1 + messages that said it) ** spoken * (1 + tool results that held it) ** heard
    * (messages since) ** age * exp(distance * share of the text since) * its kind's worth; a line's is the sum over
    its entities, times its origin's worth and 1 - exp(-context * other words), since a bare list binds nothing.

    Attributes:
        again: what is left of an entity's worth once a chosen line holds it.
        older: what is left of it in a line that is not the entity's newest.
        prose: worth of one word in a line, so that a conversation without exact names is not left out.
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
    frame: float = 2.0
    user: float = 1.5
    said: float = 1.4
    call: float = 1.0
    result: float = 0.7
    thought: float = 0.3
    focus: float = 10.0
    unsaid: float = 0.3

    def of_origin(self, origin: Origin) -> float:
        """The worth of a line's origin."""
        return (self.user, self.said, self.call, self.call, self.said, self.result, self.result, self.thought)[origin]


MEASURED = LineWeights()

WORTH: dict[Kind, float] = {
    "path": 1.3, "identifier": 1.0, "flag": 1.5, "command": 1.0, "error": 1.0, "url": 0.7, "id": 0.5,
    "version": 0.4, "hash": 0.35, "quote": 0.3, "number": 0.2,
}  # fmt: skip
"""How often entities of a kind are needed again, against identifiers."""

CHARS_PER_TOKEN = 3.3
"""A first guess for technical text; the exact count is made afterwards."""

_MOST_WORDS = 12
"""Words of a line that count as prose."""


class Pick(NamedTuple):
    """A line that was or may be chosen.

    Attributes:
        at: the index of its message; -1 for the earlier summary.
        place: its number in the message or summary.
    """

    at: int
    place: int
    line: Line


@dataclass(frozen=True)
class Choice:
    """Chooses lines, best first.

    Attributes:
        messages: what was read, oldest first.
        earlier: the earlier summary's lines.
        names: the kind and text of each entity, by number.
        focus: words in lower case that a line should rather hold.
    """

    messages: Sequence[ReadMessage]
    earlier: Sequence[Line]
    names: Sequence[Entity]
    focus: frozenset[str] = frozenset()
    weights: LineWeights = MEASURED

    def picks(self, tokens: float, sure: Sequence[Pick] = ()) -> Iterator[Pick]:
        """Lines of about so many tokens in all, those of the most gain a token first; none of the sure ones."""
        left = [1.0] * len(self.names)
        for pick in sure:
            self._use(pick.line, left)
        candidates = list(self._candidates({pick.line.number for pick in sure}))
        gains = self._gains(candidates)
        costs = [len(pick.line.text) / CHARS_PER_TOKEN + self.weights.frame for pick in candidates]

        def gain_per_token(i: int) -> float:
            gained, by_entity = gains[i]
            for entity, gain in by_entity:
                gained += gain * left[entity]
            return gained / costs[i]

        heap = [(-gain_per_token(i), i) for i in range(len(candidates))]
        heapify(heap)
        spent = 0.0
        while heap and spent < tokens:
            before, i = heappop(heap)
            now = -gain_per_token(i)
            if now > before:  # it gained more before others were chosen
                heappush(heap, (now, i))
                continue
            spent += costs[i]
            self._use(candidates[i].line, left)
            yield candidates[i]

    def _use(self, line: Line, left: list[float]) -> None:
        for entity in line.entities:
            left[entity] *= self.weights.again

    def _candidates(self, seen: set[int]) -> Iterator[Pick]:
        """The lines that may be chosen: somebody said them or they name something exact, and none comes twice."""
        for at in reversed(range(len(self.messages))):
            for place, line in enumerate(self.messages[at].lines):
                if line.number not in seen and (line.entities or line.origin <= SPOKEN):
                    seen.add(line.number)
                    yield Pick(at, place, line)
        for place, line in enumerate(self.earlier):
            if line.number not in seen:
                seen.add(line.number)
                yield Pick(-1, place, line)

    def _gains(self, picks: Sequence[Pick]) -> list[tuple[float, list[tuple[int, float]]]]:
        """What each candidate gains by its words, and by each of its entities."""
        weights, worths, last = self.weights, self._worths(), self._last
        origins = [weights.of_origin(origin) for origin in Origin]
        found = []
        for at, _, line in picks:
            origin = origins[line.origin]
            if self.focus and any(word in line.text.lower() for word in self.focus):
                origin *= weights.focus
            factor = origin * (1.0 - exp(-weights.context * line.words))
            older = factor * weights.older
            by_entity = [
                (entity, worths.get(entity, 0.0) * (older if at < last.get(entity, -1) else factor))
                for entity in line.entities
            ]
            found.append((weights.prose * origin * min(line.words, _MOST_WORDS), by_entity))
        return found

    def _worths(self) -> dict[int, float]:
        """The worth of each entity that somebody said or a tool held."""
        weights = self.weights
        spoken = Counter(entity for message in self.messages for entity in message.spoken)
        spoken.update({entity for line in self.earlier for entity in line.entities})
        heard = Counter(entity for message in self.messages for entity in message.heard)
        recency, worths = self._recency(), {}
        for entity in {**spoken, **heard}:
            worth = WORTH.get(self.names[entity][0], 0.0)
            worth *= (1 + spoken[entity]) ** weights.spoken
            worth *= (1 + heard[entity]) ** weights.heard
            worth *= recency[self._last.get(entity, -1) + 1]
            worths[entity] = worth if spoken[entity] else worth * weights.unsaid
        return worths

    @cached_property
    def _last(self) -> dict[int, int]:
        """The newest message that said or held each entity."""
        return {entity: at for at, message in enumerate(self.messages) for entity in (*message.spoken, *message.heard)}

    def _recency(self) -> list[float]:
        """The factor of an entity by the newest message that has it, beginning with none."""
        weights, n = self.weights, len(self.messages)
        until = [0, *accumulate(message.chars for message in self.messages)]
        whole = max(until[-1], 1)
        return [
            max(n - at, 1) ** weights.age * exp(weights.distance * (whole - until[max(at, 0)]) / whole)
            for at in range(-1, n)
        ]
