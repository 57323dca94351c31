"""Which lines are worth their tokens: those that tie exact names, likely to be needed again, to
their context.

An entity's worth is (1 + messages that said it) ** SPOKEN * exp(DISTANCE * share of the text
since); a line's is the sum over its entities, times its origin's worth and 1 - exp(-CONTEXT * other
words), since a bare list binds nothing. What each rule is worth, on projects that chose nothing, is
in docs/decisions/extractive-default.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from heapq import heappop, heappush
from itertools import accumulate, chain
from math import exp
from typing import NamedTuple, TypeAlias

import numpy as np

from workbench.base.ragged import Floats, Ints, integers
from workbench.engine.models.extractive.reading import Line, LineOrigin, ReadMessage

SPOKEN = 1.2
DISTANCE = -1.0
CONTEXT = 0.4
AGAIN = 0.5
"""What is left of an entity's worth once a chosen line holds it; a power of two, so that
products stay exact.
"""
OLDER = 0.6
"""What is left of an entity's worth in a line that is not its newest."""
UNSAID = 0.3
"""Factor for an entity that only tools said."""
PROSE, MOST_WORDS = 0.001, 12
"""Worth of one word in a line, so that a conversation without exact names is not left out, and
how many count.
"""
FOCUS = 10.0
"""Factor for a line that holds a word of the user's instructions."""

WORTH_OF_ORIGIN = {
    LineOrigin.USER: 1.5,
    LineOrigin.SAID: 1.4,
    LineOrigin.COMMAND: 1.0,
    LineOrigin.ARGUMENT: 1.0,
    LineOrigin.EARLIER: 1.4,
    LineOrigin.RESULT: 0.7,
    LineOrigin.FAILED: 0.7,
    LineOrigin.THOUGHT: 0.3,
}
"""Worth of a line by where it comes from."""
ORIGINS = np.array([WORTH_OF_ORIGIN[origin] for origin in LineOrigin])
"""The same by the number of the origin."""

CHARS_PER_TOKEN, FRAME = 3.3, 2.0
"""A first guess for technical text, and the tokens that a line costs besides; exact counts are
made afterwards.
"""

_BOUND = np.array([1.0 - exp(-CONTEXT * words) for words in range(100)])
"""By other words in a line; more of them make no difference."""


class Pick(NamedTuple):
    """A line that was or may be chosen.

    Attributes:
        message_index: of its message; -1 for the earlier summary.
        place: its number among all lines.
    """

    message_index: int
    place: int
    line: Line

    @property
    def cost(self) -> float:
        """About how many tokens the line takes."""
        return len(self.line.text) / CHARS_PER_TOKEN + FRAME


_Candidate: TypeAlias = tuple[float, int, int]
"""A line that may be chosen: its gain a token, negative; its rank among equals; its place."""


class _Gains(NamedTuple):
    """What lines gain.

    Attributes:
        of_words: by line.
        of_entities: by entity in a line, line after line.
        owners: the line of each such entity.
    """

    of_words: Floats
    of_entities: Floats
    owners: Ints

    def of_lines(self, worth_left: Floats) -> Floats:
        """The gain of each line, where so much is left of the worth of each of its entities."""
        lines = np.arange(len(self.of_words))
        gains_of_entities = self.of_entities * worth_left
        places = np.concatenate([lines, self.owners])
        gains = np.concatenate([self.of_words, gains_of_entities])
        gains_of_lines = np.bincount(places, gains)
        return gains_of_lines.astype(np.float64)


