"""How much information a context keeps, as shares in [0, 1].

The demand at a boundary and its evidence are defined in `workbench.evaluation.metrics.demand`. All
are means over the boundaries with at least `FEWEST` demanded entities; `n` is their number.
"""

from collections.abc import Iterable

from workbench.evaluation.metrics.code.reading import CodeReading
from workbench.evaluation.metrics.demand import Level
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.later_use import Part
from workbench.evaluation.metrics.metric import NO_BOUNDARY, MetricInput, Score, mean_score, metric
from workbench.evaluation.metrics.work_exam.reading import NO_STATEMENTS, NOT_HERE, WorkReading
from workbench.evaluation.replays.step import Snapshot

FEWEST = 5
"""Demanded entities that a boundary needs before a share of them says anything."""
WRITTEN = "the session has a written exam of the work, and `work` is its figure"


def _mean(data: MetricInput, level: Level) -> Score:
    """The mean over boundaries of the demand's mean at one level."""
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    means = []
    for place in data.retained:
        if len(place.demand) >= FEWEST:
            means.append(place.retention.mean(level))
    reason = f"fewer than {FEWEST} entities of the history are needed later at every boundary"
    return mean_score(means, reason)


@metric("share", "higher")
def work(data: MetricInput) -> Score:
    """The work: the predicted chance that a real model answers a question about how the work stands
    right.

    In [0, 1]; a mean over the questions of a written exam, then over the boundaries that have one.
    No model is asked: a fitted reader predicts the answers (docs/work-exam.md). Absent where
    nobody wrote an exam for the session.
    """
    reading = WorkReading.of(data.index, data.replay.session)
    if reading.why:
        return Score(None, reading.why)
    if not data.work_snapshots:
        return Score(None, NO_BOUNDARY)
    return _mean_chance(reading, data.work_snapshots, NOT_HERE)


def _mean_chance(reading: WorkReading, snapshots: Iterable[Snapshot], reason: str) -> Score:
    """The mean over the boundaries that have questions."""
    chances = []
    for snapshot in snapshots:
        messages = snapshot.context.messages
        chance = reading.chance(snapshot.at, messages)
        if chance is not None:
            chances.append(chance)
    return mean_score(chances, reason)


@metric("share", "higher")
def statements(data: MetricInput) -> Score:
    """What the recording itself says of the work, as a stand-in where nobody wrote an exam: like
    `work`, in [0, 1].

    The user's demands, the agent's reports, its lists of tasks and failed tests are the questions.
    It orders rules' texts and cuts; a model's summary in its own words gets too little
    (docs/reference/fitted-reader.md). Absent where a written exam is there.
    """
    session = data.replay.session
    if not WorkReading.of(data.index, session).why:
        return Score(None, WRITTEN)
    if not data.examined:
        return Score(None, NO_BOUNDARY)
    snapshots = [place.snapshot for place in data.examined]
    boundaries = tuple(snapshot.at for snapshot in snapshots)
    reading = WorkReading.of_statements(data.index, session, boundaries)
    return _mean_chance(reading, snapshots, NO_STATEMENTS)


@metric("share", "higher")
def exam_recall(data: MetricInput) -> Score:
    """Exam recall, `names` in reports: what the context answers of an exam about exact names that
    were needed later.

    By the lexical reader; 1 is everything, 0 is guessing, below it is worse. A name alone wins
    nothing, and a false statement counts against (docs/method.md). `n`: boundaries with at least
    `FEWEST` items, of at most `metric.PLACES` that are spread evenly over the replay.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    exams = Exams.of(data.index)
    scores = []
    for place in data.examined:
        exam = exams.at(place.snapshot.at)
        if len(exam.items) >= FEWEST:
            scores.append(exam.score(place.view))
    reason = f"fewer than {FEWEST} questions about what is needed later at every boundary"
    return mean_score(scores, reason)


def _later_use(data: MetricInput, part: Part, reason: str) -> Score:
    """The mean share of one part of what is used later, over the boundaries that have it."""
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    part_shares = []
    for shares in data.later_use:
        if part in shares:
            part_shares.append(shares[part])
    return mean_score(part_shares, reason)


@metric("share", "higher")
def code(data: MetricInput) -> Score:
    """Code: of the lines of the history that the agent then edits or quotes, how much the context
    has of them.

    In [0, 1], weighted by lines. A line counts in its place: next to one that it stood next to, or
    in words beside the name of its file (docs/method.md).
    Edits through a shell count as far as they show the old text. `n`: lines, at the boundaries of
    `exam_recall`.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    reading = CodeReading.of(data.index)
    line_count = 0
    held_count = 0.0
    for place in data.examined:
        snapshot = place.snapshot
        messages = snapshot.context.messages
        shares = reading.shares(snapshot.at, messages)
        line_count += len(shares)
        held_count += float(shares.sum())
    if line_count < FEWEST:
        reason = f"the agent edits or quotes fewer than {FEWEST} lines of code that the history has"
        return Score(None, reason)
    return Score(held_count / line_count, n=line_count)


@metric("share", "higher")
def edit_recall(data: MetricInput) -> Score:
    """Readiness to edit: of the lines of the history that the next edits replace, the share that
    the context has.

    In [0, 1]; whole lines, word for word. An edit in a form without the old text (a patch, a
    script) is not seen.
    """
    return _later_use(data, "edits", "no edit replaces lines of the history")


@metric("share", "higher")
def request_recall(data: MetricInput) -> Score:
    """Goal and pending request: of the phrases of the user's first and newest message, the share in
    the context.

    In [0, 1], by rarity. A phrase is two neighbouring words; the same request in other words counts
    as lost.
    """
    return _later_use(data, "request", "the user asked for nothing")


@metric("share", "higher")
def phrase_recall(data: MetricInput) -> Score:
    """Coverage of meaning: of the phrases of the history that later answers use, the share that the
    context has.

    In [0, 1], by rarity. A phrase is two neighbouring words; the same meaning in other words counts
    as lost.
    """
    return _later_use(data, "phrases", "no phrase of the history is used later")


@metric("share", "higher")
def recall_bound(data: MetricInput) -> Score:
    """Future-reference recall: the entities needed later that the context holds with words of their
    evidence.

    Level *bound*, in [0, 1]. Fails to see what is needed but never named again, and what a model
    could infer; a soup of names and common words wins it.
    """
    return _mean(data, "bound")


@metric("share", "higher")
def recall_presence(data: MetricInput) -> Score:
    """The entities needed later that the context holds at all. In [0, 1]. A bare list of
    entities wins it.
    """
    return _mean(data, "presence")


@metric("share", "higher")
def recall_coverage(data: MetricInput) -> Score:
    """How much of the evidence's other words the context has beside each entity needed later.

    In [0, 1], weighted by idf. Unfair to paraphrase.
    """
    return _mean(data, "coverage")
