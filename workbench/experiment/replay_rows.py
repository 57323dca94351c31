"""One replay: a session under a preset, as rows of the run's tables."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TypeAlias

from workbench.compaction.strategy import Preset
from workbench.experiment.costs import costs as cost_rows
from workbench.experiment.costs import reconciliation
from workbench.experiment.losses import losses
from workbench.experiment.prepared import Prepared
from workbench.experiment.references import reference_inputs
from workbench.experiment.spec import Scope
from workbench.metrics.builtin import BUILTIN, installed
from workbench.metrics.chain import chain
from workbench.metrics.costs.pricing import pricing
from workbench.metrics.metric import MetricInput, Score
from workbench.metrics.rereads import rereads
from workbench.metrics.sizes import EVEN_SO, too_large
from workbench.models.model import Completion, Model
from workbench.models.summary_repair import STANDS_IN
from workbench.replay.boundaries import at_boundaries, by_fill
from workbench.replay.matched import at_recorded_sizes, matched
from workbench.replay.natural import natural
from workbench.replay.recorded import recorded_contexts
from workbench.replay.step import CompactionEvent
from workbench.transcript.session import Session

Value: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Value]
Tables: TypeAlias = dict[str, list[Row]]

NAMES = (
    "steps", "compactions", "retention", "entity_recall", "states", "survival", "rereads", "scores", "costs",
    "reconciliation", "losses",
)  # fmt: skip
"""The tables that a replay fills."""
WORST = 30
"""Losses that a replay writes down for each mode and budget."""


def replay_rows(ready: Prepared, preset: Preset, model: Model, spec: Scope) -> Tables:
    """Replay and score one session under one preset.

    Raises:
        ModelError: the model failed and the preset has nothing to use otherwise.
    """
    collecting = gc.isenabled()
    gc.disable()  # rows and contexts hold no cycles: looking for some takes a seventh of the time of a replay
    try:
        return _tables(ready, preset, model, spec)
    finally:
        if collecting:
            gc.enable()


def _tables(ready: Prepared, preset: Preset, model: Model, spec: Scope) -> Tables:
    tables: Tables = {name: [] for name in NAMES}
    session, sizing, model = ready.session, ready.sizing, ready.reader(model)
    score_at = by_fill(session, sizing, ready.window)
    replay = natural(session, preset, model, sizing, window=ready.window, score_at=score_at)
    prices = pricing(session, spec.price_model, spec.prices)
    data = MetricInput(replay, ready.index, prices=prices)
    tables["steps"] += _steps(data)
    _fill(tables, data)
    if spec.shares:
        at = at_boundaries(session, sizing, ready.window, spec.boundaries)
        replay = matched(session, preset, model, sizing, window=ready.window, at=at, shares=spec.shares)
        for share in spec.shares:
            _fill(tables, MetricInput(replay, ready.index, share))
    really = recorded_contexts(session, sizing)
    if really:
        replay = at_recorded_sizes(session, preset, model, sizing, window=ready.window, really=really)
        _fill(tables, MetricInput(replay, ready.index))
    _name(tables, session.id, preset.name)
    if (
        preset.name == "none"
    ):  # the harness's own references need no agent: they are made beside the reference that keeps all
        for reference, inputs in reference_inputs(ready, spec, really):
            found: Tables = {name: [] for name in NAMES}
            for data in inputs:
                _fill(found, data)
            _name(found, session.id, reference)
            for name, rows in found.items():
                tables[name] += rows
        tables["rereads"] += _rereads(session, tuple(really))
        tables["reconciliation"] += reconciliation(ready, prices)
    return tables


def _name(tables: Tables, session: str, strategy: str) -> None:
    for rows in tables.values():
        for row in rows:
            row["session"], row["strategy"] = session, strategy


def _rereads(session: Session, boundaries: Sequence[int]) -> Iterable[Row]:
    for one in rereads(session.messages, boundaries):
        yield {
            "session": session.id, "at": one.at, "calls": one.calls, "repeats": one.repeats, "expected": one.expected,
        }  # fmt: skip


def natural_rows(data: MetricInput, worst: int = WORST) -> Tables:
    """The rows of one natural replay alone, with its losses whatever the preset."""
    tables: Tables = {name: [] for name in NAMES}
    tables["steps"] += _steps(data)
    _fill(tables, data, worst)
    return tables


def _fill(tables: Tables, data: MetricInput, worst: int = WORST) -> None:
    place: Row = {"mode": data.replay.mode, "share": data.share}
    events = [event for event in data.replay.events if event.share == data.share]
    tables["compactions"] += [place | row for row in _compactions(events)]
    tables["retention"] += [place | row for row in _retention(data)]
    tables["entity_recall"] += [place | row for row in _entity_recall(data)]
    tables["states"] += [place | row for row in _states(data)]
    tables["survival"] += _survival(data)
    tables["scores"] += [place | row for row in _scores(data)]
    tables["costs"] += cost_rows(data)
    if data.replay.preset not in ("none", "null", "random", "oracle"):
        tables["losses"] += [place | row for row in losses(data, worst)]


def _steps(data: MetricInput) -> Iterable[Row]:
    charges = data.bill.charges if data.bill is not None else ()
    for step, charge in zip_longest(data.replay.steps, charges):
        yield {
            "request": step.request,
            "index": step.index,
            "tokens_recorded": step.tokens_recorded,
            "tokens_sent": step.tokens_sent,
            "prefix_reused": step.prefix_reused,
            "compaction": step.compaction,
            "cache_read": None if charge is None else charge.read,
            "usd": None if charge is None else charge.usd,
        }


def _compactions(events: Iterable[CompactionEvent]) -> Iterable[Row]:
    for event in events:
        done = event.compaction
        completions = done.completions
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
            **(_asked(completions) if completions else _NOT_ASKED),
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
        "writer": " + ".join(dict.fromkeys(map(_writer, completions))),
        "method": " + ".join(dict.fromkeys(filter(None, map(_method, completions)))),
        "left_out": sum(completion.left_out or 0 for completion in completions),
        "findings": "\n".join(dict.fromkeys(text for completion in completions for text in _findings(completion))),
    }


def _writer(completion: Completion) -> str:
    """Who wrote the text that is used."""
    if completion.fallback and STANDS_IN not in completion.method:
        return "the strategy's stand-in"
    return completion.model


def _method(completion: Completion) -> str:
    """How a text came about, in words; empty where it is one plain answer to all."""
    left = completion.left_out or 0
    return ", ".join(filter(None, (completion.method, f"{left} messages left out of the prompt" if left else "")))


def _findings(completion: Completion) -> tuple[str, ...]:
    """What is wrong with a text, and why another one stands in for it."""
    return (completion.why,) if completion.fallback and completion.why else completion.findings


_NOT_ASKED = _asked(())


def _retention(data: MetricInput) -> Iterable[Row]:
    for one in data.retained:
        for group in one.retention.groups():
            yield {
                "at": one.snapshot.at,
                "tokens": one.snapshot.context.tokens,
                "kind": group.kind,
                "recoverable": "reacquirable" if group.recoverable else "irrecoverable",
                "demanded": group.demanded,
                "presence": group.presence,
                "bound": group.bound,
                "coverage": group.coverage,
            }


def _entity_recall(data: MetricInput) -> Iterable[Row]:
    for one, kinds in zip(data.retained, data.recalled, strict=True):
        for kind, (kept, whole) in sorted(kinds.items()):
            yield {"at": one.snapshot.at, "kind": kind, "kept": kept, "all": whole}


def _states(data: MetricInput) -> Iterable[Row]:
    for one, counts in zip(data.retained, data.states, strict=True):
        for (what, state), count in counts.items():
            yield {"at": one.snapshot.at, "what": what, "state": state, "count": count}


def _survival(data: MetricInput) -> Iterable[Row]:
    for one in chain(data):
        yield {"kind": one.kind, "round": one.round, "at_risk": one.at_risk, "lost": one.lost}


def _scores(data: MetricInput) -> Iterable[Row]:
    unlike = too_large(data)
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
