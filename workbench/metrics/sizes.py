"""Whether a context that was to be cut to a size was cut to it: what is larger may not be compared at that size."""

from __future__ import annotations

from workbench.metrics.metric import MetricInput
from workbench.replay.matched import least
from workbench.replay.step import CompactionEvent, Replay

ALLOWED = 1.1
"""A context may be so many times as large as its budget: strategies stop at whole messages and guess at lengths."""

MOST_OVER_TARGET = 0.1
"""The share of sessions in which a strategy may stay larger than the size that all are cut to, and still be ranked."""

EVEN_SO = frozenset({"tokens_kept", "violations"})
"""Metrics that are right at any size."""

TOO_LARGE = "it stays larger than the size that was set"
"""How the reason begins that such a score has for being none."""


def too_large(data: MetricInput) -> str:
    """Why the contexts of a replay may not be compared at the size that was set; empty where they may."""
    return stays_larger(data.replay, data.share)


def stays_larger(replay: Replay, share: float | None) -> str:
    """The same of the contexts of a replay at one budget.

    A context is too large above `ALLOWED` times its budget, or times what no strategy may take away (pinned messages,
    the newest user message, the overhead) where that is more than the budget. The reference `none` is never cut.
    """
    if replay.mode == "natural" or replay.preset == "none":
        return ""
    events = [event for event in replay.events if event.share == share]
    over = [event for event in events if event.compaction.sent.tokens > ALLOWED * _least(event)]
    if not over:
        return ""
    worst = max(event.compaction.sent.tokens / _least(event) for event in over)
    where = f"at {len(over)} of {len(events)} boundaries" if len(events) > 1 else "at its boundary"
    return f"{TOO_LARGE} {where}, up to {worst:.1f} times"


def _least(event: CompactionEvent) -> int:
    """The budget, or what has to stay where that is more."""
    return max(event.compaction.budget.target, least(event.compaction.before), 1)
