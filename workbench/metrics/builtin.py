"""The metrics that ship with the package, in the order in which tables show them."""

from __future__ import annotations

from functools import cache

from workbench.metrics import cost, recall, size, state_metrics
from workbench.metrics.metric import Metric
from workbench.registry import found

BUILTIN: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        recall.recall,
        recall.recall_presence,
        recall.recall_coverage,
        recall.recall_irrecoverable,
        recall.recall_reacquirable,
        recall.entity_recall,
        state_metrics.constraint_recall,
        state_metrics.pending_recall,
        state_metrics.work_resurrected,
        state_metrics.files_correct,
        state_metrics.files_stale,
        state_metrics.value_latest,
        state_metrics.value_stale,
        state_metrics.reacquisition,
        recall.fabrication,
        state_metrics.overclaim,
        size.tokens_sent,
        size.tokens_saved,
        size.peak_context,
        size.mean_context,
        size.over_window,
        size.compactions,
        size.prefix_reuse,
        size.violations,
        size.tokens_kept,
        cost.cost,
        cost.net_saving,
        cost.cost_saved,
        cost.cache_read,
        cost.cache_breaks,
        cost.break_even,
    )
}


@cache
def installed() -> tuple[Metric, ...]:
    """The metrics of installed packages, by name; a class among them is made without arguments."""
    parts = found("metric", BUILTIN)
    return tuple(
        part() if isinstance(part, type) else part for name, part in sorted(parts.items()) if name not in BUILTIN
    )
