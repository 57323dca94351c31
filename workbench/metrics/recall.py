"""Metrics: how much information is kept.

The demand at a boundary and its evidence are defined in `workbench.metrics.demand`. All are means over the boundaries
with at least `FEWEST` demanded entities; `n` is their number.
"""

from __future__ import annotations

from math import ceil

from workbench.metrics.demand import Level
from workbench.metrics.exam.exams import Exams
from workbench.metrics.metric import MetricInput, Score, mean_score, metric

FEWEST = 5
"""Demanded entities that a boundary needs before a share of them says anything."""
PLACES = 8
"""Boundaries of a replay at which exams are held, at most: making one takes as long as a compaction."""
NO_BOUNDARY = "no boundary to score: the history is too short or never fills the window, or what must stay is too large"


def _mean(data: MetricInput, level: Level, recoverable: bool | None = None) -> Score:
    """The mean over boundaries of the demand's mean at one level, of all entities or of those of one fate."""
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    found = [one.retention for one in data.retained if one.retention.count(recoverable) >= FEWEST]
    few = f"fewer than {FEWEST} entities of the history are needed later at every boundary"
    return mean_score([one.mean(level, recoverable) for one in found], few)


@metric("share", "higher")
def exam_recall(data: MetricInput) -> Score:
    """Exam recall, the headline: what the context answers of an exam about what was needed later.

    By the lexical reader; 1 is everything, 0 is guessing, below it is worse. A name alone wins nothing, and a false
    statement counts against (docs/method.md). `n`: boundaries with at least `FEWEST` items, of at most `PLACES` that
    are spread evenly over the replay.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    exams, step = Exams.of(data.index), max(1, ceil(len(data.retained) / PLACES))
    asked = [(exams.at(one.snapshot.at), one.view) for one in data.retained[::step]]
    few = f"fewer than {FEWEST} questions about what is needed later at every boundary"
    return mean_score([exam.score(seen) for exam, seen in asked if len(exam.items) >= FEWEST], few)


@metric("share", "higher")
def recall_bound(data: MetricInput) -> Score:
    """Future-reference recall: the entities needed later that the context holds with words of their evidence.

    Level *bound*, in [0, 1]. Fails to see what is needed but never named again, and what a model could infer; a soup of
    names and common words wins it.
    """
    return _mean(data, "bound")


@metric("share", "higher")
def recall_presence(data: MetricInput) -> Score:
    """The entities needed later that the context holds at all. In [0, 1]. A bare list of entities wins it."""
    return _mean(data, "presence")


@metric("share", "higher")
def recall_coverage(data: MetricInput) -> Score:
    """How much of the evidence's other words the context has beside each entity needed later.

    In [0, 1], weighted by idf. Unfair to paraphrase.
    """
    return _mean(data, "coverage")


@metric("share", "higher")
def recall_irrecoverable(data: MetricInput) -> Score:
    """`recall_bound` of what only the history holds: said by the user, decided, or from what cannot be redone."""
    return _mean(data, "bound", recoverable=False)


@metric("share", "higher")
def recall_reacquirable(data: MetricInput) -> Score:
    """`recall_bound` of what only the results of calls hold that could be made again."""
    return _mean(data, "bound", recoverable=True)


@metric("share", "higher")
def entity_recall(data: MetricInput) -> Score:
    """All entities of the history that the context still holds, needed or not. In [0, 1]."""
    counts = [(sum(kept for kept, _ in kinds.values()), sum(n for _, n in kinds.values())) for kinds in data.recalled]
    return mean_score([kept / whole for kept, whole in counts if whole], "no boundary to score")
