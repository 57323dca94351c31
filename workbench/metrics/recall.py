"""Metrics: how much information is kept.

The demand at a boundary and its evidence are defined in `workbench.metrics.demand`. All are means over the boundaries
with at least `FEWEST` demanded entities; `n` is their number.
"""

from __future__ import annotations

from workbench.metrics.demand import Level
from workbench.metrics.exam.exams import Exams
from workbench.metrics.exam.later_use import Part
from workbench.metrics.metric import MetricInput, Score, mean_score, metric

FEWEST = 5
"""Demanded entities that a boundary needs before a share of them says anything."""
NO_BOUNDARY = "no boundary to score: the history is too short or never fills the window, or what must stay is too large"


def _mean(data: MetricInput, level: Level) -> Score:
    """The mean over boundaries of the demand's mean at one level."""
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    found = [one.retention for one in data.retained if len(one.demand) >= FEWEST]
    few = f"fewer than {FEWEST} entities of the history are needed later at every boundary"
    return mean_score([one.mean(level) for one in found], few)


@metric("share", "higher")
def exam_recall(data: MetricInput) -> Score:
    """Exam recall, the headline: what the context answers of an exam about what was needed later.

    By the lexical reader; 1 is everything, 0 is guessing, below it is worse. A name alone wins nothing, and a false
    statement counts against (docs/method.md). `n`: boundaries with at least `FEWEST` items, of at most
    `metric.PLACES` that are spread evenly over the replay.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    exams = Exams.of(data.index)
    asked = [(exams.at(one.snapshot.at), one.view) for one in data.examined]
    few = f"fewer than {FEWEST} questions about what is needed later at every boundary"
    return mean_score([exam.score(seen) for exam, seen in asked if len(exam.items) >= FEWEST], few)


def _later_use(data: MetricInput, part: Part, why: str) -> Score:
    found = [shares[part] for shares in data.later_use if part in shares]
    return mean_score(found, why if data.snapshots else NO_BOUNDARY)


@metric("share", "higher")
def edit_recall(data: MetricInput) -> Score:
    """Readiness to edit: of the lines of the history that the next edits replace, the share that the context has.

    In [0, 1]; whole lines, word for word. An edit in a form without the old text (a patch, a script) is not seen.
    """
    return _later_use(data, "edits", "no edit replaces lines of the history")


@metric("share", "higher")
def request_recall(data: MetricInput) -> Score:
    """Goal and pending request: of the phrases of the user's first and newest message, the share in the context.

    In [0, 1], by rarity. A phrase is two neighbouring words; the same request in other words counts as lost.
    """
    return _later_use(data, "request", "the user asked for nothing")


@metric("share", "higher")
def phrase_recall(data: MetricInput) -> Score:
    """Coverage of meaning: of the phrases of the history that later answers use, the share that the context has.

    In [0, 1], by rarity. A phrase is two neighbouring words; the same meaning in other words counts as lost.
    """
    return _later_use(data, "phrases", "no phrase of the history is used later")


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
