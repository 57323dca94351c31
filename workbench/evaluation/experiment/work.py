"""One replay as a piece of work: what its result depends on, how it is made, and what it would ask."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.folder import Folder, are_changed
from workbench.engine.models.model import Model
from workbench.engine.models.wrappers import AnsweringModel, innermost, requests_of
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel, ModelUse
from workbench.evaluation.experiment.job import Job, KeptWork, Outcome
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.references import BaselineAtSizes
from workbench.evaluation.experiment.replay_rows import Row, replay_rows, replays
from workbench.evaluation.experiment.requests_ahead import RequestsAhead, is_awaited
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.store import SCHEMA
from workbench.evaluation.metrics import AT_SIZE, NAMES
from workbench.evaluation.metrics.builtin import installed
from workbench.evaluation.metrics.work_exam.reader_error import RULES
from workbench.evaluation.replays.boundaries import at_boundaries
from workbench.evaluation.replays.matched import TOO_LARGE
from workbench.evaluation.replays.step import Replay


@dataclass(frozen=True, slots=True)
class ReplayJob(Job[RunSpec]):
    """The replays of a run.

    Attributes:
        baseline: the strategy that is cut to the sizes of the others; None where none is.
    """

    baseline: Preset | None = None

    def baseline_of(self, prepared: Prepared, model: Model | None = None) -> BaselineAtSizes | None:
        """The baseline in one session, with the run's first model where none is given."""
        if self.baseline is None or not self.spec.shares:
            return None
        if model is None:
            model = prepared.reader(self.model_settings.model(self.spec.model[0]))
        boundaries = at_boundaries(
            prepared.session, prepared.sizing, prepared.window, self.spec.boundaries
        )
        return BaselineAtSizes(
            prepared,
            self.baseline,
            model,
            boundaries,
            self.spec.shares,
            prepared.exam_beside(boundaries),
        )

    def results_of(self, prepared: Prepared, presets: Sequence[Preset]) -> list[ReplayResult]:
        """What came of the replays of a session; those on disk are not made again.

        Where a preset asked the first model nothing, that replay serves for all models.
        """
        baseline = self.baseline_of(prepared)
        results = []
        for preset in presets:
            first_result: ReplayResult | None = None
            for replay in self.replays_of(prepared, preset, baseline):
                if first_result is None or first_result.asked:
                    result = replay.result()
                else:
                    result = replace(first_result, model=replay.model.name)
                first_result = first_result or result
                results.append(result)
        return results

    def replays_of(
        self, prepared: Prepared, preset: Preset, baseline: BaselineAtSizes | None = None
    ) -> Iterator[ReplayWork]:
        """The replays of a session under a preset, one for each model."""
        for named_model in self.spec.model:
            model = self.model_settings.model(named_model)
            yield ReplayWork(self, prepared, preset, named_model, model, baseline)

    def masked(self, text: str) -> str:
        """A path or a reason: either may quote what is to be masked, such as a part of a
        provider's key.
        """
        if self.spec.redaction is None:
            return text
        from workbench.engine.transcript.redaction import masker  # it takes long to load

        return masker(self.spec.redaction)(text)

    def paid(self, requests: Collection[str]) -> Mapping[str, float | None]:
        """What the run has spent on each of these requests, as this machine's ledger says."""
        return self.model_settings.ledger.paid(list(requests)) if requests else {}

    def with_codes(self) -> ReplayJob:
        """The same with the version of the code behind a replay under each preset: its own
        parts, and those of its baseline.
        """
        parts: dict[str, object] = {}
        for preset in self.presets:
            is_reference = preset.name in REFERENCES
            parts[preset.name] = preset if is_reference else (preset, self.baseline)
        codes = code_of_replays(self.spec.redaction, parts, self.folder.local)
        return replace(self, codes=codes)


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


