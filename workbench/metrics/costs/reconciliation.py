"""The replay without compaction against what the provider reported: prompts, cache reads and dollars.

Each request is predicted from the recording and from the reports before it, never from its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from workbench.metrics.costs.pricing import Pricing
from workbench.metrics.costs.replay_cost import charge, seconds_between
from workbench.models.prices import Tariff
from workbench.replay.sizing import Sizing
from workbench.transcript.message import AssistantMessage, Usage
from workbench.transcript.prompt_prediction import PredictedRequest, Turn, predicted_requests
from workbench.transcript.session import Session
from workbench.transcript.tokens import Scaled

MISSED = 0.1
"""The share of a prompt by which a cache read must fall short of the rules to count as missed."""


@dataclass(frozen=True, slots=True)
class Matched:
    """One request as it was predicted and as it was reported.

    Attributes:
        prompt, read: predicted tokens of the whole prompt, and of those read from the cache.
        usd: predicted, for the prompt alone; `reported_usd` likewise.
        turn: what changed the context other than new messages.
    """

    prompt: int
    read: int
    usd: float
    reported: Usage
    reported_usd: float
    turn: Turn

    @property
    def prompt_error(self) -> float:
        """The share of the reported prompt by which the prediction misses it."""
        return abs(self.prompt - self.reported.prompt) / self.reported.prompt

    @property
    def read_error(self) -> float:
        """The difference of the cache reads as a share of the reported prompt."""
        return abs(self.read - self.reported.cache_read) / self.reported.prompt

    @property
    def usd_error(self) -> float:
        """The share of the reported dollars by which the prediction misses them."""
        return abs(self.usd - self.reported_usd) / self.reported_usd if self.reported_usd else 0.0


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """How well a session's own replay reproduces its reported usage.

    Attributes:
        matched: the requests that could be compared, in the order of sending.
        left_out: recorded answers of the main path that could not be: without a report, or by another model.
        why: why there is nothing to compare; empty where there is.
    """

    matched: tuple[Matched, ...] = ()
    left_out: int = 0
    why: str = ""

    def error(self, of: Literal["prompt", "read", "usd"]) -> float | None:
        """The median error of the requests; None without any."""
        return median(getattr(one, f"{of}_error") for one in self.matched) if self.matched else None

    @property
    def missed(self) -> int:
        """Requests for which the provider's cache held far less than its rules promise, for no reason on record."""
        return sum(one.read - one.reported.cache_read > MISSED * one.reported.prompt for one in self.matched)

    @property
    def turns(self) -> Counter[Turn]:
        """How often each thing other than new messages changed a context."""
        return Counter(one.turn for one in self.matched if one.turn)


def reconcile(session: Session, sizing: Sizing, pricing: Pricing) -> Reconciliation:
    """Predict each reported request of a session, and compare; nothing can be predicted without calibrated sizes."""
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    fitted, tariff = sizing.calibration, pricing.tariff
    if fitted is None or tariff is None:
        why = "no price is known" if fitted is not None else "no usage was reported"
        if fitted is None and any(answer.usage is not None and answer.usage.prompt for answer in answers):
            why = f"too few of the {len(answers)} answers report their usage, or their reports fit no one law"
        return Reconciliation(left_out=len(answers), why=why)
    count = sizing.count.count if isinstance(sizing.count, Scaled) else sizing.count
    counted = sizing.counted or tuple(count(message) for message in session.messages)
    requests = predicted_requests(session, counted, count, fitted.overhead, fitted.scale)
    head = fitted.overhead if pricing.head is None else min(pricing.head, fitted.overhead)
    matched = tuple(_matched(i, requests, tariff, pricing, head) for i in range(len(requests)))
    there = {id(one.request.answer) for one in requests}
    return Reconciliation(matched, sum(id(answer) not in there for answer in answers))


def _matched(i: int, requests: Sequence[PredictedRequest], tariff: Tariff, pricing: Pricing, head: int) -> Matched:
    one = requests[i]
    usage = one.request.answer.usage
    assert usage is not None
    prompt = round(one.predicted)
    known = requests[max(i - 1, 0) if one.begins_with is None else one.begins_with]
    before = round(known.settled) if i else 0
    prefix = min(head, before) if one.begins_with is None else before  # an earlier prompt is found up to its end
    waited = seconds_between(known.request.answer, one.request.answer)
    made = charge(tariff, pricing.rules, prompt, prefix, before, head, waited)
    return Matched(prompt, made.read, made.usd_prompt, usage, reported_usd(usage, tariff), one.turn)


def reported_usd(usage: Usage, tariff: Tariff) -> float:
    """What the prompt of a request cost, by its reported usage."""
    rates = tariff.at(usage.prompt)
    short = usage.cache_write - usage.cache_write_long
    plain = usage.input * rates.input + usage.cache_read * rates.cache_read
    return plain + short * rates.cache_write + usage.cache_write_long * rates.cache_write_long
