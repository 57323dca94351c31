"""The metrics that ship with the package, in the order in which tables show them.

How much information is kept: the demand at a boundary and its evidence are defined in
`workbench.evaluation.metrics.demand`. All are means over the boundaries with at least `FEWEST`
demanded entities; `n` is their number. What a context says that is wrong: shares in [0, 1] over the
whole session; the counts of its boundaries are added up before they are divided, so that a boundary
with few things weighs little, and `n` is the number of things, each once a boundary. How much is
sent and what it costs: from the steps, the compactions and the bill of a replay; `n` is the number
of requests.
"""

from functools import cache

from workbench.base.ragged import kept_mask
from workbench.base.registry import found
from workbench.engine.transcript.message import Summary, said_texts
from workbench.evaluation.metrics.code.reading import CodeReading
from workbench.evaluation.metrics.demand import Level
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.later_use import Part
from workbench.evaluation.metrics.metric import (
    FunctionMetric,
    Metric,
    MetricInput,
    Score,
    mean_score,
    metric,
)
from workbench.evaluation.metrics.work_exam.reading import NO_STATEMENTS, NOT_HERE, WorkReading

FEWEST = 5
"""Demanded entities that a boundary needs before a share of them says anything."""
NO_BOUNDARY = (
    "no boundary to score: the history is too short or never fills the window, or what must stay is"
    " too large"
)
EVEN_SO = frozenset({"tokens_kept", "violations"})
"""Metrics that are right at any size."""
WRITTEN = "the session has a written exam of the work, and `work` is its figure"
NO_STEPS = Score(None, "only a natural replay has requests")


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
    """The work: the foretold chance that a real model answers a question about how the work stands
    right.

    In [0, 1]; a mean over the questions of a written exam, then over the boundaries that have one.
    No model is asked: a fitted reader foretells the answers (docs/work-exam.md). Absent where
    nobody wrote an exam for the session.
    """
    reading = WorkReading.of(data.index, data.replay.session)
    if reading.why:
        return Score(None, reading.why)
    if not data.work_snapshots:
        return Score(None, NO_BOUNDARY)
    chances = []
    for snapshot in data.work_snapshots:
        chance = reading.chance(snapshot.at, snapshot.context.messages)
        if chance is not None:
            chances.append(chance)
    return mean_score(chances, NOT_HERE)


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
    boundaries = tuple(place.snapshot.at for place in data.examined)
    reading = WorkReading.of_statements(data.index, session, boundaries)
    chances = []
    for place in data.examined:
        chance = reading.chance(place.snapshot.at, place.snapshot.context.messages)
        if chance is not None:
            chances.append(chance)
    return mean_score(chances, NO_STATEMENTS)


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
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    return mean_score([shares[part] for shares in data.later_use if part in shares], reason)


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
        shares = reading.shares(place.snapshot.at, place.snapshot.context.messages)
        line_count += len(shares)
        held_count += float(shares.sum())
    if line_count < FEWEST:
        return Score(
            None,
            f"the agent edits or quotes fewer than {FEWEST} lines of code that the history has",
        )
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


@metric("share", "lower")
def value_stale(data: MetricInput) -> Score:
    """The replaced values of which the context gives the old one alone.

    Denominator: the values that the history replaced. A change whose words do not say so is not
    seen.
    """
    if not data.snapshots:
        return Score(None, NO_BOUNDARY)
    stale_count = 0
    value_count = 0
    for place in data.retained:
        context = place.view
        mask = kept_mask(context.kept, data.index.inverted_index.n)
        stale, values = data.index.changes.stale(place.snapshot.at, mask, context.texts)
        stale_count += stale
        value_count += values
    return _share(stale_count, value_count, "no value was replaced")


def _share(part: int, total: int, reason: str) -> Score:
    """A part as a share of all; `reason` says why there is nothing."""
    if not total:
        return Score(None, reason)
    return Score(part / total, n=total)


@metric("share", "lower")
def fabrication(data: MetricInput) -> Score:
    """Entities of summaries that occur nowhere in the history before them. In [0, 1]; `n` is the
    number of entities.

    The marks that stages leave (a reference to the archive, how much was cut) are no fabrication:
    the writer saw them.
    """
    false_count = 0
    entity_count = 0
    marks = _marks(data)
    for place in data.retained:
        if not place.view.generated:
            continue
        boundary = place.snapshot.at
        seen_marks = "\n".join(text for mark_boundary, text in marks if mark_boundary <= boundary)
        entities, named = data.index.support.fabricated(boundary, place.view.generated)
        false_count += sum(entity.text not in seen_marks for entity in entities)
        entity_count += named
    return _share(false_count, entity_count, "nothing was written anew")


def _marks(data: MetricInput) -> list[tuple[int, str]]:
    """What stages wrote beside summaries, each with the boundary of its compaction."""
    marks: list[tuple[int, str]] = []
    for event in data.replay.events:
        for stage in event.compaction.stages:
            for message in stage.wrote:
                if not isinstance(message, Summary):
                    marks += [(event.at, text) for text in said_texts(message)]
    return marks


@metric("share", "lower")
def invented_requests(data: MetricInput) -> Score:
    """The requests in summaries and registers that the user never made. In [0, 1]; `n` is the
    number of requests.

    Lines under a heading such as "Goal", or that say what the user asked for. Unfair to one in
    wholly other words.
    """
    invented_count = 0
    request_count = 0
    for place in data.retained:
        texts = place.view.written
        if not texts:
            continue
        invented, requests = data.index.support.invented_requests(place.snapshot.at, texts)
        invented_count += len(invented)
        request_count += requests
    reason = "nothing was written anew that says what the user asked for"
    return _share(invented_count, request_count, reason)


