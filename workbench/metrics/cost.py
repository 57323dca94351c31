"""Metrics: what a replay costs, read from its bill; `n` is the number of requests."""

from __future__ import annotations

from workbench.metrics.metric import MetricInput, Score, metric
from workbench.metrics.size import NO_STEPS


@metric("usd", "lower")
def cost(data: MetricInput) -> Score:
    """All requests and summaries of a replay at their provider's cache rules and prices. In USD, >= 0.

    Prompts, recorded answers and summary calls, summed over the session; not what would have to be fetched again. The
    answers are the recorded ones, whatever the context; prices are those of the table's version; a summary by a writer
    without a price is priced as if the session's model had written it, without its cache.
    """
    if data.bill is None:
        return _no_bill(data)
    return Score(data.bill.usd, n=len(data.bill.charges))


@metric("share", "higher")
def cost_saved(data: MetricInput) -> Score:
    """The net saving as a share of what no compaction would have cost. In (-inf, 1]; below 0 it costs more.

    Comparable between sessions of different length and models, which the dollars are not.
    """
    if data.bill is None:
        return _no_bill(data)
    if not data.bill.usd_plain:
        return Score(None, "at these prices the session costs nothing")
    return Score(data.bill.net_saving / data.bill.usd_plain, n=len(data.bill.charges))


def _no_bill(data: MetricInput) -> Score:
    return Score(None, data.priced.why) if data.replay.steps else NO_STEPS
