"""The metrics that ship with the package, in the order in which tables show them, and those of
installed packages.
"""

from functools import cache

from workbench.base.registry import found
from workbench.evaluation.metrics.metric import Metric
from workbench.evaluation.metrics.scores.information import (
    code,
    edit_recall,
    exam_recall,
    phrase_recall,
    recall_bound,
    recall_coverage,
    recall_presence,
    request_recall,
    statements,
    work,
)
from workbench.evaluation.metrics.scores.mistakes import (
    fabrication,
    invented_requests,
    resurrected_work,
    value_stale,
)
from workbench.evaluation.metrics.scores.spending import (
    compactions,
    cost,
    cost_saved,
    mean_context,
    over_window,
    peak_context,
    prefix_reuse,
    tokens_kept,
    tokens_saved,
    tokens_sent,
    violations,
)

EVEN_SO = frozenset({"tokens_kept", "violations"})
"""Metrics that are right at any size."""
_IN_ORDER: tuple[Metric, ...] = (
    work,
    statements,
    exam_recall,
    code,
    edit_recall,
    request_recall,
    phrase_recall,
    recall_bound,
    recall_presence,
    recall_coverage,
    value_stale,
    fabrication,
    invented_requests,
    resurrected_work,
    tokens_sent,
    tokens_saved,
    peak_context,
    mean_context,
    over_window,
    compactions,
    prefix_reuse,
    violations,
    tokens_kept,
    cost,
    cost_saved,
)
BUILTIN: dict[str, Metric] = {metric.name: metric for metric in _IN_ORDER}
"""Every metric of the package, by name."""


@cache
def installed() -> tuple[Metric, ...]:
    """The metrics of installed packages, by name; a class among them is made without arguments."""
    metrics: list[Metric] = []
    for name, entry in sorted(found("metric", BUILTIN).items()):
        if name not in BUILTIN:
            metrics.append(entry() if isinstance(entry, type) else entry)
    return tuple(metrics)