@metric("share", "lower")
def resurrected_work(data: MetricInput) -> Score:
    """Of the work that is done or that the user withdrew, the share that the context gives as open.

    In [0, 1]; `n` is the number of pieces. Work whose end is never mentioned is not seen.
    """
    resurrected_count = 0
    closed_count = 0
    for place in data.retained:
        context = place.view
        mask = kept_mask(context.kept, data.index.inverted_index.n)
        resurrected, closed = data.index.work.resurrected(place.snapshot.at, mask, context.written)
        resurrected_count += int(resurrected.sum())
        closed_count += int(closed.sum())
    return _share(resurrected_count, closed_count, "no work was done or withdrawn")


@metric("tokens", "lower")
def tokens_sent(data: MetricInput) -> Score:
    """Prompt tokens of all requests together, in the provider's tokens where the session is
    calibrated.
    """
    sent = [step.tokens_sent for step in data.replay.steps]
    if not sent:
        return NO_STEPS
    return Score(float(sum(sent)), n=len(sent))


@metric("share", "higher")
def tokens_saved(data: MetricInput) -> Score:
    """The share of the uncompacted prompt tokens that were not sent; summary calls count as sent.

    1 - (sent + summary calls) / recorded, in (-inf, 1): below 0 where the summary calls cost more
    than they saved.
    """
    steps = data.replay.steps
    if not steps:
        return NO_STEPS
    recorded = sum(step.tokens_recorded for step in steps)
    if not recorded:
        return Score(None, "the session sends no tokens")
    sent = sum(step.tokens_sent for step in steps)
    for compaction in data.replay.compactions:
        for completion in compaction.completions:
            sent += completion.input_tokens + completion.output_tokens
    return Score(1 - sent / recorded, n=len(steps))


@metric("tokens", "lower")
def peak_context(data: MetricInput) -> Score:
    """The largest request, in tokens with overhead."""
    sent = [step.tokens_sent for step in data.replay.steps]
    if not sent:
        return NO_STEPS
    return Score(float(max(sent)), n=len(sent))


@metric("tokens", "lower")
def mean_context(data: MetricInput) -> Score:
    """The mean request, in tokens with overhead."""
    return mean_score([step.tokens_sent for step in data.replay.steps], NO_STEPS.why)


@metric("share", "lower")
def over_window(data: MetricInput) -> Score:
    """The share of the requests that are larger than the window: no provider would have taken them.
    In [0, 1].

    Where it is above 0 the other figures of that replay are those of contexts that could not have
    been sent.
    """
    is_over = [step.tokens_sent > data.replay.window for step in data.replay.steps]
    return mean_score(is_over, NO_STEPS.why)


@metric("count", "lower")
def compactions(data: MetricInput) -> Score:
    """How often the preset compacted: compactions that changed something."""
    if not data.replay.steps:
        return NO_STEPS
    return Score(float(len(data.replay.events)))


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
    """Invariants that a stage would have broken; its result was not used. `n` is the number of
    compactions.
    """
    events = [event for event in data.replay.events if event.share == data.share]
    violation_count = sum(len(event.compaction.violations) for event in events)
    return Score(float(violation_count), n=len(events))


@metric("share", "lower")
def tokens_kept(data: MetricInput) -> Score:
    """The size of the compacted messages as a share of the history's, without overhead.

    In [0, 1]; the mean over the boundaries, `n` is their number.
    """
    sizes = data.replay.sizing.sizes
    ratios = []
    for snapshot in data.snapshots:
        history_size = sum(sizes[: snapshot.at])
        if history_size:
            ratios.append(snapshot.context.spoken / history_size)
    return mean_score(ratios, "no boundary to score")


@metric("usd", "lower")
def cost(data: MetricInput) -> Score:
    """All requests and summaries of a replay at their provider's cache rules and prices. In USD, >=
    0.

    Prompts, recorded answers and summary calls, summed over the session; not what would have to be
    fetched again. The answers are the recorded ones, whatever the context; prices are those of the
    table's version; a summary by a writer without a price is priced as if the session's model had
    written it, without its cache.
    """
    if data.bill is None:
        return _no_bill(data)
    return Score(data.bill.usd, n=len(data.bill.charges))


@metric("share", "higher")
def cost_saved(data: MetricInput) -> Score:
    """The net saving as a share of what no compaction would have cost. In (-inf, 1]; below 0 it
    costs more.

    Comparable between sessions of different length and models, which the dollars are not.
    """
    if data.bill is None:
        return _no_bill(data)
    if not data.bill.usd_plain:
        return Score(None, "at these prices the session costs nothing")
    return Score(data.bill.net_saving / data.bill.usd_plain, n=len(data.bill.charges))


def _no_bill(data: MetricInput) -> Score:
    if not data.replay.steps:
        return NO_STEPS
    return Score(None, data.priced.why)


BUILTIN: dict[str, Metric] = {
    entry.name: entry for entry in tuple(globals().values()) if isinstance(entry, FunctionMetric)
}
"""Every metric of this file, in its order."""


@cache
def installed() -> tuple[Metric, ...]:
    """The metrics of installed packages, by name; a class among them is made without arguments."""
    metrics: list[Metric] = []
    for name, entry in sorted(found("metric", BUILTIN).items()):
        if name not in BUILTIN:
            metrics.append(entry() if isinstance(entry, type) else entry)
    return tuple(metrics)