@dataclass(frozen=True)
class ReplayWork(KeptWork):
    """A session under a preset and a model.

    Attributes:
        named_model: as the specification has it, and `model` under the settings of the run.
        session_baseline: the baseline in this session.
    """

    job: ReplayJob
    prepared: Prepared
    preset: Preset
    named_model: str | Model
    model: Model
    session_baseline: BaselineAtSizes | None = None

    @cached_property
    def writer(self) -> Model:
        """The model as this replay asks it."""
        return self.prepared.reader(self.model)

    @property
    def is_compared(self) -> bool:
        """Whether the baseline is cut to the sizes of this replay: not to those of a reference,
        nor to its own.
        """
        job = self.job
        is_baseline = self.preset == job.baseline and self.named_model == job.spec.model[0]
        return job.baseline is not None and self.preset.name not in REFERENCES and not is_baseline

    @property
    def baseline(self) -> BaselineAtSizes | None:
        """What is cut to the sizes of this replay."""
        return self.session_baseline if self.is_compared else None

    def key_parts(self) -> tuple[object, ...]:
        """See `KeptWork`.

        Raises:
            SettingError, SetupError: how the model is asked cannot be found out.
        """
        job, spec, prepared = self.job, self.job.spec, self.prepared
        baseline = (job.baseline, _name_in_key(spec.model[0])) if self.is_compared else None
        return (
            SCHEMA,
            job.codes[self.preset.name],
            prepared.content,
            self.preset,
            _name_in_key(self.named_model),
            job.model_settings.seal(self.model),
            prepared.window,
            spec.shares,
            spec.boundaries,
            spec.seed,
            spec.redaction,
            spec.price_model,
            spec.prices,
            (*installed(), *spec.metrics),
            baseline,
            prepared.work.seal,
        )

    def make(self) -> dict[str, Any]:
        """The rows of the replay by table; under `paid` what its requests and the baseline's
        have cost, under `answers` which ones it took from folders.
        """
        baseline = self.baseline
        earlier_requests = () if baseline is None else requests_of(baseline.model)
        tables = replay_rows(self.prepared, self.preset, self.writer, self.job.spec, baseline)
        requests = list(requests_of(self.writer))
        writers = [innermost(self.writer)]
        if baseline is not None:
            requests.extend(requests_of(baseline.model)[len(earlier_requests) :])
            writers.append(innermost(baseline.model))
        for row in tables["compactions"]:
            # what a model said beside its summary; the rest was masked before
            for column in ("findings", "misreports", "why"):
                row[column] = self.job.masked(str(row[column]))
        answers = {writer.model: writer.taken for writer in writers if isinstance(writer, Folder)}
        result = {**tables, "paid": self.job.paid(requests), "answers": answers}
        self._check_masked(result)
        return result

    def _check_masked(self, result: Mapping[str, Any]) -> None:
        """Nothing where no text that was masked in the session stands in the result."""
        if not self.prepared.masked:
            return
        from workbench.engine.transcript.redaction import holds_one

        if holds_one(json.dumps(result, ensure_ascii=False), self.prepared.masked):
            raise WorkbenchError(
                "its tables would hold a text that was masked elsewhere, and were not written"
            )

    def is_current(self, result: Mapping[str, Any]) -> bool:
        """Whether nobody has written answers in a folder anew since the replay took them."""
        answers: Mapping[str, Mapping[str, str]] = result.get("answers", {})
        return not any(are_changed(Path(folder), digests) for folder, digests in answers.items())

    def result(self) -> ReplayResult:
        """What came of the replay, which is made unless it is on disk."""
        outcome = self.job.outcome(self)
        result = ReplayResult(self.preset.name, outcome.key, model=self.model.name)
        if outcome.result is not None:
            return self._read(result, outcome.result)
        summaries = self._pending_summaries(outcome) if outcome.is_pending else SummaryCounts()
        return replace(
            result,
            pending=outcome.is_pending,
            reason=self.job.masked(outcome.reason),
            summaries=summaries,
            paid=self.job.paid(requests_of(self.writer)),
        )

    def _read(self, result: ReplayResult, tables: Mapping[str, Any]) -> ReplayResult:
        """What the tables of the replay say of its summaries, their cost and its recall."""
        strategy = self.preset.name
        compactions = [row for row in tables["compactions"] if row["strategy"] == strategy]
        requested = sum(row["requests"] for row in compactions)
        useless = sum(row["fallbacks"] for row in compactions)
        by_rule = sum(row["by_rule"] for row in compactions)
        by_others = useless if self.model.name in RULES else by_rule
        recalls = [row["value"] for row in tables["scores"] if _is_recall(row, strategy)]
        return replace(
            result,
            asked=requested > 0,
            summaries=SummaryCounts(requested, requested - by_others, useless),
            paid=_at_least(self.job.paid(tables["paid"]), tables["paid"]),
            recall=recalls[0] if recalls else None,
            sized=tuple(_sized(tables, strategy)),
        )

    def _pending_summaries(self, outcome: Outcome) -> SummaryCounts:
        """The summaries of a replay that waits for its model. Where somebody answers later, all
        requests that can be known are made; else filler counts them.
        """
        error, writer = outcome.error, self.writer
        if error is not None and is_awaited(error) and isinstance(writer, AnsweringModel):
            return self._ask_ahead(writer)
        answers = getattr(writer, "answers", [])
        filler = FillerModel(writer.name)
        for _ in replays(self.prepared, self.preset, filler, self.job.spec):
            pass
        return _counts(answers, len(filler.asked))

    def _ask_ahead(self, writer: AnsweringModel) -> SummaryCounts:
        """Make all requests that can be known."""
        answering = AnsweringModel(writer.model)
        ahead = RequestsAhead(answering, chained=True)
        # what else is wrong with the replay comes up when its answers are there
        with suppress(WorkbenchError):
            for replay in replays(self.prepared, self.preset, ahead, self.job.spec):
                ahead.chained = False  # only in the natural replay, which is made before all others
                if self.baseline is not None and replay.mode == "matched" and not ahead.awaited:
                    self._ask_baseline_ahead(self.baseline, replay)
        return _counts(answering.answers, ahead.requests)

    def _ask_baseline_ahead(self, baseline: BaselineAtSizes, replay: Replay) -> None:
        """Make the requests of the baseline at the sizes of a replay."""
        ahead = RequestsAhead(baseline.model)
        copy = self.job.baseline_of(self.prepared, ahead)
        if copy is None:
            return
        copy.prepare()
        if not ahead.awaited:  # else the sizes that it has are not known
            deque(copy.rows(replay), maxlen=0)

    def forecast(self) -> list[ModelUse]:
        """What the replay would ask, also for the baseline at its sizes."""
        filler = FillerModel(self.model.name)
        baseline = self.job.baseline_of(self.prepared, filler) if self.is_compared else None
        for replay in replays(self.prepared, self.preset, filler, self.job.spec):
            if baseline is not None and replay.mode == "matched":
                deque(baseline.rows(replay), maxlen=0)
        return [replace(use, strategy=self.preset.name) for use in filler.asked]


