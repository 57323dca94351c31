"""When to compact: what a schedule of compactions costs, and which one would have been cheapest.

What a compaction leaves, and what of it is fetched again, is measured before each request by
compacting the whole recorded history there, always to the same size. So the cost of a schedule is a
sum over the stretches between its compactions, and the cheapest one is found by dynamic
programming. What no call brings back has no price here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from workbench.base.ragged import Floats
from workbench.engine.compaction.engine import compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Preset, Situation, Strategy
from workbench.engine.models.model import Model
from workbench.engine.transcript.message import Usage, is_real_user
from workbench.engine.transcript.recorded_requests import turns_before
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.replay_cost import (
    answer_tokens,
    charge,
    head_tokens,
    seconds_between,
)
from workbench.evaluation.metrics.demand import Retention
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.view import view
from workbench.evaluation.replays.sizing import Sizing
from workbench.evaluation.replays.step import Replay

TARGET = 0.4
"""Share of the room under the window that messages take after a compaction."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """What a compaction before one request comes to.

    Attributes:
        tokens, messages: of what is sent then.
        written: tokens of the text that a model wrote for it; 0 where none was asked.
        fetched: pairs of a message and the tokens of what is fetched again for it, in order.
    """

    tokens: int
    messages: int
    written: int
    fetched: tuple[tuple[int, int], ...]


class Schedules:
    """The schedules of one session under one strategy, each a tuple of the requests before which it
    compacts.

    Args:
        session: n requests.
        sizing: the session's sizes.
        index: of the session.
        pricing: with a known tariff.
        strategy: how to compact.
        model: writes summaries.
        window: tokens; a request never exceeds it where a compaction helps.
        target: share of the room that messages take after a compaction.

    Attributes:
        target: the same in tokens, overhead included.
        before: (requests,) tokens of each request without any compaction.
    """

    def __init__(
        self,
        session: Session,
        sizing: Sizing,
        index: Index,
        pricing: Pricing,
        strategy: Strategy,
        model: Model,
        *,
        window: int,
        target: float = TARGET,
    ) -> None:
        assert pricing.tariff is not None
        self.session, self.sizing, self.pricing, self.tariff = (
            session,
            sizing,
            pricing,
            pricing.tariff,
        )
        self.window, self.places = window, session.requests
        self.target = sizing.overhead + int(target * max(window - sizing.overhead, 0))
        self.total = np.array(list(accumulate(sizing.sizes, initial=sizing.overhead)))
        self.before = self.total[list(self.places)]
        bare = Replay(session, "none", "natural", window, sizing, (), (), ())
        self._outputs, self._head = answer_tokens(bare), head_tokens(bare, pricing)
        answers = [session.messages[at] for at in self.places]
        self._waits = [None, *(seconds_between(*pair) for pair in pairwise(answers))]
        turns = turns_before(session) if pricing.rules.forgets else {}
        self._turn_before = [
            self.places.index(turns[at]) if at in turns else None for at in self.places
        ]
        self._short = [
            self._shortened(at, strategy, model, index) if size > self.target else None
            for at, size in zip(self.places, self.before.tolist(), strict=True)
        ]
        self._sums = [self._stretch(start) for start in range(-1, len(self.places))]

    @property
    def compactable(self) -> bool:
        """Whether there is a request before which a compaction would take something out."""
        return any(self._helps(-1, number) for number in range(len(self.places)))

    def cost(self, schedule: Sequence[int]) -> float:
        """USD of a schedule: requests with their cache, summaries, and what is fetched again."""
        stops = [-1, *schedule, len(self.places)]
        usd = sum(self._between(start, stop) for start, stop in pairwise(stops))
        return usd + sum(self._summary(start, stop) for start, stop in pairwise(stops[:-1]))

    def feasible(self, schedule: Sequence[int]) -> bool:
        """Whether each compaction takes something out, and no request exceeds the window where
        one would help.
        """
        pairs = list(pairwise([-1, *schedule, len(self.places)]))
        return all(self._fits(*one) for one in pairs) and all(
            self._helps(*one) for one in pairs[:-1]
        )

    def cheapest(self) -> tuple[int, ...]:
        """The schedule of the least cost among those whose requests fit into the window, by one
        that knows all.
        """
        end = len(self.places)
        least: dict[int, tuple[float, int]] = {-1: (0.0, -1)}
        for stop in range(end + 1):
            options = [
                (
                    usd
                    + self._between(start, stop)
                    + (self._summary(start, stop) if stop < end else 0.0),
                    start,
                )
                for start, (usd, _) in least.items()
                if start < stop
                and self._fits(start, stop)
                and (stop == end or self._helps(start, stop))
            ]
            if options:
                least[stop] = min(options)
        found, at = list[int](), least[end][1]
        while at >= 0:
            found.append(at)
            at = least[at][1]
        return tuple(reversed(found))

    def under(self, preset: Preset) -> tuple[int, ...]:
        """The schedule of a preset's trigger, which is asked as in a replay; above the window it
        has no choice.
        """
        found, start = list[int](), -1
        for number in range(len(self.places)):
            size = self._size(start, number)
            due = size > self.window or any(
                preset.trigger.check(one) is not None
                for one in self._situations(preset, start, number)
            )
            if due and self._helps(start, number):
                found.append(number)
                start = number
        return tuple(found)

    def _situations(self, preset: Preset, start: int, number: int) -> Iterator[Situation]:
        """The moments before a request at which the preset's trigger is asked."""
        at, last = self.places[number], self.places[number - 1] if number else -1
        messages, short = self.session.messages, self._short[start] if start >= 0 else None
        count = at if short is None else short.messages + at - self.places[start]
        newest = None if number == 0 else seconds_between(messages[last], messages[at - 1])
        tools = messages[at - 1].role == "tool" and "after_tools" in preset.moments
        now = Situation(
            tokens=self._size(start, number),
            window=self.window,
            overhead=self.sizing.overhead,
            messages=count,
            moment="after_tools" if tools else "before_request",
            model=self.session.model,
            requests=number,
            said=int(self.before[number]) - self.sizing.overhead,
            idle=newest,
        )
        if number and number != start + 1:
            reported = self._size(start, number - 1)
            now = replace(
                now,
                reported=Usage(reported, output=self._outputs[number - 1]),
                since=now.tokens - reported,
            )
        turn = next((i for i in range(last + 1, at) if is_real_user(messages[i])), None)
        if turn and "after_turn" in preset.moments:
            later = int(self.before[number] - self.total[turn])
            tokens, since = now.tokens - later, max(now.since - later, 0)
            yield replace(now, tokens=tokens, since=since, moment="after_turn", idle=0.0)
        if now.moment in preset.moments:
            yield now

    def _size(self, start: int, number: int) -> int:
        """Tokens of a request, where the newest compaction was before the request `start`."""
        short = self._short[start] if start >= 0 else None
        if short is None:
            return int(self.before[number])
        return short.tokens + int(self.before[number] - self.before[start])

    def _helps(self, start: int, number: int) -> bool:
        """Whether there is something to compact."""
        short = self._short[number]
        size = self._size(start, number)
        return short is not None and size > self.target and short.tokens < size

    def _fits(self, start: int, stop: int) -> bool:
        """Whether all requests of a stretch fit into the window, or no compaction before the
        last would help.
        """
        last = stop - 1
        return (
            last <= start or self._size(start, last) <= self.window or not self._helps(start, last)
        )

    def _between(self, start: int, stop: int) -> float:
        """USD of the requests from one compaction to the next one, and of what is fetched again
        meanwhile.
        """
        sums = self._sums[start + 1]
        usd = float(sums[stop - max(start, 0)])
        short = self._short[start] if start >= 0 else None
        if short is None:
            return usd
        end = self.places[stop] if stop < len(self.places) else len(self.session.messages)
        again = sum(tokens for at, tokens in short.fetched if at < end)
        rates = self.tariff.at(short.tokens)
        return usd + again * (rates.cache_write if self.pricing.rules.writes else rates.input)

    def _stretch(self, start: int) -> Floats:
        """(n + 1,) USD of the first 0, 1, ... n requests from a compaction on."""
        first = max(start, 0)
        if start >= 0 and self._short[start] is None:
            return np.zeros(0)
        found, sent = [0.0], 0
        for number in range(first, len(self.places)):
            size = self._size(start, number)
            prefix, turn = self._head if number == start else sent, self._turn_before[number]
            if turn is not None and number > start:  # its thinking left
                prefix = min(prefix, self._size(start, max(turn, first)))
            paid = charge(
                self.tariff,
                self.pricing.rules,
                size,
                prefix,
                max(sent, prefix + (number == start)),
                self._head,
                self._waits[number],
                self._outputs[number],
            )
            found.append(found[-1] + paid.usd)
            sent = size
        return np.array(found)

    def _summary(self, start: int, stop: int) -> float:
        """USD of the summary that a compaction has written, of all that goes."""
        short = self._short[stop]
        if short is None or not short.written:
            return 0.0
        read = max(self._size(start, stop) - (short.tokens - short.written), 0)
        rates = self.tariff.at(read)
        return read * rates.input + short.written * rates.output

    def _shortened(self, at: int, strategy: Strategy, model: Model, index: Index) -> Shortened:
        history = self.sizing.history(self.session.messages, at)
        done = compact(history, strategy, Budget(target=self.target, window=self.window), model)
        written = sum(
            self.sizing.count(one)
            for stage in done.stages
            for one in stage.wrote
            if stage.completions and one.role == "summary"
        )
        seen, demand = view(self.session, done.sent), index.demand(at)
        fetched = tuple(_fetched(demand.retained(seen.kept, seen.texts), self.sizing))
        return Shortened(done.sent.tokens, len(done.sent.messages), written, fetched)


def _fetched(retention: Retention, sizing: Sizing) -> Iterator[tuple[int, int]]:
    """Each result that must be fetched again, when it is first needed: the latest that holds
    what is lost.
    """
    demand, there = retention.demand, set[int]()
    lost = demand.reacquirable & ~retention.presence
    for slot in np.flatnonzero(lost).tolist():
        holders = demand.repeatable_sources.get(slot, ())
        if holders and there.isdisjoint(holders):
            there.add(holders[-1])
            yield demand.needs[slot].use, sizing.sizes[holders[-1]]
