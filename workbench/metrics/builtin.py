"""The metrics that ship with the package, in the order in which tables show them."""

from __future__ import annotations

from functools import cache

from workbench.metrics import cost, retention, size, stateful
from workbench.metrics.metric import Metric
from workbench.registry import found

BUILTIN: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        retention.FutureReferenceRecall(),
        retention.FutureReferencePresence(),
        retention.FutureReferenceCoverage(),
        retention.IrrecoverableRecall(),
        retention.ReacquirableRecall(),
        retention.EntityRecall(),
        stateful.ConstraintRecall(),
        stateful.PendingRecall(),
        stateful.Resurrected(),
        stateful.FilesCorrect(),
        stateful.FilesStale(),
        stateful.LatestValue(),
        stateful.StaleValue(),
        stateful.Reacquisition(),
        retention.Fabrication(),
        stateful.Overclaimed(),
        size.TokensSent(),
        size.TokensSaved(),
        size.PeakContext(),
        size.MeanContext(),
        size.OverWindow(),
        size.Compactions(),
        size.PrefixReuse(),
        size.Violations(),
        size.TokensKept(),
        cost.Cost(),
        cost.NetSaving(),
        cost.CostSaved(),
        cost.CacheRead(),
        cost.CacheBreaks(),
        cost.BreakEven(),
    )
}


@cache
def installed() -> tuple[Metric, ...]:
    """The metrics of installed packages, by name; a class among them is made without arguments."""
    parts = found("metric", BUILTIN)
    return tuple(
        part() if isinstance(part, type) else part for name, part in sorted(parts.items()) if name not in BUILTIN
    )