def _name_in_key(model: str | Model) -> str:
    return model if isinstance(model, str) else key(model)


def _is_recall(row: Row, strategy: str) -> bool:
    return row["metric"] == NAMES and row["mode"] == "natural" and row["strategy"] == strategy


def _sized(
    tables: Mapping[str, Iterable[Mapping[str, Any]]], strategy: str
) -> Iterator[SizedScore]:
    """What a strategy tells at the same size."""
    baseline_values = {}
    for row in tables.get("baseline_at_sizes", ()):
        baseline_values[row["share"], row["metric"]] = row["value"]
    for row in tables["scores"]:
        is_sized = row["mode"] == "matched" and row["strategy"] == strategy
        if is_sized and row["metric"] in AT_SIZE:
            reason = str(row["why"])
            if not reason.startswith(TOO_LARGE):
                reason = ""
            baseline_value = baseline_values.get((row["share"], row["metric"]))
            yield SizedScore(row["share"], row["metric"], row["value"], reason, baseline_value)


def _counts(answers: Collection[bool], request_count: int) -> SummaryCounts:
    """The summaries of a pending replay: it waits for one more than it has answers, at least.

    Args:
        answers: whether each answer that came was of use.
        request_count: as many summaries as the whole replay is known to need.
    """
    written_count = sum(answers)
    return SummaryCounts(
        max(request_count, len(answers) + 1), written_count, len(answers) - written_count
    )


def _at_least(
    paid: Mapping[str, float | None], earlier: Mapping[str, float | None]
) -> dict[str, float | None]:
    """Dollars by request, no less than was known before; None where one of both is unknown."""
    larger: dict[str, float | None] = {}
    for request, usd in paid.items():
        known_usd = earlier.get(request, 0.0)
        larger[request] = None if usd is None or known_usd is None else max(usd, known_usd)
    return larger


REPLAY_BEGINS = (
    "workbench.evaluation.experiment.replay_rows",
    "workbench.evaluation.experiment.references",
    "workbench.evaluation.experiment.prepared",
)
"""The modules that make the rows of a replay."""
READS_SESSIONS = ("workbench.recordings.importers", "workbench.recordings.datasets")
"""What reads sessions: a replay's key has what they read."""
MASKS = ("workbench.engine.transcript.redaction", "workbench.engine.transcript.personal")
"""What masks; without redaction a replay uses none of it."""


def code_of_replays(
    redaction: frozenset[str] | None, parts: Mapping[str, object], folder: Path
) -> dict[str, str]:
    """The version of the code behind replays, by name, each with the parts that are used in it."""
    if redaction is None:
        return code_versions(REPLAY_BEGINS, parts, (*READS_SESSIONS, *MASKS), folder)
    return code_versions((*REPLAY_BEGINS, *MASKS), parts, READS_SESSIONS, folder)
