"""What each compaction of a recorded agent cost: its request, the cache that it broke, and the
results that the agent had to fetch again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise

import pandas as pd

from workbench.engine.models.prices import Tariff, tariff
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.compaction_requests import compaction_request, has_written_summary
from workbench.engine.transcript.log import (
    ClearingEntry,
    CompactionEntry,
    Entry,
    MessageEntry,
    fold,
)
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    TokenCounter,
    ToolResult,
    Usage,
    said_text,
)
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.seen_before import is_mostly_seen, recognisable_lines
from workbench.evaluation.metrics.costs.reconciliation import reported_usd
from workbench.evaluation.replays.sized_session import SizedSession


@dataclass(frozen=True, slots=True)
class CompactionBill:
    """What one recorded compaction or clearing came to. Money is in USD, sizes are tokens.

    Attributes:
        message: index of the message before which it was made.
        kind: `compaction`, or `clearing` of old results.
        reason: why the agent compacted, as the recording says; often `auto` or `manual`.
        prompt_before, prompt_after: the reported prompts of the requests before and after it.
        request_usd: the price of the request that wrote the summary.
        is_estimate: whether the recording does not show that request, so that its tokens are an
            estimate.
        cache_usd: what the next request paid because the cache no longer held its prefix.
        calls: calls with a result from here to the next compaction.
        fetched_again: those whose result had mostly been seen before, and was no longer in the
            context.
        tokens_fetched_again: of these results.
        usd_fetched_again: what these tokens cost when they were first read as input.
    """

    message: int
    kind: str
    reason: str
    prompt_before: int | None
    prompt_after: int | None
    request_usd: float | None
    is_estimate: bool
    cache_usd: float | None
    calls: int
    fetched_again: int
    tokens_fetched_again: int
    usd_fetched_again: float | None

    @property
    def usd(self) -> float | None:
        """Its request, the broken cache and what was fetched again; None where one is unknown."""
        if self.request_usd is None or self.cache_usd is None or self.usd_fetched_again is None:
            return None
        return self.request_usd + self.cache_usd + self.usd_fetched_again


def compaction_bills(session: Session) -> pd.DataFrame:
    """What each compaction and clearing on the main path of a session came to; those that it
    copied from another session are left out.

    Returns:
        One row a compaction in their order, with the columns of `CompactionBill`. Prices are
        missing where the model has no listed price or the recording has no report.
    """
    columns = [field.name for field in fields(CompactionBill)]
    rows = [asdict(bill) for bill in bills(SizedSession.of(session))]
    return pd.DataFrame(rows, columns=columns)


def bills(sized: SizedSession) -> Iterator[CompactionBill]:
    """The same of a session that is counted already, one after another."""
    session = sized.session
    scale = 1.0
    if sized.sizing.calibration is not None:
        scale = sized.sizing.calibration.scale
    rates = tariff(session.model)
    count = TiktokenCounter()
    path = session.path
    places = []
    for place, entry in enumerate(path):
        if isinstance(entry, CompactionEntry | ClearingEntry):
            places.append(place)
    for place, end in pairwise([*places, len(path)]):
        entry = path[place]
        assert isinstance(entry, CompactionEntry | ClearingEntry)
        if entry.id in session.copied.compactions:
            continue
        usage_before = _usage_before(path[:place])
        usage_after = _usage_after(path[place:end])
        grown = scale * _tokens_since_the_last_answer(path[:place], count)
        fetched = _fetched_again(path, place, end)
        tokens = round(scale * sum(map(count, fetched)))
        request_usd, is_estimate = _request_price(entry, rates, count)
        yield CompactionBill(
            message=sum(isinstance(earlier, MessageEntry) for earlier in path[:place]),
            kind=entry.type,
            reason=entry.reason,
            prompt_before=_prompt(usage_before),
            prompt_after=_prompt(usage_after),
            request_usd=request_usd,
            is_estimate=is_estimate,
            cache_usd=_broken_cache(usage_before, usage_after, grown, rates),
            calls=sum(isinstance(message, ToolResult) for message in _messages(path[place:end])),
            fetched_again=len(fetched),
            tokens_fetched_again=tokens,
            usd_fetched_again=None if rates is None else tokens * rates.rates.input,
        )


def _messages(entries: Iterable[Entry]) -> Iterator[Message]:
    for entry in entries:
        if isinstance(entry, MessageEntry):
            yield entry.message


def _usage_before(entries: Sequence[Entry]) -> Usage | None:
    """What the last request reported."""
    for entry in reversed(entries):
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            return _reported(entry.message)
    return None


def _usage_after(entries: Sequence[Entry]) -> Usage | None:
    """What the first request reported."""
    for message in _messages(entries):
        if isinstance(message, AssistantMessage):
            return _reported(message)
    return None


def _prompt(usage: Usage | None) -> int | None:
    if usage is None:
        return None
    return usage.prompt


def _reported(answer: AssistantMessage) -> Usage | None:
    if answer.usage is None or not answer.usage.prompt:
        return None
    return answer.usage


def _tokens_since_the_last_answer(entries: Sequence[Entry], count: TokenCounter) -> int:
    """The size of what was new to the next request in any case."""
    tokens = 0
    for entry in reversed(entries):
        if not isinstance(entry, MessageEntry):
            continue
        tokens += count(entry.message)
        if isinstance(entry.message, AssistantMessage):
            break
    return tokens


def _request_price(
    entry: CompactionEntry | ClearingEntry, rates: Tariff | None, count: TokenCounter
) -> tuple[float | None, bool]:
    """The price of the request that wrote the summary, and whether its tokens are an estimate."""
    if isinstance(entry, ClearingEntry):
        return 0.0, False
    request = compaction_request(entry, count)
    if request is None:
        return (None, False) if has_written_summary(entry) else (0.0, False)
    if rates is None:
        return None, request.is_estimate
    output_usd = request.usage.output * rates.at(request.usage.prompt).output
    return reported_usd(request.usage, rates) + output_usd, request.is_estimate


def _broken_cache(
    usage_before: Usage | None, usage_after: Usage | None, grown: float, rates: Tariff | None
) -> float | None:
    """What the next request paid for tokens that its cache would have held.

    Without a compaction, all but what was new to the request would have been read from the cache.
    """
    if usage_before is None or usage_after is None or rates is None:
        return None
    if not usage_before.cache_read:
        return 0.0
    uncached = usage_after.prompt - usage_after.cache_read
    lost = max(uncached - grown, 0.0)
    if not uncached:
        return 0.0
    as_read = rates.at(usage_after.prompt).cache_read
    paid_uncached = reported_usd(usage_after, rates) - usage_after.cache_read * as_read
    return lost * (paid_uncached / uncached - as_read)


def _fetched_again(path: Sequence[Entry], place: int, end: int) -> list[Message]:
    """The results from a compaction to the next that told what its context no longer held."""
    gone_lines = set[str]()
    for message in _messages(path[:place]):
        if isinstance(message, ToolResult):
            gone_lines.update(recognisable_lines(said_text(message)))
    for message in fold(path[: place + 1]):
        gone_lines.difference_update(recognisable_lines(said_text(message)))
    fetched: list[Message] = []
    for message in _messages(path[place:end]):
        lines = list(recognisable_lines(said_text(message)))
        seen_lines = [line for line in lines if line in gone_lines]
        if isinstance(message, ToolResult) and is_mostly_seen(lines, seen_lines):
            fetched.append(message)
        gone_lines.difference_update(lines)  # the context holds them again
    return fetched
