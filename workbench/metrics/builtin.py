"""The metrics that ship with the package, in the order in which tables show them."""

from __future__ import annotations

from functools import cache

from workbench.metrics import cost, recall, size, state_metrics
from workbench.metrics.metric import FunctionMetric, Metric
from workbench.registry import found

BUILTIN: dict[str, Metric] = {
    part.name: part
    for module in (recall, state_metrics, size, cost)
    for part in vars(module).values()
    if isinstance(part, FunctionMetric)
}
"""Every metric of these modules, as they define them."""


@cache
def installed() -> tuple[Metric, ...]:
    """The metrics of installed packages, by name; a class among them is made without arguments."""
    parts = sorted(found("metric", BUILTIN).items())
    return tuple(part() if isinstance(part, type) else part for name, part in parts if name not in BUILTIN)
