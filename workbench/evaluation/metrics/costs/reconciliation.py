"""The replay without compaction against what the provider reported: prompts, cache reads and
dollars.

Each request is predicted from the recording and from the reports before it, never from its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from workbench.base.ragged import Floats
from workbench.engine.models.prices import Tariff
from workbench.engine.transcript.calibration import TokenCalibration
from workbench.engine.transcript.message import AssistantMessage, Scaled, Usage
from workbench.engine.transcript.recorded_requests import PredictedRequest, Turn, predicted_requests
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.request_charge import charge, charge_with, seconds_between
from workbench.evaluation.replays.sizing import Sizing

MISSED = 0.1
"""The share of a prompt by which a cache read must fall short of the rules to count as missed."""
PROMPT, READ, USD, USD_AS_READ = range(4)
"""Columns of a reconciliation: tokens of the prompt, tokens read from the cache, USD for the prompt
alone, and the same with the reported share of cache reads wherever that is off by more than
`MISSED`.
"""
Quantity: TypeAlias = Literal["prompt", "read", "usd"]
_COLUMNS: dict[Quantity, int] = {"prompt": PROMPT, "read": READ, "usd": USD}
PAUSE = 60.0
"""Seconds from which a miss is put down to the pause before it, though the rules promise more."""
Cause: TypeAlias = Literal[
    "missed after a change of the prompt", "missed at a user's message", "missed after a pause",
    "missed for no reason on record",
    "found from an earlier session", "found after its promised time", "found otherwise",
]  # fmt: skip
"""Why a cache read differs from the rules. `found`: the cache held more than they promise."""
SIZES = "sizes of prompts"
"""What is left of a bill's error: prompts predicted too large or too small, by what the
recording does not show.
"""
UNWRITTEN = "cache writes that no report names"
"""Reads are reported, and so somebody wrote, but the reports count what was written as plain
input.
"""


class _Row(NamedTuple):
    """One request, as `PROMPT`, `READ`, `USD` and `USD_AS_READ`."""

    prompt: int
    read: int
    usd: float
    usd_as_read: float


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

    def errors(self, of: Quantity) -> Floats:
        """(requests,) the prediction's error, as a share of the reported prompt or its dollars."""
        column = _COLUMNS[of]
        unit = USD if of == "usd" else PROMPT
        reported = self.reported[:, unit]
        divisor = np.where(reported > 0, reported, np.inf)
        differences = np.abs(self.predicted - self.reported)
        errors: Floats = differences[:, column] / divisor
        return errors

    def error(self, of: Quantity) -> float | None:
        """The median error of the requests; None without any."""
        if not len(self.predicted):
            return None
        return float(np.median(self.errors(of)))

    @property
    def bill_error(self) -> float | None:
        """By how much the bill of the whole session is too high, as a share of the reported one;
        None without any.
        """
        usd_reported = self.reported[:, USD]
        reported = float(usd_reported.sum())
        if not reported:
            return None
        usd_predicted = self.predicted[:, USD]
        predicted = float(usd_predicted.sum())
        return predicted / reported - 1

    @property
    def usd_missed(self) -> float:
        """USD that the bill lacks since the provider's cache held less than its rules promise."""
        usd_missed = np.maximum(self._usd_of_cache, 0)
        return float(usd_missed.sum())

    @property
    def usd_found(self) -> float:
        """USD that the bill has too much: the cache held what the rules know nothing of.

        It was written by an earlier session, or outlived its promised time.
        """
        usd_found = np.maximum(-self._usd_of_cache, 0)
        return float(usd_found.sum())

    @property
    def reasons(self) -> dict[str, float]:
        """What makes the bill wrong: USD by reason, largest first; they sum to its error."""
        usd_predicted = self.predicted[:, USD_AS_READ]
        usd_reported = self.reported[:, USD]
        too_much = usd_predicted - usd_reported
        usd_of_sizes = float(too_much.sum())
        usd_by_reason = {
            SIZES: usd_of_sizes - self.usd_unwritten,
            UNWRITTEN: self.usd_unwritten,
        }
        usd_of_cache = self._usd_of_cache.tolist()
        for cause, usd in zip(self.causes, usd_of_cache, strict=True):
            reason = cause or SIZES
            usd_by_reason[reason] = usd_by_reason.get(reason, 0.0) - usd

        def size(reason: str) -> float:
            return abs(usd_by_reason[reason])

        largest_first = sorted(usd_by_reason, key=size, reverse=True)
        return {reason: usd_by_reason[reason] for reason in largest_first}

    @property
    def _usd_of_cache(self) -> Floats:
        usd_as_read = self.predicted[:, USD_AS_READ]
        usd_by_rules = self.predicted[:, USD]
        usd: Floats = usd_as_read - usd_by_rules
        return usd

    @property
    def missed(self) -> int:
        """Requests for which the provider's cache held far less than its rules promise."""
        return sum(cause.startswith("missed") for cause in self.causes)


