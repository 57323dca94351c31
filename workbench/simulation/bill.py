"""What a simulation costs: every request, those that look included, with its cache."""

from functools import partial
from typing import NamedTuple

from workbench.metrics.costs.pricing import Pricing
from workbench.metrics.costs.replay_cost import (
    answer_tokens,
    charge,
    head_tokens,
    seconds_between,
    summary_charges,
    thinking_left,
)
from workbench.simulation.walk import ConsequenceWalk


class SimulationBill(NamedTuple):
    """USD of all requests and summaries, and of the requests that look."""

    usd: float
    looking: float


def bill(walk: ConsequenceWalk, pricing: Pricing) -> SimulationBill | None:
    """Price a simulation; None without a known price or without requests.

    The first request for an action waits as long as the recorded one did, those behind it do not wait.
    """
    tariff, replay = pricing.tariff, walk.replay()
    if tariff is None or not walk.steps:
        return None
    one_charge = partial(charge, tariff, pricing.rules, head=head_tokens(replay, pricing))
    places, outputs = walk.session.requests, answer_tokens(replay)
    answers = [walk.session.messages[at] for at in places]
    waits = dict(zip(places, map(seconds_between, [None, *answers], answers), strict=False))
    written = dict(zip(places, outputs, strict=True))
    usd, looking, before = sum(summary_charges(replay, tariff)[0].values()), 0.0, 0
    moved = thinking_left(walk.session, walk.steps, pricing.rules)
    for i, (step, looked) in enumerate(zip(walk.steps, walk.answers, strict=True)):
        output = written[step.index] if looked is None else looked
        prefix = min([step.prefix_reused, *(one.tokens_sent for one in walk.steps[moved.get(i, i) : i])])
        paid = one_charge(step.tokens_sent, prefix, before, waited=waits[step.index], output=output).usd
        waits[step.index] = None if waits[step.index] is None else 0.0
        usd, looking, before = usd + paid, looking + paid * (looked is not None), step.tokens_sent
    return SimulationBill(usd, looking)
