"""The score of a metric that somebody else wrote."""

from dataclasses import replace
from math import isfinite
from numbers import Real

from workbench.base.errors import error_text
from workbench.evaluation.metrics.metric import Metric, MetricInput, Score

MOST_SAID = 300
"""Characters of what is told of a failure."""
FAILED = "it failed:"
"""What the reason of a metric that raised an error begins with."""


def guarded_score(metric: Metric, data: MetricInput) -> Score:
    """A metric's score. What is wrong with the metric is why it has none, and takes no other figure
    away.
    """
    try:
        score = metric.score(data)
    except MemoryError:  # the work may be done again with more of it
        raise
    except Exception as error:  # noqa: BLE001 - somebody else's metric may fail in any way
        reason = f"{FAILED} {error_text(error)}"
        return Score(None, reason[:MOST_SAID])
    if not isinstance(score, Score):
        return Score(None, f"it returned {score!r:.80}; a wb.Score would be accepted")
    value = score.value
    if value is None:
        return score
    if not isinstance(value, Real) or not isfinite(value):
        return Score(None, f"its value is {value!r:.80}; a finite number would be accepted")
    return replace(score, value=float(value))