def reconcile(session: Session, sizing: Sizing, pricing: Pricing) -> Reconciliation:
    """Predict each reported request of a session, and compare.

    Nothing can be predicted without calibrated sizes, nor compared where the client reports whole
    prompts alone though the provider has a cache.
    """
    answers: list[AssistantMessage] = []
    for index in session.requests:
        message = session.messages[index]
        if isinstance(message, AssistantMessage):
            answers.append(message)
    fitted = sizing.calibration
    if fitted is None:
        return Reconciliation(left_out=len(answers), why=_uncalibrated(answers))
    tariff = pricing.tariff
    if tariff is None:
        return Reconciliation(left_out=len(answers), why="no price is known")
    if pricing.rules.seconds and not _report_a_cache(answers):
        return Reconciliation(left_out=len(answers), why="its reports say nothing of a cache")
    all_requests = _predicted_requests(session, sizing, fitted)
    head = fitted.overhead
    if pricing.head is not None:
        head = min(pricing.head, head)
    predicted: list[_Row] = []
    reported: list[_Row] = []
    causes: list[Cause | Literal[""]] = []
    requests: list[PredictedRequest] = []
    for number, request in enumerate(all_requests):
        if request.request.answer.id in session.copied.answers:
            continue
        requests.append(request)
        row, cause = _predicted(number, all_requests, tariff, pricing, head)
        usage = _usage_of(request)
        predicted.append(row)
        reported.append(_reported(usage, tariff))
        causes.append(cause)
    usd_unwritten = 0.0
    if pricing.rules.writes:
        usages = [_usage_of(request) for request in requests]
        usd_unwritten = _usd_unwritten(usages, tariff)
    compared = {id(request.request.answer) for request in requests}
    left_out = 0
    for answer in answers:
        if id(answer) not in compared:
            left_out += 1
    turns = Counter[Turn]()
    for request in requests:
        if request.turn:
            turns[request.turn] += 1
    return Reconciliation(
        predicted=_rows(predicted),
        reported=_rows(reported),
        causes=tuple(causes),
        turns=turns,
        requests=tuple(requests),
        usd_unwritten=usd_unwritten,
        left_out=left_out,
    )


def _uncalibrated(answers: Sequence[AssistantMessage]) -> str:
    """Why the sizes of a session are not calibrated."""
    for answer in answers:
        if answer.usage is not None and answer.usage.prompt:
            return (
                f"too few of the {len(answers)} answers report their usage, or their reports fit no"
                " one law"
            )
    return "no usage was reported"


def _report_a_cache(answers: Sequence[AssistantMessage]) -> bool:
    """Whether any answer's report names a read from a cache, or a write to it."""
    for answer in answers:
        usage = answer.usage
        if usage is not None and (usage.cache_read or usage.cache_write):
            return True
    return False


def _predicted_requests(
    session: Session,
    sizing: Sizing,
    fitted: TokenCalibration,
) -> tuple[PredictedRequest, ...]:
    """The requests by the sizes that were counted, before they were fitted to the reports."""
    count = sizing.count
    if isinstance(count, Scaled):
        count = count.count
    sizes = sizing.counted
    if sizing.hidden:
        sizes = tuple(map(add, sizes, sizing.hidden))
    elif not sizes:
        sizes = tuple(count(message) for message in session.messages)
    ids = [message.id for message in session.messages]
    leaving = dict(zip(ids, sizing.leaving, strict=False))
    return predicted_requests(
        session,
        sizes,
        count,
        fitted.overhead,
        fitted.scale,
        leaving,
    )


