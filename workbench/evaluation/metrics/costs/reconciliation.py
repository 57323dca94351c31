"""The replay without compaction against what the provider reported: prompts, cache reads and
dollars.

Each request is predicted from the recording and from the reports before it, never from its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from workbench.base.ragged import Floats
from workbench.engine.models.prices import Tariff
from workbench.engine.transcript.message import AssistantMessage, Scaled, Usage
from workbench.engine.transcript.recorded_requests import PredictedRequest, Turn, predicted_requests
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.replay_cost import charge, charge_with, seconds_between
from workbench.evaluation.replays.sizing import Sizing

MISSED = 0.1
"""The share of a prompt by which a cache read must fall short of the rules to count as missed."""
PROMPT, READ, USD, USD_AS_READ = range(4)
"""Columns of a reconciliation: tokens of the prompt, tokens read from the cache, USD for the prompt
alone, and the same with the reported share of cache reads wherever that is off by more than
`MISSED`.
"""


PAUSE = 60.0
"""Seconds from which a miss is put down to the pause before it, though the rules promise more."""
Cause: TypeAlias = Literal[
    "missed after a change of the prompt", "missed at a user's message", "missed after a pause",
    "missed for no reason on record",
    "found from an earlier session", "found after its promised time", "found otherwise",
]  # fmt: skip
"""Why a cache read is not as the rules have it. `found`: the provider's cache held more than
they promise.
"""
SIZES = "sizes of prompts"
"""What is left of a bill's error: prompts predicted too large or too small, by what the
recording does not show.
"""
UNWRITTEN = "cache writes that no report names"
"""Reads are reported, and so somebody wrote, but the reports count what was written as plain
input.
"""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """How well a session's own replay reproduces its reported usage.

    Attributes:
        predicted, reported: (requests, 4) `PROMPT`, `READ`, `USD` and `USD_AS_READ` of the requests
            that could be compared, in the order of sending.
        causes: (requests,) why the cache read is far from the rules; empty where it is not.
        turns: how often each thing other than new messages changed a context.
        requests: these requests themselves.
        usd_unwritten: USD by which the reported bill is too low, since its reports leave cache
            writes out.
        left_out: recorded answers of the main path that could not be compared: without a report, or
            by another model.
        why: why there is nothing to compare; empty where there is.
    """

    predicted: Floats = field(default_factory=lambda: _rows())
    reported: Floats = field(default_factory=lambda: _rows())
    causes: tuple[Cause | Literal[""], ...] = ()
    turns: Counter[Turn] = field(default_factory=Counter)
    requests: tuple[PredictedRequest, ...] = ()
    usd_unwritten: float = 0.0
    left_out: int = 0
    why: str = ""

    def errors(self, of: Literal["prompt", "read", "usd"]) -> Floats:
        """(requests,) by how much the prediction misses, as a share of the reported prompt or of
        its dollars.
        """
        column = {"prompt": PROMPT, "read": READ, "usd": USD}[of]
        whole = self.reported[:, USD if of == "usd" else PROMPT]
        found: Floats = np.abs(self.predicted - self.reported)[:, column] / np.where(
            whole > 0, whole, np.inf
        )
        return found

    def error(self, of: Literal["prompt", "read", "usd"]) -> float | None:
        """The median error of the requests; None without any."""
        return float(np.median(self.errors(of))) if len(self.predicted) else None

    @property
    def bill_error(self) -> float | None:
        """By how much the bill of the whole session is too high, as a share of the reported one;
        None without any.
        """
        said = float(self.reported[:, USD].sum())
        return float(self.predicted[:, USD].sum()) / said - 1 if said else None

    @property
    def usd_missed(self) -> float:
        """USD that the bill lacks since the provider's cache held less than its rules promise."""
        return float(np.maximum(self._usd_of_cache, 0).sum())

    @property
    def usd_found(self) -> float:
        """USD that the bill has too much: the cache held what the rules know nothing of.

        It was written by an earlier session, or outlived its promised time.
        """
        return float(np.maximum(-self._usd_of_cache, 0).sum())

    @property
    def reasons(self) -> dict[str, float]:
        """What makes the bill of the whole session wrong: USD by reason, largest first; they sum
        to its error.
        """
        left = float((self.predicted[:, USD_AS_READ] - self.reported[:, USD]).sum())
        found: dict[str, float] = {SIZES: left - self.usd_unwritten, UNWRITTEN: self.usd_unwritten}
        for cause, usd in zip(self.causes, self._usd_of_cache.tolist(), strict=True):
            found[cause or SIZES] = found.get(cause or SIZES, 0.0) - usd
        return dict(sorted(found.items(), key=lambda one: -abs(one[1])))

    @property
    def _usd_of_cache(self) -> Floats:
        found: Floats = self.predicted[:, USD_AS_READ] - self.predicted[:, USD]
        return found

    @property
    def missed(self) -> int:
        """Requests for which the provider's cache held far less than its rules promise."""
        return sum(cause.startswith("missed") for cause in self.causes)


