"""One replay: a session under a preset, as rows of the run's tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
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
from workbench.evaluation.experiment.spec import Scope
from workbench.evaluation.metrics.builtin import BUILTIN, EVEN_SO, installed
from workbench.evaluation.metrics.chain import chain as lifetimes
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.metric import MetricInput, Retained, Score
from workbench.evaluation.metrics.paging import paging
from workbench.evaluation.metrics.view import VIEW, culprits
from workbench.evaluation.metrics.work_exam.reader_error import RULES
from workbench.evaluation.replays.boundaries import at_boundaries, by_fill
from workbench.evaluation.replays.budgets import least
from workbench.evaluation.replays.matched import (
    RecordedContexts,
    SizedHistory,
    at_recorded_sizes,
    matched,
    recorded_contexts,
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
    "baseline_at_sizes", "costs", "paging", "reconciliation", "losses", "boundaries",
)  # fmt: skip
"""The tables that a replay fills."""
WORST = 30
"""Losses that a replay writes down for each mode and budget."""
LONGEST = 400
"""Characters of a line that a loss quotes at most."""


def replay_rows(
    ready: Prepared,
    preset: Preset,
    model: Model,
    spec: Scope,
    baseline: BaselineAtSizes | None = None,
) -> Tables:
    """Replay and score one session under one preset, and the baseline at the sizes that it used,
    where there is one.

    Raises:
        Unanswered: the model's provider gave no answer.
        ModelError: the model's answer is of no use and the preset has no fallback.
    """
    session = ready.session
    really = recorded_contexts(session, ready.sizing)
    made = replays(ready, preset, ready.reader(model), spec, really)
    prices = pricing(session, spec.price_model, spec.prices)
    tables = natural_rows(MetricInput(next(made), ready.index, prices=prices))
    for replay in made:
        for share in spec.shares if replay.mode == "matched" else (None,):
            _fill(tables, MetricInput(replay, ready.index, share))
        if baseline is not None and replay.mode == "matched":
            tables["baseline_at_sizes"] += baseline.rows(replay)
    at = at_boundaries(session, ready.sizing, ready.window, spec.boundaries) if spec.shares else ()
    exam_at = ready.exam_beside(at) if spec.shares else ()
    sized = (
        *sized_histories(session, ready.sizing, (*at, *exam_at), spec.shares),
        *recorded_histories(really),
    )
    fitting = [one for one in sized if one.fits]
    # the references that no agent could make are made beside the one that keeps all
    if preset.name == "none":
        for data in reference_inputs(ready, spec, fitting, really, frozenset(exam_at)):
            _fill(tables, data)
        tables["reconciliation"] += reconciliation(ready, prices)
        tables["boundaries"] += [_boundary(one) for one in sized]
    for row in chain.from_iterable(tables.values()):
        row["session"] = session.id
    return tables


def _boundary(one: SizedHistory) -> Row:
    """Where contexts are cut to a size, in tokens without overhead, and whether anything is
    scored there.
    """
    overhead = one.history.overhead
    return {
        "mode": "recorded" if one.share is None else "matched",
        "share": one.share,
        "at": one.at,
        "history": one.history.spoken,
        "must_stay": least(one.history) - overhead,
        "asked": one.asked - overhead,
        "target": one.target - overhead,
        "left_out": int(not one.fits),
    }


def replays(
    ready: Prepared,
    preset: Preset,
    model: Model,
    spec: Scope,
    really: Mapping[int, RecordedContexts] | None = None,
) -> Iterator[Replay]:
    """A session's replays under a preset, made one by one: natural, at equal size, and at its
    recorded compactions.
    """
    session, sizing, window = ready.session, ready.sizing, ready.window
    filled = by_fill(session, sizing, window)
    exam_after = ready.exam_after(filled)
    yield natural(
        session, preset, model, sizing, window=window, score_at=filled, exam_at=exam_after
    )
    if spec.shares:
        at = at_boundaries(session, sizing, window, spec.boundaries)
        exam_at = ready.exam_beside(at)
        yield matched(
            session,
            preset,
            model,
            sizing,
            window=window,
            at=at,
            shares=spec.shares,
            exam_at=exam_at,
        )
    really = recorded_contexts(session, sizing) if really is None else really
    if any(one.fits for one in recorded_histories(really)):
        yield at_recorded_sizes(session, preset, model, sizing, window=window, really=really)


def natural_rows(data: MetricInput, worst: int = WORST) -> Tables:
    """The rows of one natural replay, with so many of its losses."""
    tables: Tables = {name: [] for name in NAMES}
    charges = data.bill.charges if data.bill is not None else ()
    for step, charge in zip_longest(data.replay.steps, charges):
        paid = {"cache_read": charge.read, "usd": charge.usd} if charge is not None else {}
        own = {field.name: getattr(step, field.name) for field in fields(step)}
        tables["steps"].append({"strategy": data.replay.preset, **own, **paid})
    _fill(tables, data, worst)
    return tables


def _fill(tables: Tables, data: MetricInput, worst: int = WORST) -> None:
    place: Row = {"strategy": data.replay.preset, "mode": data.replay.mode, "share": data.share}
    events = [event for event in data.replay.events if event.share == data.share]
    found = {
        "compactions": _compactions(events),
        "retention": _retention(data),
        "survival": lifetimes(data),
        "scores": _scores(data),
        "costs": cost_rows(data),
        "paging": paging(data),
        "losses": [] if data.replay.preset in REFERENCES else _losses(data, worst),
    }
    for name, rows in found.items():
        tables[name] += [place | row for row in rows]


def _compactions(events: Iterable[CompactionEvent]) -> Iterable[Row]:
    for event in events:
        done = event.compaction
        dropped = {id for stage in done.stages if stage.used for id in stage.dropped}
        rewritten = {id for stage in done.stages if stage.used for id in stage.rewritten} - dropped
        yield {
            "number": event.number,
            "at": event.at,
            "reason": done.budget.reason,
            "target": done.budget.target,
            "tokens_before": done.before.tokens,
            "tokens_after": done.after.tokens,
            "tokens_sent": done.sent.tokens,
            "dropped": len(dropped),
            "rewritten": len(rewritten),
            "kept": len(done.before.messages) - len(dropped) - len(rewritten),
            "stages": " > ".join(stage.name for stage in done.stages if stage.used),
            **_asked(done.completions),
            "outcome": done.outcome,
            "why": done.why,
            "violations": len(done.violations),
        }


def _asked(completions: Sequence[Completion]) -> Row:
    """What a compaction asked for, what it got, and from whom."""
    costs = [completion.usd for completion in completions]
    return {
        "requests": len(completions),
        "input_tokens": sum(completion.input_tokens for completion in completions),
        "output_tokens": sum(completion.output_tokens for completion in completions),
        "usd": None if None in costs else sum(cost for cost in costs if cost is not None),
        "seconds": sum(completion.seconds for completion in completions),
        "fallbacks": sum(completion.fallback for completion in completions),
        "by_rule": sum(_writer(completion) in RULES for completion in completions),
        "writer": " + ".join(dict.fromkeys(map(_writer, completions))),
        "method": " + ".join(dict.fromkeys(filter(None, map(_method, completions)))),
        "left_out": sum(completion.left_out or 0 for completion in completions),
        "misreports": "\n".join(
            dict.fromkeys(filter(None, (completion.misreport for completion in completions)))
        ),
        "findings": "\n".join(
            dict.fromkeys(text for completion in completions for text in _findings(completion))
        ),
    }


def _writer(completion: Completion) -> str:
    """Who wrote the text that is used."""
    if completion.fallback and STANDS_IN not in completion.method:
        return "the strategy's stand-in"
    return completion.model


def _method(completion: Completion) -> str:
    """How a text came about, in words; empty where it is one plain answer to all."""
    left = completion.left_out or 0
    return ", ".join(
        filter(None, (completion.method, f"{left} messages left out of the prompt" if left else ""))
    )


def _findings(completion: Completion) -> tuple[str, ...]:
    """What is wrong with a text, and why another one replaces it."""
    return (completion.why,) if completion.fallback and completion.why else completion.findings


def _retention(data: MetricInput) -> Iterable[Row]:
    for one in data.retained:
        for group in one.retention.groups():
            yield {**group, "at": one.snapshot.at, "tokens": one.snapshot.context.tokens}


def _scores(data: MetricInput) -> Iterable[Row]:
    unlike = stays_larger(data.replay, data.share)
    for metric in (*BUILTIN.values(), *installed()):
        score = Score(None, unlike) if unlike and metric.name not in EVEN_SO else metric.score(data)
        yield {
            "metric": metric.name,
            "value": score.value,
            "unit": metric.unit,
            "better": metric.better,
            "n": score.n,
            "why": score.why,
        }


def _losses(data: MetricInput, most: int) -> list[Loss]:
    """The worst losses of a replay, `most` at most, each entity once: at the boundary where it is
    lost worst.

    Irrecoverable before re-acquirable, absent before merely unbound; what is needed soonest first.
    """
    worst: dict[tuple[str, str], Loss] = {}
    for loss in sorted(
        (loss for one in data.retained for loss in _losses_at(one, data)), key=_rank
    ):
        worst.setdefault((loss["kind"], loss["entity"]), loss)
    return list(worst.values())[:most]


def _rank(loss: Loss) -> tuple[Any, ...]:
    return -loss["weight"], loss["needed_at"] - loss["at"], loss["at"], loss["entity"]


def _losses_at(one: Retained, data: MetricInput) -> Iterator[Loss]:
    messages, mode, at = data.replay.session.messages, data.replay.mode, one.snapshot.at
    past = [
        version
        for version in data.versions
        if version.at == at or (mode == "natural" and version.at < at)
    ]
    blamed = culprits(one.retention, past, otherwise="recorded" if mode == "recorded" else VIEW)
    for need, there, stage in zip(
        one.demand.needs, one.retention.presence.tolist(), blamed, strict=True
    ):
        if not stage:
            continue
        yield {
            "at": at,
            "kind": need.entity.kind,
            "entity": need.entity.text[:LONGEST],
            "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
            "level": "unbound" if there else "absent",
            "said_by": messages[need.evidence].role,
            "said_at": need.said,
            "evidence": need.evidence_text[:LONGEST],
            "evidence_at": need.evidence,
            "needed_at": need.use,
            "use": need.use_text[:LONGEST],
            "stage": stage,
            # in (0, 1]: whether it can be had again counts more than whether its name is still
            # there
            "weight": (0.5 if need.reacquirable else 1.0) - (0.25 if there else 0.0),
        }
