"""What a replay would have cost, request by request, beside the same requests without compaction.

A request's prompt is read from the cache as far as it equals the request before, and the rest is
written to it or paid as plain input; the recorded answer is paid as output. Everything is a sum
over the tokens of the replay's steps.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from workbench.engine.models.cache_rules import CacheRules
from workbench.engine.models.model import Completion
from workbench.engine.models.prices import Rates, Tariff
from workbench.engine.transcript.message import AssistantMessage, Message, SystemMessage
from workbench.engine.transcript.recorded_requests import turns_before
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.request_charge import (
    Charge,
    charge,
    charge_with,
    seconds_between,
)
from workbench.evaluation.replays.step import CompactionEvent, Replay, Step

CHARACTERS = 4
"""A token of a summary that was not counted."""
SAME = 1e-9
"""USD below which two sums are one."""


@dataclass(frozen=True)
class ReplayCost:
    """A replay's charges beside those of the same requests without any compaction.

    Attributes:
        charges: one a request.
        plain: the same requests, uncompacted.
        reacquired: USD to fetch again what was lost, could be fetched, and was needed.
        assumed: summaries that are priced as if the priced model had written them, since their
            writer has no price.
    """

    pricing: Pricing
    charges: tuple[Charge, ...]
    plain: tuple[Charge, ...]
    reacquired: float = 0.0
    assumed: int = 0

    @cached_property
    def usd(self) -> float:
        """The replay, without what would have to be fetched again."""
        return sum(charge.usd for charge in self.charges)

    @cached_property
    def usd_plain(self) -> float:
        """The same requests, uncompacted."""
        return sum(charge.usd for charge in self.plain)

    @property
    def net_saving(self) -> float:
        """What compaction saves after summaries and fetching again; below 0 where it costs more."""
        return self.usd_plain - self.usd - self.reacquired

    @cached_property
    def break_even(self) -> tuple[int, int | None] | None:
        """The request where the sums part, and the first one from which on this sum stays no higher,
        None where it ends higher; None in the place of both where they never part.
        """
        gap = 0.0
        parting: int | None = None
        first_even: int | None = None
        charges_and_plain = zip(self.charges, self.plain, strict=True)
        for number, (compacted, plain) in enumerate(charges_and_plain):
            gap += compacted.usd - plain.usd
            if parting is None and abs(gap) > SAME:
                parting = number
            if gap > SAME:
                first_even = None
            elif parting is not None and first_even is None:
                first_even = number
        if parting is None:
            return None
        return parting, first_even


def replay_cost(replay: Replay, pricing: Pricing, fetched: int = 0) -> ReplayCost | None:
    """Price a natural replay, with so many tokens fetched again; None without a known price or
    without requests.
    """
    tariff = pricing.tariff
    steps = replay.steps
    if tariff is None or not steps:
        return None
    session = replay.session
    rules = pricing.rules
    outputs = answer_tokens(replay)
    waits = _waits([session.messages[index] for index in session.requests])
    summaries, assumed = summary_charges(replay, pricing)
    head = head_tokens(replay, pricing)
    charges: list[Charge] = []
    plain: list[Charge] = []
    sent = 0
    recorded = 0
    recorded_prefixes = _recorded_prefixes(replay)
    turn_starts = thinking_left(session, steps, rules)
    for number, step in enumerate(steps):
        wait = waits[step.request]
        output = outputs[step.request]
        of_turn = steps[turn_starts.get(number, number) : number]
        compacted_charge = charge(
            tariff,
            rules,
            prompt=step.tokens_sent,
            prefix=_smallest(step.prefix_reused, (earlier.tokens_sent for earlier in of_turn)),
            previous_prompt=sent,
            head=head,
            waited=wait,
            output=output,
            summaries=summaries.get(number, 0.0),
        )
        plain_charge = charge(
            tariff,
            rules,
            prompt=step.tokens_recorded,
            prefix=_smallest(
                recorded_prefixes[number], (earlier.tokens_recorded for earlier in of_turn)
            ),
            previous_prompt=recorded,
            head=head,
            waited=wait,
            output=output,
        )
        charges.append(compacted_charge)
        plain.append(plain_charge)
        sent = step.tokens_sent
        recorded = step.tokens_recorded
    usd_fetching = fetched * _rate_of_new(tariff.at(sent), rules)
    return ReplayCost(pricing, tuple(charges), tuple(plain), usd_fetching, assumed)


def _recorded_prefixes(replay: Replay) -> list[int]:
    """By request, its tokens in common with the request before, where nothing is compacted."""
    messages = replay.session.messages
    turn_prefixes = replay.sizing.turn_prefixes(messages)
    prefixes: list[int] = []
    recorded = 0
    earlier_index = 0
    for step in replay.steps:
        prefix = recorded
        for index in range(earlier_index, step.index):
            prefix = min(prefix, turn_prefixes.get(index, prefix))
        prefixes.append(prefix)
        recorded = step.tokens_recorded
        earlier_index = step.index
    return prefixes


def _rate_of_new(rates: Rates, rules: CacheRules) -> float:
    """USD for a token that no cache has: it is written to one where the provider charges that."""
    if rules.writes:
        return rates.cache_write
    return rates.input


def _waits(answers: Sequence[Message]) -> list[float | None]:
    """Seconds between each answer and the one before; None for the first."""
    waits: list[float | None] = []
    earlier: Message | None = None
    for answer in answers:
        waits.append(seconds_between(earlier, answer))
        earlier = answer
    return waits


def _smallest(number: int, others: Iterable[int]) -> int:
    """The smallest of one number and any others."""
    return min(number, min(others, default=number))


def thinking_left(
    session: Session,
    steps: Sequence[Step],
    rules: CacheRules,
) -> Mapping[int, int]:
    """By place, each request in which the user speaks and the thinking of the turn before is gone.

    With it stands the place of the request that began that turn: no more than the smallest prompt
    since is still found.
    """
    if not rules.forgets:
        return {}
    places: dict[int, int] = {}
    for place, step in enumerate(steps):
        places.setdefault(step.index, place)
    turn_starts: dict[int, int] = {}
    for index, start_index in turns_before(session).items():
        if index in places and start_index in places:
            turn_starts[places[index]] = places[start_index]
    return turn_starts


def answer_tokens(replay: Replay) -> Sequence[int]:
    """Tokens of each recorded answer: the larger of reported and counted.

    Some clients write the report down when the answer has only begun.
    """
    tokens: list[int] = []
    for index in replay.session.requests:
        message = replay.session.messages[index]
        assert isinstance(message, AssistantMessage)
        reported = message.usage.output if message.usage else 0
        counted = replay.sizing.sizes[index]
        tokens.append(max(reported, counted))
    return tokens


def head_tokens(replay: Replay, pricing: Pricing) -> int:
    """Tokens of the system prompt and the tools, by the recording's cache or as far as known."""
    sizing = replay.sizing
    tokens = sizing.overhead
    for message, size in zip(replay.session.messages, sizing.sizes, strict=False):
        if not isinstance(message, SystemMessage):
            break
        tokens += size
    if pricing.head is None:
        return tokens
    return min(tokens, pricing.head)