def reconcile(session: Session, sizing: Sizing, pricing: Pricing) -> Reconciliation:
    """Predict each reported request of a session, and compare.

    Nothing can be predicted without calibrated sizes, nor compared where the client reports whole
    prompts alone though the provider has a cache.
    """
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    fitted, tariff = sizing.calibration, pricing.tariff
    if fitted is None or tariff is None:
        why = "no price is known" if fitted is not None else "no usage was reported"
        if fitted is None and any(
            answer.usage is not None and answer.usage.prompt for answer in answers
        ):
            why = (
                f"too few of the {len(answers)} answers report their usage, or their reports fit no"
                " one law"
            )
        return Reconciliation(left_out=len(answers), why=why)
    told = [answer.usage for answer in answers if answer.usage is not None]
    if pricing.rules.seconds and not any(usage.cache_read or usage.cache_write for usage in told):
        return Reconciliation(left_out=len(answers), why="its reports say nothing of a cache")
    count = sizing.count.count if isinstance(sizing.count, Scaled) else sizing.count
    counted = sizing.counted or tuple(count(message) for message in session.messages)
    requests = predicted_requests(session, counted, count, fitted.overhead, fitted.scale)
    head = fitted.overhead if pricing.head is None else min(pricing.head, fitted.overhead)
    made = [_predicted(i, requests, tariff, pricing, head) for i in range(len(requests))]
    predicted = _rows(row for row, _ in made)
    usages = [one.request.answer.usage or Usage() for one in requests]
    bills = [reported_usd(usage, tariff) for usage in usages]
    reported = _rows(
        (usage.prompt, usage.cache_read, usd, usd) for usage, usd in zip(usages, bills, strict=True)
    )
    there = {id(one.request.answer) for one in requests}
    turns = Counter[Turn](one.turn for one in requests if one.turn)
    causes = tuple(cause for _, cause in made)
    unwritten = _unwritten(usages, tariff) if pricing.rules.writes else 0.0
    left_out = sum(id(answer) not in there for answer in answers)
    return Reconciliation(predicted, reported, causes, turns, requests, unwritten, left_out)


def _rows(rows: Iterable[tuple[int, int, float, float]] = ()) -> Floats:
    return np.array(list(rows), dtype=np.float64).reshape(-1, 4)


def _predicted(
    i: int, requests: Sequence[PredictedRequest], tariff: Tariff, pricing: Pricing, head: int
) -> tuple[tuple[int, int, float, float], Cause | Literal[""]]:
    """The row of a request, and why its cache read is far from the rules."""
    one = requests[i]
    prompt = round(one.predicted)
    known = requests[max(i - 1, 0) if one.begins_with is None else one.begins_with]
    before = round(known.settled) if i else 0
    # an earlier prompt is found up to its end
    prefix = min(head, before) if one.begins_with is None else before
    if pricing.rules.forgets and one.turn_before is not None:
        prefix = min(prefix, round(requests[one.turn_before].settled))
    waited = seconds_between(known.request.answer, one.request.answer)
    made = charge(tariff, pricing.rules, prompt, prefix, before, head, waited)
    said = one.request.answer.usage or Usage()
    unlike = abs(made.read - said.cache_read) > MISSED * said.prompt
    if i and made.read > said.cache_read >= known.reported - MISSED * said.prompt:
        unlike = False  # all of the prompt before was read, and it was smaller than predicted
    read = round(prompt * said.cache_read / said.prompt) if unlike else made.read
    row = (
        prompt,
        made.read,
        made.usd_prompt,
        charge_with(tariff, pricing.rules, prompt, read).usd_prompt,
    )
    return row, _cause(one, waited, pricing, made.read > said.cache_read) if unlike else ""


def _cause(one: PredictedRequest, waited: float | None, pricing: Pricing, missed: bool) -> Cause:
    """Why a cache read is far from the rules, as far as the recording shows it."""
    if missed and one.turn:
        return "missed after a change of the prompt"
    if missed and one.request.by_user:
        return "missed at a user's message"
    if missed:
        return (
            "missed after a pause"
            if waited is not None and waited > PAUSE
            else "missed for no reason on record"
        )
    if one.begins_with is None and not one.turn:
        return "found from an earlier session"
    late = waited is not None and waited > pricing.rules.seconds
    return "found after its promised time" if late else "found otherwise"


def _unwritten(usages: Sequence[Usage], tariff: Tariff) -> float:
    if any(usage.cache_write for usage in usages) or not any(usage.cache_read for usage in usages):
        return 0.0
    rates = [tariff.at(usage.prompt) for usage in usages]
    return sum(
        usage.input * (at.cache_write - at.input) for usage, at in zip(usages, rates, strict=True)
    )


def reported_usd(usage: Usage, tariff: Tariff) -> float:
    """What the prompt of a request cost, by its reported usage."""
    rates = tariff.at(usage.prompt)
    short = usage.cache_write - usage.cache_write_long
    plain = usage.input * rates.input + usage.cache_read * rates.cache_read
    return plain + short * rates.cache_write + usage.cache_write_long * rates.cache_write_long