def _usage_of(request: PredictedRequest) -> Usage:
    return request.request.answer.usage or Usage()


def _reported(usage: Usage, tariff: Tariff) -> _Row:
    """The row of a request by its report."""
    usd = reported_usd(usage, tariff)
    return _Row(usage.prompt, usage.cache_read, usd, usd)


def _rows(rows: Iterable[_Row] = ()) -> Floats:
    table = np.array(list(rows), dtype=np.float64)
    return table.reshape(-1, 4)


def _predicted(
    number: int,
    requests: Sequence[PredictedRequest],
    tariff: Tariff,
    pricing: Pricing,
    head: int,
) -> tuple[_Row, Cause | Literal[""]]:
    """The row of a request, and why its cache read is far from the rules."""
    rules = pricing.rules
    request = requests[number]
    earlier = requests[max(number - 1, 0)]
    if request.begins_with is not None:
        earlier = requests[request.begins_with]
    earlier_prompt = round(earlier.settled) if number else 0
    # an earlier prompt is found up to its end
    prefix = earlier_prompt
    if request.begins_with is None:
        prefix = min(head, earlier_prompt)
    if rules.forgets and request.turn_before is not None:
        turn_start = requests[request.turn_before]
        prefix = min(prefix, round(turn_start.settled))
    seconds = seconds_between(earlier.request.answer, request.request.answer)
    prompt = round(request.predicted)
    bill = charge(
        tariff,
        rules,
        prompt,
        prefix,
        earlier_prompt,
        head,
        seconds,
    )
    usage = _usage_of(request)
    tolerance = MISSED * usage.prompt
    difference = abs(bill.read - usage.cache_read)
    is_far = difference > tolerance
    is_missed = bill.read > usage.cache_read
    least_of_earlier = earlier.reported - tolerance
    if number and is_missed and usage.cache_read >= least_of_earlier:
        # all of the prompt before was read, and it was smaller than predicted
        is_far = False
    read = bill.read
    cause: Cause | Literal[""] = ""
    if is_far:
        read = round(prompt * usage.cache_read / usage.prompt)
        cause = _cause(request, seconds, pricing, is_missed=is_missed)
    as_read = charge_with(tariff, rules, prompt, read)
    row = _Row(
        prompt=prompt,
        read=bill.read,
        usd=bill.usd_prompt,
        usd_as_read=as_read.usd_prompt,
    )
    return row, cause


def _cause(
    request: PredictedRequest,
    seconds: float | None,
    pricing: Pricing,
    *,
    is_missed: bool,
) -> Cause:
    """Why a cache read is far from the rules, as far as the recording shows it.

    Args:
        request: whose prompt is read.
        seconds: since the request before; None if unknown.
        pricing: with the rules of the cache.
        is_missed: whether the cache held less than the rules promise, not more.
    """
    if is_missed and request.turn:
        return "missed after a change of the prompt"
    if is_missed and request.request.by_user:
        return "missed at a user's message"
    if is_missed and seconds is not None and seconds > PAUSE:
        return "missed after a pause"
    if is_missed:
        return "missed for no reason on record"
    if request.begins_with is None and not request.turn:
        return "found from an earlier session"
    if seconds is not None and seconds > pricing.rules.seconds:
        return "found after its promised time"
    return "found otherwise"


def _usd_unwritten(usages: Sequence[Usage], tariff: Tariff) -> float:
    """USD that the reported bill lacks where reports count cache writes as plain input."""
    has_writes = any(usage.cache_write for usage in usages)
    has_reads = any(usage.cache_read for usage in usages)
    if has_writes or not has_reads:
        return 0.0
    usd = 0.0
    for usage in usages:
        rates = tariff.at(usage.prompt)
        usd += usage.input * (rates.cache_write - rates.input)
    return usd


def reported_usd(usage: Usage, tariff: Tariff) -> float:
    """What the prompt of a request cost, by its reported usage."""
    rates = tariff.at(usage.prompt)
    usd_input = usage.input * rates.input
    usd_read = usage.cache_read * rates.cache_read
    written_short = usage.cache_write - usage.cache_write_long
    usd_short = written_short * rates.cache_write
    usd_long = usage.cache_write_long * rates.cache_write_long
    return usd_input + usd_read + usd_short + usd_long
