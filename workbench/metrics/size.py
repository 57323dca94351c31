"""Metrics: how much is sent, from the steps and the compactions of a replay; `n` is the number of requests."""

from __future__ import annotations

from workbench.metrics.metric import MetricInput, Score, mean_score, metric
from workbench.replay.step import Replay

NO_STEPS = Score(None, "only a natural replay has requests")

ALLOWED = 1.1
"""A context may be so many times as large as its budget: strategies stop at whole messages and guess at lengths."""

MOST_OVER_TARGET = 0.1
"""The share of sessions in which a strategy may stay larger than the size that all are cut to, and still be ranked."""

EVEN_SO = frozenset({"tokens_kept", "violations"})
"""Metrics that are right at any size."""

TOO_LARGE = "it stays larger than the size that was set"
"""How the reason begins that such a score has for being none."""


@metric("tokens", "lower")
def tokens_sent(data: MetricInput) -> Score:
    """Prompt tokens of all requests together, in the provider's tokens where the session is calibrated."""
    sent = [step.tokens_sent for step in data.replay.steps]
    return Score(float(sum(sent)), n=len(sent)) if sent else NO_STEPS


@metric("share", "higher")
def tokens_saved(data: MetricInput) -> Score:
    """The share of the uncompacted prompt tokens that were not sent; summary calls count as sent.

    1 - (sent + summary calls) / recorded, in (-inf, 1): below 0 where the summary calls cost more than they saved.
    """
    steps = data.replay.steps
    if not steps:
        return NO_STEPS
    asked = sum(a.input_tokens + a.output_tokens for c in data.replay.compactions for a in c.completions)
    recorded = sum(step.tokens_recorded for step in steps)
    if not recorded:
        return Score(None, "the session sends no tokens")
    return Score(1 - (sum(step.tokens_sent for step in steps) + asked) / recorded, n=len(steps))


@metric("tokens", "lower")
def peak_context(data: MetricInput) -> Score:
    """The largest request, in tokens with overhead."""
    sent = [step.tokens_sent for step in data.replay.steps]
    return Score(float(max(sent)), n=len(sent)) if sent else NO_STEPS


@metric("tokens", "lower")
def mean_context(data: MetricInput) -> Score:
    """The mean request, in tokens with overhead."""
    return mean_score([step.tokens_sent for step in data.replay.steps], NO_STEPS.why)


@metric("share", "lower")
def over_window(data: MetricInput) -> Score:
    """The share of the requests that are larger than the window: no provider would have taken them. In [0, 1].

    Where it is above 0 the other figures of that replay are those of contexts that could not have been sent.
    """
    return mean_score([step.tokens_sent > data.replay.window for step in data.replay.steps], NO_STEPS.why)


@metric("count", "lower")
def compactions(data: MetricInput) -> Score:
    """How often the preset compacted: compactions that changed something."""
    return Score(float(len(data.replay.events))) if data.replay.steps else NO_STEPS


@metric("share", "higher")
def prefix_reuse(data: MetricInput) -> Score:
    """The prompt tokens, from the second request on, that begin like the request before. In [0, 1].

    An upper bound of what a provider's prompt cache can serve. `n` is the number of those requests.
    """
    steps = data.replay.steps[1:]
    sent = sum(step.tokens_sent for step in steps)
    if not sent:
        return Score(None, "fewer than two requests")
    return Score(sum(step.prefix_reused for step in steps) / sent, n=len(steps))


@metric("count", "lower")
def violations(data: MetricInput) -> Score:
    """Invariants that a stage would have broken; its result was not used. `n` is the number of compactions."""
    found = [event.compaction.violations for event in data.replay.events if event.share == data.share]
    return Score(float(sum(map(len, found))), n=len(found))


@metric("share", "lower")
def tokens_kept(data: MetricInput) -> Score:
    """The size of the compacted messages as a share of the history's, without overhead.

    In [0, 1]; the mean over the boundaries, `n` is their number.
    """
    sizes = data.replay.sizing.sizes
    ratios = [shot.context.spoken / whole for shot in data.snapshots if (whole := sum(sizes[: shot.at]))]
    return mean_score(ratios, "no boundary to score")


def stays_larger(replay: Replay, share: float | None) -> str:
    """Why the contexts of a replay at one budget may not be compared at the size that was set; empty where they may.

    A context is too large above `ALLOWED` times its budget. The reference `none` is never cut.
    """
    if replay.mode == "natural" or replay.preset == "none":
        return ""
    done = [event.compaction for event in replay.events if event.share == share]
    times = [one.sent.tokens / max(one.budget.target, 1) for one in done]
    over = [one for one in times if one > ALLOWED]
    if not over:
        return ""
    where = f"at {len(over)} of {len(done)} boundaries" if len(done) > 1 else "at its boundary"
    return f"{TOO_LARGE} {where}, up to {max(over):.1f} times"
