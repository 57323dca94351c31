"""Which lines are worth their tokens: those that tie exact names, likely to be needed again, to
their context.

An entity's worth is (1 + messages that said it) ** SPOKEN * exp(DISTANCE * share of the text
since); a line's is the sum over its entities, times its origin's worth and 1 - exp(-CONTEXT * other
words), since a bare list binds nothing. What each rule is worth, on projects that chose nothing, is
in docs/decisions/extractive-default.md.
"""

from collections.abc import Collection, Iterator, Sequence
from heapq import heappop, heappush
from itertools import accumulate, chain
from math import exp
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Floats, Ints, integers
from workbench.engine.models.extractive.reading import Line, LineOrigin, ReadMessage

SPOKEN, DISTANCE, CONTEXT = 1.2, -1.0, 0.4
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

ORIGINS = np.array([1.5, 1.4, 1.0, 1.0, 1.4, 0.7, 0.7, 0.3])
"""Worth of a line by its `LineOrigin`: the user's words, the model's, commands, arguments, and
so on.
"""

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


class LineChoice:
    """Chooses among the lines of an earlier summary and of messages.

    Args:
        read: the earlier summary, then the messages, oldest first.
        known: how many entities there are, by number.
    """

    def __init__(self, read: Sequence[ReadMessage], entity_count: int) -> None:
        self.read, self.known = read, entity_count
        self.lines = [line for message in read for line in message.lines]
        self.message_indices = np.repeat(
            np.arange(-1, len(read) - 1), integers(len(message.lines) for message in read)
        )
        numbers, origins, texts, words, entities = (
            zip(*self.lines, strict=True) if self.lines else ((),) * 5
        )
        self.numbers, self.origins, self.words = (
            integers(numbers),
            integers(origins),
            integers(words),
        )
        self.sizes, self.entities = (
            integers(map(len, entities)),
            integers(chain.from_iterable(entities)),
        )
        self.costs = integers(map(len, texts)) / CHARS_PER_TOKEN + FRAME

    def of(self, origin: LineOrigin) -> list[Pick]:
        """The messages' lines of that origin, oldest first."""
        return [
            self._pick(i)
            for i in np.flatnonzero((self.origins == origin) & (self.message_indices >= 0)).tolist()
        ]

    def picks(
        self, tokens: float, sure: Sequence[Pick] = (), focus: Collection[str] = ()
    ) -> Iterator[Pick]:
        """Lines of about so many tokens in all, those of the most gain a token first; none of the
        sure ones.

        Lines that hold a word of `focus`, in lower case, gain more.
        """
        worth_left = np.ones(self.known)
        for entity in chain.from_iterable(pick.line.entities for pick in sure):
            worth_left[entity] *= AGAIN
        line_numbers = np.arange(len(self.lines))
        owners = np.repeat(line_numbers, self.sizes)
        by_words, by_entity = self._gains(owners, focus)
        parts = np.concatenate([by_words, by_entity * worth_left[self.entities]])
        keys = -np.bincount(np.concatenate([line_numbers, owners]), parts) / self.costs
        candidates = self._candidates([pick.line.number for pick in sure])
        order = np.argsort(keys[candidates], kind="stable")[::-1]
        best = candidates[order]
        # the best one at the end
        untried = list(zip(keys[best].tolist(), order.tolist(), best.tolist(), strict=True))
        # a heap of those that gain less since others were chosen
        again: list[tuple[float, int, int]] = []
        prose, exact, cost, entity_worths = (
            column.tolist() for column in (by_words, by_entity, self.costs, worth_left)
        )
        starts, spent = (np.cumsum(self.sizes) - self.sizes).tolist(), 0.0
        while (untried or again) and spent < tokens:
            is_fresh = untried and (not again or untried[-1] < again[0])
            earlier_key, rank, i = untried.pop() if is_fresh else heappop(again)
            gain, entities = prose[i], self.lines[i].entities
            for place, entity in enumerate(entities, starts[i]):
                gain += exact[place] * entity_worths[entity]
            if -gain / cost[i] > earlier_key:  # it gained more before others were chosen
                heappush(again, (-gain / cost[i], rank, i))
                continue
            spent += cost[i]
            for entity in entities:
                entity_worths[entity] *= AGAIN
            yield self._pick(i)

    def _pick(self, i: int) -> Pick:
        return Pick(int(self.message_indices[i]), i, self.lines[i])

    def _candidates(self, excluded: Sequence[int]) -> Ints:
        """The lines that may be chosen, newest message first and the earlier summary last; none
        comes twice.
        """
        order = np.argsort(-self.message_indices, kind="stable")
        numbers = self.numbers[order]
        first_places = np.sort(np.unique(numbers, return_index=True)[1])
        return order[first_places[~np.isin(numbers[first_places], excluded)]]

    def _gains(self, owners: Ints, focus: Collection[str]) -> tuple[Floats, Floats]:
        """What each line gains by its words; and by each of its entities, where `owners` has the
        line of each.
        """
        origins = ORIGINS[self.origins]
        if focus:
            origins *= [
                FOCUS if any(word in line.text.lower() for word in focus) else 1.0
                for line in self.lines
            ]
        factors = origins * _BOUND[np.minimum(self.words, len(_BOUND) - 1)]
        worths, newest = self._worths()
        is_older = self.message_indices[owners] < newest[self.entities]
        by_entity = worths[self.entities] * np.where(
            is_older, (factors * OLDER)[owners], factors[owners]
        )
        return PROSE * origins * np.minimum(self.words, MOST_WORDS), by_entity

    def _worths(self) -> tuple[Floats, Ints]:
        """The worth of each entity, by number, and the newest message that said or held it; -1
        where none did.
        """
        n, sizes = (
            self.known,
            integers(
                len(message.stated_entities) + len(message.result_entities) for message in self.read
            ),
        )
        times_spoken = np.bincount(
            integers(chain.from_iterable(message.stated_entities for message in self.read)),
            minlength=n,
        )
        times_heard = np.bincount(
            integers(chain.from_iterable(message.result_entities for message in self.read)),
            minlength=n,
        )
        newest = np.full(n, -1)
        mentions = integers(
            entity
            for message in self.read
            for entity in (*message.stated_entities, *message.result_entities)
        )
        newest[mentions] = np.repeat(np.arange(-1, len(self.read) - 1), sizes)
        worths = _powers(times_spoken, SPOKEN) * self._recency()[newest + 1]
        worths[times_spoken == 0] *= UNSAID
        worths[times_spoken + times_heard == 0] = 0.0
        return worths, newest

    def _recency(self) -> Floats:
        """The factor of an entity by the newest message that has it, beginning with none."""
        until = [0, 0, *accumulate(message.chars for message in self.read[1:])][: len(self.read)]
        total_chars = max(sum(message.chars for message in self.read[1:]), 1)
        return np.array([exp(DISTANCE * (total_chars - chars) / total_chars) for chars in until])


def _powers(counts: Ints, exponent: float) -> Floats:
    """(1 + n) ** exponent for each n, as Python rounds it: numpy rounds otherwise on some
    machines.
    """
    return np.array([(1 + n) ** exponent for n in range(counts.max(initial=0) + 1)])[counts]
