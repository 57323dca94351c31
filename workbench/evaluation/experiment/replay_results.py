"""What came of the replays of a session: where each is on disk, or why it is not, and what its
tables say of its summaries, their cost and its recall.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.wrappers import AnsweringModel, requests_of
from workbench.evaluation.experiment.filler import FillerModel
from workbench.evaluation.experiment.job import Outcome
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.references import BaselineAtSizes
from workbench.evaluation.experiment.replay_rows import Row, replays_of
from workbench.evaluation.experiment.replay_work import ReplayJob, ReplayWork
from workbench.evaluation.experiment.requests_ahead import RequestsAhead, is_awaited
from workbench.evaluation.metrics import AT_SIZE, NAMES
from workbench.evaluation.metrics.work_exam.text_kind import RULES
from workbench.evaluation.replays.matched import TOO_LARGE
from workbench.evaluation.replays.step import Replay


@dataclass(frozen=True, slots=True)
class SummaryCounts:
    """Summaries of one replay.

    Attributes:
        requested: that were asked for, or would have been where the replay is pending.
        written: those of them that the model wrote.
        useless: those to which its answer was of no use. The rest is unanswered, or not bundled.
    """

    requested: int = 0
    written: int = 0
    useless: int = 0


@dataclass(frozen=True, slots=True)
class SizedScore:
    """One metric of a strategy where it is cut to a share of the history.

    Attributes:
        value: None where there is none.
        reason: why it stays larger than that share; empty where it does not.
        baseline: what the run's baseline has at the very size that the strategy used; None where
            nobody knows.
    """

    share: float
    metric: str
    value: float | None
    reason: str = ""
    baseline: float | None = None


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """One replay: where it is on disk, or why it is not.

    Attributes:
        reason: why it failed, or what it waits for; empty where it is on disk.
        pending: whether it waits for answers of its model: the same command asks for them again.
        model: which was there to write summaries.
        asked: whether that model was asked anything, or may have been.
        paid: the dollars that the run has spent on each request, by its name in the ledger; None if
            unknown.
        recall: exam recall on the strategy's own trigger; None where it has no score.
        sized: what it tells at the same size.
    """

    strategy: str
    key: str = ""
    reason: str = ""
    pending: bool = False
    model: str = ""
    asked: bool = True
    summaries: SummaryCounts = SummaryCounts()
    paid: Mapping[str, float | None] = field(default_factory=dict)
    recall: float | None = None
    sized: tuple[SizedScore, ...] = ()


def results_of(job: ReplayJob, prepared: Prepared, presets: Sequence[Preset]) -> list[ReplayResult]:
    """What came of the replays of a session; those on disk are not made again.

    Where a preset asked the first model nothing, that replay serves for all models.
    """
    baseline = job.baseline_of(prepared)
    results: list[ReplayResult] = []
    for preset in presets:
        first_work, *further_works = job.replays_of(prepared, preset, baseline)
        result = result_of(first_work)
        results.append(result)
        for work in further_works:
            if result.asked:
                results.append(result_of(work))
            else:
                results.append(replace(result, model=work.model.name))
    return results


def result_of(work: ReplayWork) -> ReplayResult:
    """What came of a replay, which is made unless it is on disk."""
    outcome = work.job.outcome(work)
    result = ReplayResult(work.preset.name, outcome.key, model=work.model.name)
    if outcome.result is not None:
        return _with_figures(result, outcome.result, work)
    summaries = SummaryCounts()
    if outcome.is_pending:
        summaries = _pending_summaries(outcome, work)
    return replace(
        result,
        pending=outcome.is_pending,
        reason=work.job.masked(outcome.reason),
        summaries=summaries,
        paid=work.job.paid(requests_of(work.writer)),
    )


def _with_figures(
    result: ReplayResult, tables: Mapping[str, Any], work: ReplayWork
) -> ReplayResult:
    """The result with what the tables of the replay say of its summaries, their cost and its
    recall.
    """
    paid = tables["paid"]
    paid_since = work.job.paid(paid)
    summaries = _written_summaries(tables["compactions"], result)
    return replace(
        result,
        asked=summaries.requested > 0,
        summaries=summaries,
        paid=_at_least(paid_since, paid),
        recall=_recall(tables["scores"], result.strategy),
        sized=tuple(_sized(tables, result.strategy)),
    )


def _written_summaries(
    compactions: Iterable[Mapping[str, Any]], result: ReplayResult
) -> SummaryCounts:
    """The summaries of a finished replay, by its table `compactions`."""
    requested = 0
    useless = 0
    by_rule = 0
    for row in compactions:
        if row["strategy"] != result.strategy:
            continue
        requested += row["requests"]
        useless += row["fallbacks"]
        by_rule += row["by_rule"]
    by_others = by_rule
    if result.model in RULES:
        by_others = useless
    return SummaryCounts(requested, requested - by_others, useless)


def _recall(scores: Iterable[Row], strategy: str) -> float | None:
    """The share of names that a strategy keeps on its own trigger; None where it has no score."""
    for row in scores:
        is_recall = row["metric"] == NAMES and row["mode"] == "natural"
        if not is_recall or row["strategy"] != strategy:
            continue
        recall = row["value"]
        if recall is None:
            return None
        return float(recall)
    return None


def _sized(
    tables: Mapping[str, Iterable[Mapping[str, Any]]], strategy: str
) -> Iterator[SizedScore]:
    """What a strategy tells at the same size."""
    baseline_values: dict[tuple[float, str], float | None] = {}
    for row in tables.get("baseline_at_sizes", ()):
        place = (row["share"], row["metric"])
        baseline_values[place] = row["value"]
    for row in tables["scores"]:
        is_sized = row["mode"] == "matched" and row["strategy"] == strategy
        if not is_sized or row["metric"] not in AT_SIZE:
            continue
        place = (row["share"], row["metric"])
        reason = str(row["why"])
        if not reason.startswith(TOO_LARGE):
            reason = ""
        yield SizedScore(
            share=row["share"],
            metric=row["metric"],
            value=row["value"],
            reason=reason,
            baseline=baseline_values.get(place),
        )


def _pending_summaries(outcome: Outcome, work: ReplayWork) -> SummaryCounts:
    """The summaries of a replay that waits for its model. Where somebody answers later, all
    requests that can be known are made; else filler counts them.
    """
    error = outcome.error
    writer = work.writer
    awaits_answer = error is not None and is_awaited(error)
    if awaits_answer and isinstance(writer, AnsweringModel):
        return _ask_ahead(writer, work)
    answers = getattr(writer, "answers", [])
    filler = FillerModel(writer.name)
    replays = replays_of(work.prepared, work.preset, filler, work.job.spec)
    deque(replays, maxlen=0)
    return _counts(answers, len(filler.asked))


def _ask_ahead(writer: AnsweringModel, work: ReplayWork) -> SummaryCounts:
    """Make all requests that can be known."""
    answering = AnsweringModel(writer.model)
    ahead = RequestsAhead(answering, chained=True)
    # what else is wrong with the replay comes up when its answers are there
    with suppress(WorkbenchError):
        for replay in replays_of(work.prepared, work.preset, ahead, work.job.spec):
            ahead.chained = False  # only in the natural replay, which is made before all others
            if work.baseline is not None and replay.mode == "matched" and not ahead.awaited:
                _ask_baseline_ahead(work.baseline, replay, work)
    return _counts(answering.answers, ahead.requests)


def _ask_baseline_ahead(baseline: BaselineAtSizes, replay: Replay, work: ReplayWork) -> None:
    """Make the requests of the baseline at the sizes of a replay."""
    ahead = RequestsAhead(baseline.model)
    copy = work.job.baseline_of(work.prepared, ahead)
    if copy is None:
        return
    copy.prepare()
    if not ahead.awaited:  # else the sizes that it has are not known
        deque(copy.rows(replay), maxlen=0)


def _counts(answers: Collection[bool], request_count: int) -> SummaryCounts:
    """The summaries of a pending replay: it waits for one more than it has answers, at least.

    Args:
        answers: whether each answer that came was of use.
        request_count: as many summaries as the whole replay is known to need.
    """
    written_count = sum(answers)
    least_count = len(answers) + 1
    return SummaryCounts(
        requested=max(request_count, least_count),
        written=written_count,
        useless=len(answers) - written_count,
    )


def _at_least(
    paid: Mapping[str, float | None], earlier: Mapping[str, float | None]
) -> dict[str, float | None]:
    """Dollars by request, no less than was known before; None where one of both is unknown."""
    larger: dict[str, float | None] = {}
    for request, usd in paid.items():
        known_usd = earlier.get(request, 0.0)
        if usd is None or known_usd is None:
            larger[request] = None
        else:
            larger[request] = max(usd, known_usd)
    return larger
