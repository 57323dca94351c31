"""Metrics: what a replay costs, read from its bill; `n` is the number of requests."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from workbench.metrics.costs.replay_cost import ReplayCost
from workbench.metrics.metric import MetricInput, Score, metric
from workbench.metrics.size import NO_STEPS


def _of(data: MetricInput, value: Callable[[ReplayCost], float | None], why: str = "") -> Score:
    """A figure of the replay's bill; `why` says why the bill has none."""
    if not data.replay.steps:
        return NO_STEPS
    if data.bill is None:
        return Score(None, data.priced.why)
    figure = value(data.bill)
    return Score(None, why) if figure is None else Score(figure, n=len(data.bill.charges))


@metric("usd", "lower")
def cost(data: MetricInput) -> Score:
    """All requests and summaries of a replay at their provider's cache rules and prices. In USD, >= 0.

    Prompts, recorded answers and summary calls, summed over the session; not what would have to be fetched again. The
    answers are the recorded ones, whatever the context; prices are those of the table's version; a summary by a writer
    without a price is priced as if the session's model had written it, without its cache.
    """
    return _of(data, lambda bill: bill.usd)


@metric("usd", "higher")
def net_saving(data: MetricInput) -> Score:
    """What no compaction would have cost, less the replay, less fetching again what was lost and needed. In USD.

    Below 0 where compaction costs more than it saves. Each lost source is fetched once at the price of writing it to
    the context; an agent may go on without, or need several tries.
    """
    return _of(data, lambda bill: bill.net_saving)


@metric("share", "higher")
def cost_saved(data: MetricInput) -> Score:
    """The net saving as a share of what no compaction would have cost. In (-inf, 1]; below 0 it costs more.

    Comparable between sessions of different length and models, which the dollars are not.
    """
    free = "at these prices the session costs nothing"
    return _of(data, lambda bill: bill.net_saving / bill.usd_plain if bill.usd_plain else None, free)


@metric("share", "higher")
def cache_read(data: MetricInput) -> Score:
    """The share of all prompt tokens that the provider's cache would have served. In [0, 1].

    Never above `prefix_reuse`: the provider's blocks, minimum, marked places and lifetime take from it.
    """

    def share(bill: ReplayCost) -> float | None:
        prompts = sum(charge.prompt for charge in bill.charges)
        return sum(charge.read for charge in bill.charges) / prompts if prompts else None

    return _of(data, share, "the session sends no tokens")


@metric("count", "lower")
def cache_breaks(data: MetricInput) -> Score:
    """Requests that do not begin with the whole request before them: the cache must be written anew. >= 0."""
    steps = data.replay.steps
    broken = sum(b.prefix_reused < a.tokens_sent for a, b in pairwise(steps))
    return Score(float(broken), n=len(steps)) if steps else NO_STEPS


@metric("count", "lower")
def break_even(data: MetricInput) -> Score:
    """Requests from the first compaction until the sum is no higher than without any: 0 where it pays at once.

    None where nothing was compacted, and none where it never pays within the session; `why` says which. Sessions that
    end early hide late break-even points, so look at how many have none.
    """
    found = data.bill.break_even if data.bill is not None else None
    why = "it costs the same as no compaction" if found is None else "it never pays within the session"
    return _of(data, lambda _: None if found is None or found[1] is None else float(found[1] - found[0]), why)