def summary_charges(replay: Replay, pricing: Pricing) -> tuple[dict[int, float], int]:
    """USD for summaries by the next request's place, and how many are priced as if."""
    tariff = pricing.tariff
    assert tariff is not None
    usd_by_place: dict[int, float] = {}
    assumed = 0
    ids = [message.id for message in replay.session.messages]
    # a transcript holds no thinking that is sealed
    size_of = dict(zip(ids, replay.sizing.text_sizes, strict=True))
    for event in replay.events:
        place = place_of_request(replay.steps, event.at)
        for number, stage in enumerate(event.compaction.stages):
            # the first summary reads all that the stage drops
            tokens_to_read = sum([size_of.get(id, 0) for id in stage.dropped])
            for completion in stage.completions:
                if number in event.repeated and not completion.fallback:
                    usd = repeated_charge(event, number, completion, replay, pricing).usd
                    is_paid = False
                else:
                    usd, is_paid = summary_usd(completion, tokens_to_read, tariff)
                usd_by_place[place] = usd_by_place.get(place, 0.0) + usd
                assumed += not is_paid
                tokens_to_read = 0
            for message in stage.wrote:
                size_of[message.id] = replay.sizing.count(message)
    return usd_by_place, assumed


def repeated_charge(
    event: CompactionEvent,
    number: int,
    completion: Completion,
    replay: Replay,
    pricing: Pricing,
) -> Charge:
    """A summary that the agent's model was asked for in the agent's own conversation.

    It is priced like a request of the agent, whoever wrote it here: what its prompt has in common
    with the agent's newest request is read from the cache.
    """
    tariff = pricing.tariff
    assert tariff is not None
    repeated = event.repeated[number]
    messages = replay.session.messages
    steps = replay.steps
    output = written_tokens(completion)
    next_place = bisect_left(steps, event.at, key=_index_of)
    if next_place == 0:
        return charge_with(tariff, pricing.rules, repeated.tokens, read=0, output=output)
    newest = steps[next_place - 1]
    turn_starts = thinking_left(replay.session, steps, pricing.rules)
    of_turn = steps[turn_starts.get(next_place, next_place) : next_place]
    return charge(
        tariff,
        pricing.rules,
        prompt=repeated.tokens,
        prefix=_smallest(repeated.prefix, (step.tokens_sent for step in of_turn)),
        previous_prompt=newest.tokens_sent,
        head=head_tokens(replay, pricing),
        waited=seconds_between(messages[newest.index], messages[event.at - 1]),
        output=output,
    )


def place_of_request(steps: Sequence[Step], index: int) -> int:
    """The place of the first request whose answer has this index or a later one, or of the last
    request.
    """
    return bisect_left(steps, index, hi=len(steps) - 1, key=_index_of)


def _index_of(step: Step) -> int:
    return step.index


def summary_usd(completion: Completion, read: int, tariff: Tariff) -> tuple[float, bool]:
    """USD of one completion, whose writer read so many tokens if it does not say, and whether
    that was really paid.
    """
    if completion.input_tokens and completion.usd is not None:
        return completion.usd, True
    if completion.fallback:
        return 0.0, True
    read = completion.input_tokens or read
    rates = tariff.at(read)
    usd = read * rates.input + written_tokens(completion) * rates.output
    return usd, False


def written_tokens(completion: Completion) -> int:
    """Tokens of an answer; of a text that stands in for one none."""
    if completion.fallback:
        return 0
    if completion.output_tokens:
        return completion.output_tokens
    return ceil(len(completion.text) / CHARACTERS)
