"""When to compact: what a schedule of compactions costs, and which one would have been cheapest.

What a compaction leaves, and what of it is fetched again, is measured before each request by
compacting the whole recorded history there, always to the same size. So the cost of a schedule is a
sum over the stretches between its compactions, and the cheapest one is found by dynamic
programming. What no call brings back has no price here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from workbench.base.ragged import Floats
from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Preset, Situation, Strategy
from workbench.engine.models.model import Model
from workbench.engine.transcript.message import Usage, is_real_user
from workbench.engine.transcript.recorded_requests import turns_before
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.replay_cost import answer_tokens, head_tokens
from workbench.evaluation.metrics.costs.request_charge import charge, seconds_between
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


class Route(NamedTuple):
    """The cheapest way to a compaction, or to the end.

    Attributes:
        usd: of all requests and summaries up to there.
        start: the compaction before it.
    """

    usd: float
    start: int


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
        self.session = session
        self.sizing = sizing
        self.pricing = pricing
        self.tariff = pricing.tariff
        self.window = window
        self.places = session.requests
        self.target = sizing.overhead + int(target * max(window - sizing.overhead, 0))
        self.total = np.array(list(accumulate(sizing.sizes, initial=sizing.overhead)))
        self.before = self.total[list(self.places)]
        bare = Replay(session, "none", "natural", window, sizing, (), (), ())
        self._outputs = answer_tokens(bare)
        self._head = head_tokens(bare, pricing)
        self._waits = self._seconds_waited()
        self._turn_starts = self._requests_of_turn_starts()
        self._shortened: list[Shortened | None] = []
        for place, size in zip(self.places, self.before.tolist(), strict=True):
            shortened = None
            if size > self.target:
                shortened = self._compacted(place, strategy, model, index)
            self._shortened.append(shortened)
        self._sums = [self._stretch(start) for start in range(-1, len(self.places))]

    def _seconds_waited(self) -> list[float | None]:
        """For each request the seconds since the one before; None for the first."""
        answers = [self.session.messages[place] for place in self.places]
        waits: list[float | None] = [None]
        for earlier, later in pairwise(answers):
            waits.append(seconds_between(earlier, later))
        return waits

    def _requests_of_turn_starts(self) -> list[int | None]:
        """For each request the one that began the turn before, where its thinking leaves; else
        None.
        """
        turns: Mapping[int, int] = {}
        if self.pricing.rules.forgets:
            turns = turns_before(self.session)
        starts: list[int | None] = []
        for place in self.places:
            start = None
            if place in turns:
                start = self.places.index(turns[place])
            starts.append(start)
        return starts

    @property
    def compactable(self) -> bool:
        """Whether there is a request before which a compaction would take something out."""
        return any(self._helps(-1, number) for number in range(len(self.places)))

    def cost(self, schedule: Sequence[int]) -> float:
        """USD of a schedule: requests with their cache, summaries, and what is fetched again."""
        usd = 0.0
        start = -1
        for stop in schedule:
            usd += self._between(start, stop) + self._summary(start, stop)
            start = stop
        return usd + self._between(start, len(self.places))

    def feasible(self, schedule: Sequence[int]) -> bool:
        """Whether each compaction takes something out, and no request exceeds the window where
        one would help.
        """
        start = -1
        for stop in schedule:
            if not self._fits(start, stop) or not self._helps(start, stop):
                return False
            start = stop
        return self._fits(start, len(self.places))

    def cheapest(self) -> tuple[int, ...]:
        """The schedule of the least cost among those whose requests fit into the window, by one
        that knows all.
        """
        end = len(self.places)
        cheapest_to: dict[int, Route] = {-1: Route(0.0, -1)}
        for stop in range(end + 1):
            options: list[Route] = []
            for start, route in cheapest_to.items():
                is_possible = start < stop and self._fits(start, stop)
                if not is_possible or (stop < end and not self._helps(start, stop)):
                    continue
                usd = route.usd + self._between(start, stop)
                if stop < end:
                    usd += self._summary(start, stop)
                options.append(Route(usd, start))
            if options:
                cheapest_to[stop] = min(options)
        schedule: list[int] = []
        place = cheapest_to[end].start
        while place >= 0:
            schedule.append(place)
            place = cheapest_to[place].start
        return tuple(reversed(schedule))

    def under(self, preset: Preset) -> tuple[int, ...]:
        """The schedule of a preset's trigger, which is asked as in a replay; above the window it
        has no choice.
        """
        schedule: list[int] = []
        start = -1
        for number in range(len(self.places)):
            is_due = self._size(start, number) > self.window
            if not is_due:
                for situation in self._situations(preset, start, number):
                    if preset.trigger.check(situation) is not None:
                        is_due = True
            if is_due and self._helps(start, number):
                schedule.append(number)
                start = number
        return tuple(schedule)

    def _situations(self, preset: Preset, start: int, number: int) -> Iterator[Situation]:
        """The moments before a request at which the preset's trigger is asked."""
        situation = self._situation(preset, start, number)
        place = self.places[number]
        previous_place = self.places[number - 1] if number else -1
        turn_start = self._user_message_between(previous_place + 1, place)
        if turn_start and "after_turn" in preset.moments:
            later_tokens = int(self.before[number] - self.total[turn_start])
            yield replace(
                situation,
                tokens=situation.tokens - later_tokens,
                since=max(situation.since - later_tokens, 0),
                moment="after_turn",
                idle=0.0,
            )
        if situation.moment in preset.moments:
            yield situation

    def _user_message_between(self, start: int, stop: int) -> int | None:
        """The first message of the user's own in a range; None for none."""
        for place in range(start, stop):
            if is_real_user(self.session.messages[place]):
                return place
        return None

    def _situation(self, preset: Preset, start: int, number: int) -> Situation:
        """That right before a request."""
        messages = self.session.messages
        place = self.places[number]
        newest_message = messages[place - 1]
        shortened = self._after(start)
        message_count = place
        if shortened is not None:
            message_count = shortened.messages + place - self.places[start]
        idle_seconds = None
        if number:
            previous_answer = messages[self.places[number - 1]]
            idle_seconds = seconds_between(previous_answer, newest_message)
        is_after_tools = newest_message.role == "tool" and "after_tools" in preset.moments
        situation = Situation(
            tokens=self._size(start, number),
            window=self.window,
            overhead=self.sizing.overhead,
            messages=message_count,
            moment="after_tools" if is_after_tools else "before_request",
            model=self.session.model,
            requests=number,
            said=int(self.before[number]) - self.sizing.overhead,
            idle=idle_seconds,
        )
        if number in (0, start + 1):
            return situation
        reported_tokens = self._size(start, number - 1)
        return replace(
            situation,
            reported=Usage(reported_tokens, output=self._outputs[number - 1]),
            since=situation.tokens - reported_tokens,
        )

    def _after(self, start: int) -> Shortened | None:
        """What the compaction before a request comes to; None before the first compaction."""
        if start < 0:
            return None
        return self._shortened[start]

    def _size(self, start: int, number: int) -> int:
        """Tokens of a request, where the newest compaction was before the request `start`."""
        shortened = self._after(start)
        if shortened is None:
            return int(self.before[number])
        return shortened.tokens + int(self.before[number] - self.before[start])

    def _helps(self, start: int, number: int) -> bool:
        """Whether there is something to compact."""
        shortened = self._shortened[number]
        if shortened is None:
            return False
        size = self._size(start, number)
        return size > self.target and shortened.tokens < size

    def _fits(self, start: int, stop: int) -> bool:
        """Whether all requests of a stretch fit into the window, or no compaction before its
        newest one would help.
        """
        newest = stop - 1
        if newest <= start or self._size(start, newest) <= self.window:
            return True
        return not self._helps(start, newest)

    def _between(self, start: int, stop: int) -> float:
        """USD of the requests from one compaction to the next one, and of what is fetched again
        meanwhile.
        """
        sums = self._sums[start + 1]
        usd = float(sums[stop - max(start, 0)])
        shortened = self._after(start)
        if shortened is None:
            return usd
        end = len(self.session.messages)
        if stop < len(self.places):
            end = self.places[stop]
        tokens = 0
        for place, fetched_tokens in shortened.fetched:
            if place < end:
                tokens += fetched_tokens
        rates = self.tariff.at(shortened.tokens)
        rate = rates.cache_write if self.pricing.rules.writes else rates.input
        return usd + tokens * rate

    def _stretch(self, start: int) -> Floats:
        """(n + 1,) USD of the first 0, 1, ... n requests from a compaction on."""
        if start >= 0 and self._shortened[start] is None:
            return np.zeros(0)
        first_number = max(start, 0)
        sums = [0.0]
        sent = 0
        for number in range(first_number, len(self.places)):
            size = self._size(start, number)
            prefix = sent
            if number == start:
                prefix = self._head
            turn_start = self._turn_starts[number]
            if turn_start is not None and number > start:  # its thinking left
                prefix = min(prefix, self._size(start, max(turn_start, first_number)))
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
            sums.append(sums[-1] + paid.usd)
            sent = size
        return np.array(sums)

    def _summary(self, start: int, stop: int) -> float:
        """USD of the summary that a compaction has written, of all that goes."""
        shortened = self._shortened[stop]
        if shortened is None or not shortened.written:
            return 0.0
        kept_tokens = shortened.tokens - shortened.written
        read_tokens = max(self._size(start, stop) - kept_tokens, 0)
        rates = self.tariff.at(read_tokens)
        return read_tokens * rates.input + shortened.written * rates.output

    def _compacted(self, place: int, strategy: Strategy, model: Model, index: Index) -> Shortened:
        """What a compaction before the message at that place comes to."""
        history = self.sizing.history(self.session.messages, place)
        budget = Budget(target=self.target, window=self.window)
        compaction = compact(history, strategy, budget, model)
        sent_view = view(self.session, compaction.sent)
        retention = index.demand(place).retained(sent_view.kept, sent_view.texts)
        return Shortened(
            tokens=compaction.sent.tokens,
            messages=len(compaction.sent.messages),
            written=self._summary_tokens(compaction),
            fetched=tuple(_fetched(retention, self.sizing)),
        )

    def _summary_tokens(self, compaction: Compaction) -> int:
        """Tokens of the summaries for which a model was asked."""
        tokens = 0
        for stage in compaction.stages:
            if not stage.completions:
                continue
            for message in stage.wrote:
                if message.role == "summary":
                    tokens += self.sizing.count(message)
        return tokens


def _fetched(retention: Retention, sizing: Sizing) -> Iterator[tuple[int, int]]:
    """Each result that must be fetched again, when it is first needed: the latest that holds
    what is lost.
    """
    demand = retention.demand
    fetched_places: set[int] = set()
    is_lost = demand.reacquirable & ~retention.presence
    for slot in np.flatnonzero(is_lost).tolist():
        holders = demand.repeatable_sources.get(slot, ())
        if not holders or not fetched_places.isdisjoint(holders):
            continue
        latest_holder = holders[-1]
        fetched_places.add(latest_holder)
        yield demand.needs[slot].use, sizing.sizes[latest_holder]
