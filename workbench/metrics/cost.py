"""What a replay costs: metrics that read its bill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from workbench.metrics.billing import Bill
from workbench.metrics.metric import Better, MetricInput, Score, Unit
from workbench.metrics.size import NO_STEPS


def _of(data: MetricInput, value: Callable[[Bill], float | None], why: str = "", n: int | None = None) -> Score:
    """A figure of the replay's bill, or why there is none."""
    if not data.replay.steps:
        return NO_STEPS
    found = data.bill
    if found is None:
        return Score(None, data.priced.why)
    figure = value(found)
    return Score(None, why) if figure is None else Score(figure, n=len(found.charges) if n is None else n)


@dataclass(frozen=True, slots=True)
class Cost:
    """All requests and summaries of a replay at their provider's cache rules and prices. In USD, >= 0.

    Prompts, recorded answers and summary calls; not what would have to be fetched again. Denominator: none, it is the
    sum over the session. Failure mode: the answers are the recorded ones, whatever the context; prices are those of
    the table's version; a summary by a writer without a price is reckoned as if the session's model had written it,
    without its cache.
    """

    name: ClassVar[str] = "cost"
    unit: ClassVar[Unit] = "usd"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """The sum; `n` is the number of requests."""
        return _of(data, lambda bill: bill.usd)


@dataclass(frozen=True, slots=True)
class NetSaving:
    """What no compaction would have cost, less the replay, less fetching again what was lost and needed. In USD.

    Below 0 where compaction costs more than it saves. Failure mode: each lost source is fetched once at the price of
    writing it to the context; an agent may go on without, or need several tries.
    """

    name: ClassVar[str] = "net_saving"
    unit: ClassVar[Unit] = "usd"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """The difference; `n` is the number of requests."""
        return _of(data, lambda bill: bill.net_saving)


@dataclass(frozen=True, slots=True)
class CostSaved:
    """The net saving as a share of what no compaction would have cost. In (-inf, 1]; below 0 it costs more.

    Comparable between sessions of different length and models, which the dollars are not.
    """

    name: ClassVar[str] = "cost_saved"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """Net saving over the uncompacted cost; `n` is the number of requests."""
        free = "at these prices the session costs nothing"
        return _of(data, lambda bill: bill.net_saving / bill.usd_plain if bill.usd_plain else None, free)


@dataclass(frozen=True, slots=True)
class CacheRead:
    """The share of all prompt tokens that the provider's cache would have served. In [0, 1].

    Never above the prefix in common with the request before: the provider's blocks, minimum, marked places and
    lifetime take from it.
    """

    name: ClassVar[str] = "cache_read"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """Read tokens over prompt tokens of all requests; `n` is the number of requests."""
        return _of(data, _read, "the session sends no tokens")


def _read(bill: Bill) -> float | None:
    prompts = sum(charge.prompt for charge in bill.charges)
    return sum(charge.read for charge in bill.charges) / prompts if prompts else None


@dataclass(frozen=True, slots=True)
class CacheBreaks:
    """Requests that do not begin with the whole request before them: the cache must be written anew. A count, >= 0."""

    name: ClassVar[str] = "cache_breaks"
    unit: ClassVar[Unit] = "count"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Their number; `n` is the number of requests."""
        steps = data.replay.steps
        broken = sum(b.prefix_reused < a.tokens_sent for a, b in pairwise(steps))
        return Score(float(broken), n=len(steps)) if steps else NO_STEPS


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Requests from the first compaction until the sum is no higher than without any: 0 where it pays at once.

    A count; none where nothing was compacted, and none where it never pays within the session (`why` tells the two
    apart). Failure mode: sessions that end early hide late break-even points, so look at how many have none.
    """

    name: ClassVar[str] = "break_even"
    unit: ClassVar[Unit] = "count"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Requests after the one where the sums part; `n` is the number of requests."""
        found = data.bill.break_even if data.bill is not None else None
        why = "it costs the same as no compaction" if found is None else "it never pays within the session"
        return _of(data, lambda _: None if found is None or found[1] is None else float(found[1] - found[0]), why)
