"""How much is sent and what it costs: from the steps, the compactions and the bill of a replay.

`n` is the number of requests.
"""

from workbench.evaluation.metrics.metric import MetricInput, Score, mean_score, metric
from workbench.evaluation.replays.broken_results import BrokenResult, broken_in_words

NO_STEPS = Score(None, "only a natural replay has requests")


@metric("tokens", "lower")
def tokens_sent(data: MetricInput) -> Score:
    """Prompt tokens of all requests together, in the provider's tokens where the session is
    calibrated.
    """
    sizes = _request_sizes(data)
    if not sizes:
        return NO_STEPS
    total = float(sum(sizes))
    return Score(total, n=len(sizes))


def _request_sizes(data: MetricInput) -> list[int]:
    """The tokens of each request, with overhead."""
    return [step.tokens_sent for step in data.replay.steps]


@metric("share", "higher")
def tokens_saved(data: MetricInput) -> Score:
    """The share of the uncompacted prompt tokens that were not sent; summary calls count as sent.

    1 - (sent + summary calls) / recorded, in (-inf, 1): below 0 where the summary calls cost more
    than they saved.
    """
    steps = data.replay.steps
    if not steps:
        return NO_STEPS
    recorded = sum(step.tokens_recorded for step in steps)
    if not recorded:
        return Score(None, "the session sends no tokens")
    sent = sum(step.tokens_sent for step in steps)
    for compaction in data.replay.compactions:
        for completion in compaction.completions:
            sent += completion.input_tokens + completion.output_tokens
    return Score(1 - sent / recorded, n=len(steps))


@metric("tokens", "lower")
def peak_context(data: MetricInput) -> Score:
    """The largest request, in tokens with overhead."""
    sizes = _request_sizes(data)
    if not sizes:
        return NO_STEPS
    largest = float(max(sizes))
    return Score(largest, n=len(sizes))


@metric("tokens", "lower")
def mean_context(data: MetricInput) -> Score:
    """The mean request, in tokens with overhead."""
    return mean_score(_request_sizes(data), NO_STEPS.why)


@metric("share", "lower")
def over_window(data: MetricInput) -> Score:
    """The share of the requests that are larger than the window: no provider would have taken them.
    In [0, 1].

    Where it is above 0 the other figures of that replay are those of contexts that could not have
    been sent.
    """
    window = data.replay.window
    is_over = [size > window for size in _request_sizes(data)]
    return mean_score(is_over, NO_STEPS.why)


@metric("count", "lower")
def compactions(data: MetricInput) -> Score:
    """How often the preset compacted: compactions that changed something."""
    if not data.replay.steps:
        return NO_STEPS
    return Score(float(len(data.replay.events)))


@metric("share", "higher")
def prefix_reuse(data: MetricInput) -> Score:
    """The prompt tokens, from the second request on, that begin like the request before. In [0, 1].

    An upper bound of what a provider's prompt cache can serve. `n` is the number of those requests.
    """
    steps = data.replay.steps[1:]
    sent = sum(step.tokens_sent for step in steps)
    if not sent:
        return Score(None, "fewer than two requests")
    reused = sum(step.prefix_reused for step in steps)
    return Score(reused / sent, n=len(steps))


@metric("count", "lower")
def violations(data: MetricInput) -> Score:
    """Rules of the engine that stages broke; what broke one was not used. `n` is the number of
    compactions that were used; `why` says which stage broke which rule first, and where.
    """
    broken: list[BrokenResult] = []
    rule_count = 0
    for result in data.replay.broken:
        if result.share == data.share:
            broken.append(result)
            rule_count += len(result.rules)
    compaction_count = 0
    for event in data.replay.events:
        if event.share == data.share:
            compaction_count += 1
    return Score(float(rule_count), broken_in_words(broken), n=compaction_count)


@metric("share", "lower")
def tokens_kept(data: MetricInput) -> Score:
    """The size of the compacted messages as a share of the history's, without overhead.

    In [0, 1]; the mean over the boundaries, `n` is their number.
    """
    sizing = data.replay.sizing
    messages = data.replay.session.messages
    ratios = []
    for snapshot in data.snapshots:
        history_size = sum(sizing.sizes_before(messages, snapshot.at))
        if history_size:
            ratios.append(snapshot.context.spoken / history_size)
    return mean_score(ratios, "no boundary to score")


@metric("usd", "lower")
def cost(data: MetricInput) -> Score:
    """All requests and summaries of a replay at their provider's cache rules and prices. In USD, >=
    0.

    Prompts, recorded answers and summary calls, summed over the session; not what would have to be
    fetched again. The answers are the recorded ones, whatever the context; prices are those of the
    table's version; a summary by a writer without a price is priced as if the session's model had
    written it, without its cache.
    """
    bill = data.bill
    if bill is None:
        return _no_bill(data)
    return Score(bill.usd, n=len(bill.charges))


@metric("share", "higher")
def cost_saved(data: MetricInput) -> Score:
    """The net saving as a share of what no compaction would have cost. In (-inf, 1]; below 0 it
    costs more.

    Comparable between sessions of different length and models, which the dollars are not.
    """
    bill = data.bill
    if bill is None:
        return _no_bill(data)
    if not bill.usd_plain:
        return Score(None, "at these prices the session costs nothing")
    saved = bill.net_saving / bill.usd_plain
    return Score(saved, n=len(bill.charges))


def _no_bill(data: MetricInput) -> Score:
    """Why a replay has no bill."""
    if not data.replay.steps:
        return NO_STEPS
    return Score(None, data.priced.why)
