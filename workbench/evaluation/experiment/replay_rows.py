"""One replay: a session under a preset, as rows of the run's tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from itertools import zip_longest
from typing import Any, TypeAlias

from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.model import Completion, Model
from workbench.engine.models.summary_quality import STANDS_IN
from workbench.evaluation.experiment.costs import costs as cost_rows
from workbench.evaluation.experiment.costs import reconciliation
from workbench.evaluation.experiment.loss_rows import WORST, loss_rows
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.references import BaselineAtSizes, reference_inputs
from workbench.evaluation.experiment.spec import RunSpec, Scope
from workbench.evaluation.metrics.builtin import BUILTIN, EVEN_SO, installed
from workbench.evaluation.metrics.chain import chain as lifetimes
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.costs.request_charge import Charge
from workbench.evaluation.metrics.exam.rule_verdicts import Rules
from workbench.evaluation.metrics.guarded_score import guarded_score
from workbench.evaluation.metrics.metric import Metric, MetricInput, Score
from workbench.evaluation.metrics.paging import paging
from workbench.evaluation.metrics.view import view
from workbench.evaluation.metrics.work_exam.text_kind import RULES
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
from workbench.evaluation.replays.step import CompactionEvent, Replay, Step

Value: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Value]
Tables: TypeAlias = dict[str, list[Row]]

NAMES = (
    "steps",
    "compactions",
    "retention",
    "survival",
    "scores",
    "baseline_at_sizes",
    "costs",
    "paging",
    "reconciliation",
    "losses",
    "rules",
    "boundaries",
)
"""The tables that a replay fills."""


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
    metrics = spec.metrics
    replays = replays_of(prepared, preset, prepared.reader(model), spec)
    prices = pricing(session, spec.price_model, spec.prices)
    data = MetricInput(next(replays), prepared.index, prices=prices)
    tables = natural_rows(data, own_metrics=metrics)
    for replay in replays:
        if replay.mode != "matched":
            data_of_replay = MetricInput(replay, prepared.index)
            _fill(tables, data_of_replay, own_metrics=metrics)
            continue
        for share in spec.shares:
            data_at_share = MetricInput(replay, prepared.index, share)
            _fill(tables, data_at_share, own_metrics=metrics)
        if baseline is not None:
            tables["baseline_at_sizes"] += baseline.rows(replay)
    # the references that no agent could make are made beside the one that keeps all
    if preset.name == "none":
        _add_references(tables, prepared, spec)
        tables["reconciliation"] += reconciliation(prepared, prices)
    for rows in tables.values():
        for row in rows:
            row["session"] = session.id
    return tables


def _add_references(tables: Tables, prepared: Prepared, spec: RunSpec) -> None:
    """Add the rows of the references, and the boundaries at which contexts are cut to a size."""
    session = prepared.session
    boundaries: tuple[int, ...] = ()
    exam_at: tuple[int, ...] = ()
    if spec.shares:
        boundaries = at_boundaries(session, prepared.sizing, prepared.window, spec.boundaries)
        exam_at = prepared.exam_beside(boundaries)
    all_boundaries = (*boundaries, *exam_at)
    at_shares = sized_histories(session, prepared.sizing, all_boundaries, spec.shares)
    at_recorded = recorded_histories(prepared.recorded)
    sized = (*at_shares, *at_recorded)
    fitting: list[SizedHistory] = []
    for sized_history in sized:
        row = _boundary(sized_history)
        tables["boundaries"].append(row)
        if sized_history.fits:
            fitting.append(sized_history)
    for data in reference_inputs(prepared, spec, fitting, frozenset(exam_at)):
        _fill(tables, data, own_metrics=spec.metrics)


def _boundary(sized_history: SizedHistory) -> Row:
    """Where contexts are cut to a size, in tokens without overhead, and whether anything is
    scored there.
    """
    overhead = sized_history.history.overhead
    mode = "matched"
    if sized_history.share is None:
        mode = "recorded"
    return {
        "mode": mode,
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
    session = prepared.session
    sizing = prepared.sizing
    window = prepared.window
    filled = by_fill(session, sizing, window)
    yield natural(
        session,
        preset,
        model,
        sizing,
        window=window,
        boundaries=filled,
        exam_at=prepared.exam_after(filled),
    )
    if spec.shares:
        boundaries = at_boundaries(session, sizing, window, spec.boundaries)
        yield matched(
            session,
            preset,
            model,
            sizing,
            window=window,
            boundaries=boundaries,
            shares=spec.shares,
            exam_at=prepared.exam_beside(boundaries),
        )
    recorded = recorded_histories(prepared.recorded)
    if any(history.fits for history in recorded):
        yield at_recorded_sizes(
            session,
            preset,
            model,
            sizing,
            window=window,
            recorded=prepared.recorded,
        )


def natural_rows(
    data: MetricInput, worst: int = WORST, own_metrics: Sequence[Metric] = ()
) -> Tables:
    """The rows of one natural replay, with so many of its losses; `own_metrics` are measured beside
    those that are built in or installed.
    """
    tables: Tables = {name: [] for name in NAMES}
    tables["steps"] += _steps(data)
    _fill(tables, data, worst, own_metrics)
    return tables


def _steps(data: MetricInput) -> Iterator[Row]:
    """What each request sent, and what it cost where that is known."""
    step_names = [field.name for field in fields(Step)]
    charges: Sequence[Charge] = ()
    if data.bill is not None:
        charges = data.bill.charges
    for step, charge in zip_longest(data.replay.steps, charges):
        row: Row = {"strategy": data.replay.preset}
        for name in step_names:
            row[name] = getattr(step, name)
        if charge is not None:
            row["cache_read"] = charge.read
            row["usd"] = charge.usd
        yield row


def _fill(
    tables: Tables, data: MetricInput, worst: int = WORST, own_metrics: Sequence[Metric] = ()
) -> None:
    place: Row = {"strategy": data.replay.preset, "mode": data.replay.mode, "share": data.share}
    events = [event for event in data.replay.events if event.share == data.share]
    rows_by_table: dict[str, Iterable[Row]] = {
        "compactions": _compactions(events),
        "scores": _scores(data, own_metrics),
    }
    if not data.replay.is_all_undone:
        rows_by_table["retention"] = _retention(data)
        rows_by_table["survival"] = lifetimes(data)
        rows_by_table["costs"] = cost_rows(data)
        rows_by_table["paging"] = paging(data)
    if data.replay.preset not in REFERENCES:
        rows_by_table["losses"] = loss_rows(data, worst)
        rows_by_table["rules"] = rule_rows(data.replay)
    for name, rows in rows_by_table.items():
        tables[name] += [place | row for row in rows]


def _compactions(events: Iterable[CompactionEvent]) -> Iterable[Row]:
    for event in events:
        compaction = event.compaction
        stage_names: list[str] = []
        dropped: set[str] = set()
        rewritten: set[str] = set()
        for stage in compaction.stages:
            if stage.used:
                stage_names.append(stage.name)
                dropped.update(stage.dropped)
                rewritten.update(stage.rewritten)
        rewritten -= dropped
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
            "stages": " > ".join(stage_names),
            **_summary_columns(compaction.completions),
            "outcome": compaction.outcome,
            "why": compaction.why,
            "violations": len(compaction.violations),
        }


def _summary_columns(completions: Sequence[Completion]) -> Row:
    """What a compaction asked for, what it got, and from whom."""
    row: dict[str, Any] = {"requests": len(completions)}
    row |= dict.fromkeys(("input_tokens", "output_tokens", "fallbacks", "by_rule", "left_out"), 0)
    costs: list[float | None] = []
    seconds: list[float] = []
    writers: list[str] = []
    methods: list[str] = []
    misreports: list[str] = []
    findings: list[str] = []
    for completion in completions:
        writer = _writer(completion)
        row["input_tokens"] += completion.input_tokens
        row["output_tokens"] += completion.output_tokens
        row["fallbacks"] += completion.fallback
        row["by_rule"] += writer in RULES
        row["left_out"] += completion.left_out or 0
        costs.append(completion.usd)
        seconds.append(completion.seconds)
        writers.append(writer)
        methods.append(_method(completion))
        misreports.append(completion.misreport)
        findings += _findings(completion)
    row["usd"] = _sum_if_known(costs)
    row["seconds"] = sum(seconds)
    row["writer"] = _each_once(" + ", writers)
    row["method"] = _each_once(" + ", filter(None, methods))
    row["misreports"] = _each_once("\n", filter(None, misreports))
    row["findings"] = _each_once("\n", findings)
    return row


def _sum_if_known(costs: Sequence[float | None]) -> float | None:
    """What these have cost together; None where the cost of one is unknown."""
    known_costs = [usd for usd in costs if usd is not None]
    if len(known_costs) < len(costs):
        return None
    return sum(known_costs)


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
    rules = Rules(replay.session.messages)
    for event in replay.events:
        context = view(replay.session, event.compaction.after)
        for verdict in rules.verdicts(event.at, context):
            yield {"number": event.number, "at": event.at, **asdict(verdict)}


def _retention(data: MetricInput) -> Iterable[Row]:
    for retained in data.retained:
        snapshot = retained.snapshot
        for group in retained.retention.groups():
            row: Row = dict(group)
            row["at"] = snapshot.at
            row["tokens"] = snapshot.context.tokens
            yield row


def _scores(data: MetricInput, own_metrics: Sequence[Metric]) -> Iterable[Row]:
    objection = stays_larger(data.replay, data.share)
    if data.replay.is_all_undone:
        objection = f"no compaction was used: {data.replay.broken_in_words}"
    for metric in (*BUILTIN.values(), *installed(), *own_metrics):
        if objection and metric.name not in EVEN_SO:
            score = Score(None, objection)
        elif metric.name in BUILTIN:
            score = metric.score(data)
        else:
            score = guarded_score(metric, data)
        yield {
            "metric": metric.name,
            "value": score.value,
            "unit": metric.unit,
            "better": metric.better,
            "n": score.n,
            "why": score.why,
        }
