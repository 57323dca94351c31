"""One replay: a session under a preset, as rows of the run's tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import chain, zip_longest
from typing import Any, TypeAlias

from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.model import Completion, Model
from workbench.engine.models.summary_quality import STANDS_IN
from workbench.evaluation.experiment.costs import costs as cost_rows
from workbench.evaluation.experiment.costs import reconciliation
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.references import BaselineAtSizes, reference_inputs
from workbench.evaluation.experiment.spec import RunSpec, Scope
from workbench.evaluation.metrics.apparent_needs import loss_kind
from workbench.evaluation.metrics.builtin import BUILTIN, EVEN_SO, installed
from workbench.evaluation.metrics.chain import chain as lifetimes
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.metrics.exam.rule_verdicts import rule_verdicts
from workbench.evaluation.metrics.metric import Metric, MetricInput, Retained, Score
from workbench.evaluation.metrics.paging import paging
from workbench.evaluation.metrics.sources import WayBack
from workbench.evaluation.metrics.still_told import is_still_told
from workbench.evaluation.metrics.view import VIEW, culprits, view
from workbench.evaluation.metrics.work_exam.reader_error import RULES
from workbench.evaluation.replays.boundaries import at_boundaries, by_fill
from workbench.evaluation.replays.budgets import least
from workbench.evaluation.replays.matched import (
    SizedHistory,
    at_recorded_sizes,
    matched,
    recorded_histories,
    sized_histories,
    stays_larger,
)
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.step import CompactionEvent, Replay

Value: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Value]
Tables: TypeAlias = dict[str, list[Row]]
Loss: TypeAlias = dict[str, Any]

NAMES = (
    "steps", "compactions", "retention", "survival", "scores",
    "baseline_at_sizes", "costs", "paging", "reconciliation", "losses", "rules", "boundaries",
)  # fmt: skip
"""The tables that a replay fills."""
WORST = 30
"""Losses that a replay writes down for each mode and budget."""
LOST: Mapping[WayBack, float] = {"user": 1.0, "agent": 0.9, "run": 0.8, "call": 0.5}
"""The weight of a loss, by what it takes to get it back."""
NAMED = 0.25
"""How much less it weighs where the context still names it."""
LONGEST = 400
"""Characters of a line that a loss quotes at most."""


def replay_rows(
    prepared: Prepared,
    preset: Preset,
    model: Model,
    spec: RunSpec,
    baseline: BaselineAtSizes | None = None,
) -> Tables:
    """Replay and score one session under one preset, and the baseline at the sizes that it used,
    where there is one.

    Raises:
        Unanswered: the model's provider gave no answer.
        ModelError: the model's answer is of no use and the preset has no fallback.
    """
    session = prepared.session
    replays = replays_of(prepared, preset, prepared.reader(model), spec)
    prices = pricing(session, spec.price_model, spec.prices)
    metrics = spec.metrics
    data = MetricInput(next(replays), prepared.index, prices=prices)
    tables = natural_rows(data, own_metrics=metrics)
    for replay in replays:
        if replay.mode != "matched":
            _fill(tables, MetricInput(replay, prepared.index), own_metrics=metrics)
            continue
        for share in spec.shares:
            _fill(tables, MetricInput(replay, prepared.index, share), own_metrics=metrics)
        if baseline is not None:
            tables["baseline_at_sizes"] += baseline.rows(replay)
    boundaries: tuple[int, ...] = ()
    exam_at: tuple[int, ...] = ()
    if spec.shares:
        boundaries = at_boundaries(session, prepared.sizing, prepared.window, spec.boundaries)
        exam_at = prepared.exam_beside(boundaries)
    sized = (
        *sized_histories(session, prepared.sizing, (*boundaries, *exam_at), spec.shares),
        *recorded_histories(prepared.recorded),
    )
    fitting = [sized_history for sized_history in sized if sized_history.fits]
    # the references that no agent could make are made beside the one that keeps all
    if preset.name == "none":
        for data in reference_inputs(prepared, spec, fitting, frozenset(exam_at)):
            _fill(tables, data, own_metrics=metrics)
        tables["reconciliation"] += reconciliation(prepared, prices)
        tables["boundaries"] += [_boundary(sized_history) for sized_history in sized]
    for row in chain.from_iterable(tables.values()):
        row["session"] = session.id
    return tables


def _boundary(sized_history: SizedHistory) -> Row:
    """Where contexts are cut to a size, in tokens without overhead, and whether anything is
    scored there.
    """
    overhead = sized_history.history.overhead
    return {
        "mode": "recorded" if sized_history.share is None else "matched",
        "share": sized_history.share,
        "at": sized_history.at,
        "history": sized_history.history.spoken,
        "must_stay": least(sized_history.history) - overhead,
        "asked": sized_history.asked - overhead,
        "target": sized_history.target - overhead,
        "left_out": int(not sized_history.fits),
    }


def replays_of(prepared: Prepared, preset: Preset, model: Model, spec: Scope) -> Iterator[Replay]:
    """A session's replays under a preset, made one by one: natural, at equal size, and at its
    recorded compactions.
    """
    session, sizing, window = prepared.session, prepared.sizing, prepared.window
    filled = by_fill(session, sizing, window)
    exam_after = prepared.exam_after(filled)
    yield natural(
        session, preset, model, sizing, window=window, boundaries=filled, exam_at=exam_after
    )
    if spec.shares:
        boundaries = at_boundaries(session, sizing, window, spec.boundaries)
        exam_at = prepared.exam_beside(boundaries)
        yield matched(
            session,
            preset,
            model,
            sizing,
            window=window,
            boundaries=boundaries,
            shares=spec.shares,
            exam_at=exam_at,
        )
    if any(recorded_history.fits for recorded_history in recorded_histories(prepared.recorded)):
        yield at_recorded_sizes(
            session, preset, model, sizing, window=window, recorded=prepared.recorded
        )


def natural_rows(
    data: MetricInput, worst: int = WORST, own_metrics: Sequence[Metric] = ()
) -> Tables:
    """The rows of one natural replay, with so many of its losses; `own_metrics` are measured beside
    those that are built in or installed.
    """
    tables: Tables = {name: [] for name in NAMES}
    charges = data.bill.charges if data.bill is not None else ()
    for step, charge in zip_longest(data.replay.steps, charges):
        paid = {"cache_read": charge.read, "usd": charge.usd} if charge is not None else {}
        step_fields = {field.name: getattr(step, field.name) for field in fields(step)}
        tables["steps"].append({"strategy": data.replay.preset, **step_fields, **paid})
    _fill(tables, data, worst, own_metrics)
    return tables


def _fill(
    tables: Tables, data: MetricInput, worst: int = WORST, own_metrics: Sequence[Metric] = ()
) -> None:
    place: Row = {"strategy": data.replay.preset, "mode": data.replay.mode, "share": data.share}
    events = [event for event in data.replay.events if event.share == data.share]
    rows_by_table = {
        "compactions": _compactions(events),
        "retention": _retention(data),
        "survival": lifetimes(data),
        "scores": _scores(data, own_metrics),
        "costs": cost_rows(data),
        "paging": paging(data),
        "losses": [] if data.replay.preset in REFERENCES else _losses(data, worst),
        "rules": [] if data.replay.preset in REFERENCES else rule_rows(data.replay),
    }
    for name, rows in rows_by_table.items():
        tables[name] += [place | row for row in rows]


def _compactions(events: Iterable[CompactionEvent]) -> Iterable[Row]:
    for event in events:
        compaction = event.compaction
        stages = [stage for stage in compaction.stages if stage.used]
        dropped = set[str]().union(*(stage.dropped for stage in stages))
        rewritten = set[str]().union(*(stage.rewritten for stage in stages)) - dropped
        yield {
            "number": event.number,
            "at": event.at,
            "reason": compaction.budget.reason,
            "target": compaction.budget.target,
            "tokens_before": compaction.before.tokens,
            "tokens_after": compaction.after.tokens,
            "tokens_sent": compaction.sent.tokens,
            "dropped": len(dropped),
            "rewritten": len(rewritten),
            "kept": len(compaction.before.messages) - len(dropped) - len(rewritten),
            "stages": " > ".join(stage.name for stage in stages),
            **_asked(compaction.completions),
            "outcome": compaction.outcome,
            "why": compaction.why,
            "violations": len(compaction.violations),
        }


def _asked(completions: Sequence[Completion]) -> Row:
    """What a compaction asked for, what it got, and from whom."""
    costs = [completion.usd for completion in completions]
    known_costs = [usd for usd in costs if usd is not None]
    misreports = [completion.misreport for completion in completions if completion.misreport]
    findings = [text for completion in completions for text in _findings(completion)]
    return {
        "requests": len(completions),
        "input_tokens": sum(completion.input_tokens for completion in completions),
        "output_tokens": sum(completion.output_tokens for completion in completions),
        "usd": sum(known_costs) if len(known_costs) == len(costs) else None,
        "seconds": sum(completion.seconds for completion in completions),
        "fallbacks": sum(completion.fallback for completion in completions),
        "by_rule": sum(_writer(completion) in RULES for completion in completions),
        "writer": _each_once(" + ", map(_writer, completions)),
        "method": _each_once(" + ", filter(None, map(_method, completions))),
        "left_out": sum(completion.left_out or 0 for completion in completions),
        "misreports": _each_once("\n", misreports),
        "findings": _each_once("\n", findings),
    }


def _each_once(separator: str, texts: Iterable[str]) -> str:
    """Texts in their order, each of them once."""
    return separator.join(dict.fromkeys(texts))


def _writer(completion: Completion) -> str:
    """Who wrote the text that is used."""
    if completion.fallback and STANDS_IN not in completion.method:
        return "the strategy's stand-in"
    return completion.model


def _method(completion: Completion) -> str:
    """How a text came about, in words; empty where it is one plain answer to all."""
    parts = []
    if completion.method:
        parts.append(completion.method)
    if completion.left_out:
        parts.append(f"{completion.left_out} messages left out of the prompt")
    return ", ".join(parts)


def _findings(completion: Completion) -> tuple[str, ...]:
    """What is wrong with a text, and why another one replaces it."""
    if completion.fallback and completion.why:
        return (completion.why,)
    return completion.findings


def rule_rows(replay: Replay) -> Iterator[Row]:
    """What became of each rule of the user at each compaction of a replay, but for those at sizes
    that somebody else chose.
    """
    if replay.mode == "matched":
        return
    messages = replay.session.messages
    for event in replay.events:
        context = view(replay.session, event.compaction.after)
        for verdict in rule_verdicts(messages, event.at, context):
            yield {"number": event.number, "at": event.at, **asdict(verdict)}


def _retention(data: MetricInput) -> Iterable[Row]:
    for retained in data.retained:
        for group in retained.retention.groups():
            yield {**group, "at": retained.snapshot.at, "tokens": retained.snapshot.context.tokens}


def _scores(data: MetricInput, own_metrics: Sequence[Metric]) -> Iterable[Row]:
    why_larger = stays_larger(data.replay, data.share)
    for metric in (*BUILTIN.values(), *installed(), *own_metrics):
        is_left_out = bool(why_larger) and metric.name not in EVEN_SO
        score = Score(None, why_larger) if is_left_out else metric.score(data)
        yield {
            "metric": metric.name,
            "value": score.value,
            "unit": metric.unit,
            "better": metric.better,
            "n": score.n,
            "why": score.why,
        }


def _losses(data: MetricInput, loss_limit: int) -> list[Loss]:
    """The worst losses of a replay, so many at most, each thing once: at the boundary where it
    is lost worst.
    """
    worst: dict[tuple[str, str], Loss] = {}
    for loss in worst_losses(data):
        if len(worst) == loss_limit:
            break
        worst.setdefault((loss["kind"], loss["entity"]), loss)
    return list(worst.values())


def worst_losses(data: MetricInput) -> Iterator[Loss]:
    """The losses of a replay at each of its boundaries, worst first; what only looks like a need,
    and what another line of the context still tells, is left out.

    What costs most to get back comes first; of equal ones what is needed soonest.
    """
    candidates: list[tuple[Loss, Need]] = []
    contexts: dict[int, Retained] = {}
    for retained in data.retained:
        candidates += _losses_at(retained, data)
        contexts[retained.snapshot.at] = retained
    for loss, need in sorted(candidates, key=_rank):
        if data.index.apparent_needs.is_apparent(need):
            continue
        if loss["level"] == "unbound" and _is_still_told(need, contexts[loss["at"]]):
            continue
        yield loss


def _is_still_told(need: Need, retained: Retained) -> bool:
    context = retained.view
    lines = retained.demand.lines_that_name(need, context.kept, context.texts)
    return is_still_told(need, lines)


def _rank(candidate: tuple[Loss, Need]) -> tuple[Any, ...]:
    loss, _ = candidate
    needed_after = loss["needed_at"] - loss["at"]
    tokens = loss["tokens_back"] or 0
    return -loss["weight"], -tokens, needed_after, loss["at"], loss["entity"]


def _losses_at(retained: Retained, data: MetricInput) -> Iterator[tuple[Loss, Need]]:
    """The needed things that a context lost, each with the need."""
    messages, mode, boundary = data.replay.session.messages, data.replay.mode, retained.snapshot.at
    past = [
        version
        for version in data.versions
        if version.at == boundary or (mode == "natural" and version.at < boundary)
    ]
    blamed = culprits(
        retained.retention, past, otherwise="recorded" if mode == "recorded" else VIEW
    )
    is_named = retained.retention.presence.tolist()
    for need, named, stage in zip(retained.demand.needs, is_named, blamed, strict=True):
        if not stage:
            continue
        loss: Loss = {
            "at": boundary,
            "kind": loss_kind(need),
            "entity": need.entity.text[:LONGEST],
            "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
            "way_back": need.way_back,
            "tokens_back": _tokens_back(need, data.replay.sizing.sizes),
            "level": "unbound" if named else "absent",
            "said_by": messages[need.evidence].role,
            "said_at": need.said,
            "evidence": need.evidence_text[:LONGEST],
            "evidence_at": need.evidence,
            "needed_at": need.use,
            "use": need.use_text[:LONGEST],
            "stage": stage,
            "weight": LOST[need.way_back] - (NAMED if named else 0.0),
        }
        yield loss, need


def _tokens_back(need: Need, sizes: Sequence[int]) -> int | None:
    """The tokens that bring a thing back: of the smallest result or file that would show it, or of
    the run that has to be made again; None where no call does.
    """
    if need.way_back == "call":
        return min((sizes[source] for source in need.sources), default=None)
    if need.way_back == "run":
        return sizes[need.evidence]
    return None