class LineChoice:
    """Chooses among the lines of an earlier summary and of messages.

    Args:
        read: the earlier summary, then the messages, oldest first.
        entity_count: how many entities there are, by number.
    """

    def __init__(self, read: Sequence[ReadMessage], entity_count: int) -> None:
        self.read = read
        self.entity_count = entity_count
        self.lines: list[Line] = []
        for message in read:
            self.lines += message.lines
        lines = self.lines
        line_counts = integers(len(message.lines) for message in read)
        self.message_indices = np.repeat(self._indices_of_read(), line_counts)
        self.numbers = integers(line.number for line in lines)
        self.origins = integers(line.origin for line in lines)
        self.words = integers(line.words for line in lines)
        self.sizes = integers(len(line.entities) for line in lines)
        entities_of_lines = (line.entities for line in lines)
        self.entities = integers(chain.from_iterable(entities_of_lines))
        lengths = integers(len(line.text) for line in lines)
        self.costs = lengths / CHARS_PER_TOKEN + FRAME

    def _indices_of_read(self) -> Ints:
        """The index of each message that was read; -1 for the earlier summary."""
        return np.arange(-1, len(self.read) - 1)

    def of(self, origin: LineOrigin) -> list[Pick]:
        """The messages' lines of that origin, oldest first."""
        is_of_messages = self.message_indices >= 0
        is_of_origin = self.origins == origin
        places = np.flatnonzero(is_of_origin & is_of_messages)
        return list(map(self._pick, places.tolist()))

    def picks(
        self, tokens: float, sure: Sequence[Pick] = (), focus: Collection[str] = ()
    ) -> Iterator[Pick]:
        """Lines of about so many tokens in all, those of the most gain a token first; none of the
        sure ones.

        Lines that hold a word of `focus`, in lower case, gain more.
        """
        worth_left = np.ones(self.entity_count)
        sure_numbers: list[int] = []
        for pick in sure:
            sure_numbers.append(pick.line.number)
            for entity in pick.line.entities:
                worth_left[entity] *= AGAIN
        gains = self._gains(focus)
        gains_of_lines = gains.of_lines(worth_left[self.entities])
        keys = -gains_of_lines / self.costs
        candidates = self._candidates(sure_numbers)
        best_first = np.argsort(keys[candidates], kind="stable")
        ranks = best_first[::-1]
        places = candidates[ranks]
        # the best one at the end
        columns = keys[places].tolist(), ranks.tolist(), places.tolist()
        untried: list[_Candidate] = list(zip(*columns, strict=True))
        yield from self._greedy(tokens, untried, gains, worth_left.tolist())

    def _greedy(
        self, tokens: float, untried: list[_Candidate], gains: _Gains, worth_left: list[float]
    ) -> Iterator[Pick]:
        """The line of the most gain a token, again and again; an entity gains less once a chosen
        line holds it.
        """
        # a heap of those that gain less since others were chosen
        retried: list[_Candidate] = []
        gain_of_words = gains.of_words.tolist()
        gain_of_entity = gains.of_entities.tolist()
        ends = np.cumsum(self.sizes)
        starts = (ends - self.sizes).tolist()
        costs = self.costs.tolist()
        spent = 0.0
        while (untried or retried) and spent < tokens:
            is_untried_best = untried and (not retried or untried[-1] < retried[0])
            if is_untried_best:
                earlier_key, rank, place = untried.pop()
            else:
                earlier_key, rank, place = heappop(retried)
            entities = self.lines[place].entities
            gain = gain_of_words[place]
            for index, entity in enumerate(entities, starts[place]):
                gain += gain_of_entity[index] * worth_left[entity]
            key = -gain / costs[place]
            if key > earlier_key:  # it gained more before others were chosen
                heappush(retried, (key, rank, place))
                continue
            spent += costs[place]
            for entity in entities:
                worth_left[entity] *= AGAIN
            yield self._pick(place)

    def _pick(self, place: int) -> Pick:
        message_index = int(self.message_indices[place])
        return Pick(message_index, place, self.lines[place])

    def _candidates(self, excluded: Sequence[int]) -> Ints:
        """Lines that may be chosen, each once: newest message first, the earlier summary last."""
        order = np.argsort(-self.message_indices, kind="stable")
        numbers = self.numbers[order]
        _, first_places = np.unique(numbers, return_index=True)
        first_places = np.sort(first_places)
        is_excluded = np.isin(numbers[first_places], excluded)
        free_places = first_places[~is_excluded]
        return order[free_places]

    def _gains(self, focus: Collection[str]) -> _Gains:
        """What each line gains by its words, and by each of its entities."""
        owners = np.repeat(np.arange(len(self.lines)), self.sizes)
        origins = ORIGINS[self.origins]
        if focus:
            origins *= self._focus_factors(focus)
        most_bound = len(_BOUND) - 1
        factors = origins * _BOUND[np.minimum(self.words, most_bound)]
        older_factors = factors * OLDER
        worths, newest = self._worths()
        is_older = self.message_indices[owners] < newest[self.entities]
        owner_factors = np.where(is_older, older_factors[owners], factors[owners])
        of_entities = worths[self.entities] * owner_factors
        counted_words = np.minimum(self.words, MOST_WORDS)
        of_words = PROSE * origins * counted_words
        return _Gains(of_words, of_entities, owners)

    def _focus_factors(self, focus: Collection[str]) -> list[float]:
        """The factor of each line by whether it holds a word of the focus."""
        factors: list[float] = []
        for line in self.lines:
            text = line.text.lower()
            factor = 1.0
            if any(word in text for word in focus):
                factor = FOCUS
            factors.append(factor)
        return factors

    def _worths(self) -> tuple[Floats, Ints]:
        """The worth of each entity, by number, and the newest message that said or held it; -1
        where none did.
        """
        stated: list[int] = []
        in_results: list[int] = []
        mentions: list[int] = []
        mention_counts: list[int] = []
        for message in self.read:
            stated += message.stated_entities
            in_results += message.result_entities
            mentioned = message.stated_entities + message.result_entities
            mentions += mentioned
            mention_counts.append(len(mentioned))
        times_stated = np.bincount(integers(stated), minlength=self.entity_count)
        times_in_results = np.bincount(integers(in_results), minlength=self.entity_count)
        times_mentioned = times_stated + times_in_results
        mentioning = np.repeat(self._indices_of_read(), integers(mention_counts))
        newest = np.full(self.entity_count, -1)
        newest[integers(mentions)] = mentioning
        recency = self._recency()
        worths = _powers(times_stated, SPOKEN) * recency[newest + 1]
        worths[times_stated == 0] *= UNSAID
        worths[times_mentioned == 0] = 0.0
        return worths, newest

    def _recency(self) -> Floats:
        """The factor of an entity by the newest message that has it, beginning with none."""
        message_chars = [message.chars for message in self.read[1:]]
        total_chars = max(sum(message_chars), 1)
        chars_before = [0, 0, *accumulate(message_chars)]
        factors: list[float] = []
        for chars in chars_before[: len(self.read)]:
            share_since = (total_chars - chars) / total_chars
            factors.append(exp(DISTANCE * share_since))
        return np.array(factors)


def _powers(counts: Ints, exponent: float) -> Floats:
    """(1 + n) ** exponent for each n, as Python rounds it: numpy differs on some machines."""
    largest_count = counts.max(initial=0)
    powers = [(1 + count) ** exponent for count in range(largest_count + 1)]
    return np.array(powers)[counts]
