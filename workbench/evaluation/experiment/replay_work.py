"""The replays of a run as pieces of work: what the rows of each depend on, how they are made, and
what it would ask.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.folder import Folder, are_changed
from workbench.engine.models.model import Model
from workbench.engine.models.wrappers import innermost, requests_of
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel, ModelUse
from workbench.evaluation.experiment.job import Job, KeptWork
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.references import BaselineAtSizes
from workbench.evaluation.experiment.replay_rows import replay_rows, replays_of
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.table_columns import SCHEMA
from workbench.evaluation.metrics.builtin import installed
from workbench.evaluation.replays.boundaries import at_boundaries


@dataclass(frozen=True, slots=True)
class ReplayJob(Job[RunSpec]):
    """The replays of a run.

    Attributes:
        baseline: the strategy that is cut to the sizes of the others; None where none is.
    """

    baseline: Preset | None = None

    def baseline_of(self, prepared: Prepared, model: Model | None = None) -> BaselineAtSizes | None:
        """The baseline in one session, with the run's first model where none is given."""
        spec = self.spec
        if self.baseline is None or not spec.shares:
            return None
        if model is None:
            named_model = self.model_settings.model(spec.model[0])
            model = prepared.reader(named_model)
        boundaries = at_boundaries(
            prepared.session,
            prepared.sizing,
            prepared.window,
            spec.boundaries,
        )
        return BaselineAtSizes(
            prepared,
            self.baseline,
            model,
            boundaries,
            spec.shares,
            prepared.exam_beside(boundaries),
        )

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
        if not requests:
            return {}
        return self.model_settings.ledger.paid(list(requests))

    def with_codes(self) -> ReplayJob:
        """The same with the version of the code behind a replay under each preset: its own
        parts, and those of its baseline.
        """
        parts: dict[str, object] = {}
        for preset in self.presets:
            parts[preset.name] = (preset, self.baseline)
            if preset.name in REFERENCES:
                parts[preset.name] = preset
        codes = code_of_replays(self.spec.redaction, parts, self.folder.local)
        return replace(self, codes=codes)


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
        baseline = self.job.baseline
        if baseline is None or self.preset.name in REFERENCES:
            return False
        first_model = self.job.spec.model[0]
        is_baseline = self.preset == baseline and self.named_model == first_model
        return not is_baseline

    @property
    def baseline(self) -> BaselineAtSizes | None:
        """What is cut to the sizes of this replay."""
        if not self.is_compared:
            return None
        return self.session_baseline

    def key_parts(self) -> tuple[object, ...]:
        """See `KeptWork`.

        Raises:
            SettingError, SetupError: how the model is asked cannot be found out.
        """
        job = self.job
        spec = job.spec
        prepared = self.prepared
        baseline: tuple[object, ...] | None = None
        if self.is_compared:
            first_model = spec.model[0]
            baseline = (job.baseline, _name_in_key(first_model))
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
        writers = [self.writer]
        earlier_count = 0
        if baseline is not None:
            writers.append(baseline.model)
            earlier_count = len(requests_of(baseline.model))
        tables = replay_rows(self.prepared, self.preset, self.writer, self.job.spec, baseline)
        requests = list(requests_of(self.writer))
        if baseline is not None:
            requests_of_baseline = requests_of(baseline.model)
            requests += requests_of_baseline[earlier_count:]
        for row in tables["compactions"]:
            # what a model said beside its summary; the rest was masked before
            for column in ("findings", "misreports", "why"):
                text = str(row[column])
                row[column] = self.job.masked(text)
        result: dict[str, Any] = dict(tables)
        result["paid"] = self.job.paid(requests)
        result["answers"] = _answers_taken(writers)
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

    def forecast(self) -> list[ModelUse]:
        """What the replay would ask, also for the baseline at its sizes."""
        filler = FillerModel(self.model.name)
        baseline: BaselineAtSizes | None = None
        if self.is_compared:
            baseline = self.job.baseline_of(self.prepared, filler)
        for replay in replays_of(self.prepared, self.preset, filler, self.job.spec):
            if baseline is not None and replay.mode == "matched":
                deque(baseline.rows(replay), maxlen=0)
        return [replace(use, strategy=self.preset.name) for use in filler.asked]


def _answers_taken(writers: Iterable[Model]) -> dict[str, Mapping[str, str]]:
    """The answers that these models took from folders, by folder."""
    answers: dict[str, Mapping[str, str]] = {}
    for writer in writers:
        model = innermost(writer)
        if isinstance(model, Folder):
            answers[model.model] = model.taken
    return answers


def _name_in_key(model: str | Model) -> str:
    if isinstance(model, str):
        return model
    return key(model)


REPLAY_BEGINS: tuple[str, ...] = (
    "workbench.evaluation.experiment.replay_rows",
    "workbench.evaluation.experiment.references",
    "workbench.evaluation.experiment.prepared",
)
"""The modules that make the rows of a replay."""
READS_SESSIONS: tuple[str, ...] = (
    "workbench.recordings.importers",
    "workbench.recordings.datasets",
)
"""What reads sessions: a replay's key has what they read."""
MASKS = ("workbench.engine.transcript.redaction", "workbench.engine.transcript.personal")
"""What masks; without redaction a replay uses none of it."""


def code_of_replays(
    redaction: frozenset[str] | None, parts: Mapping[str, object], folder: Path
) -> dict[str, str]:
    """The version of the code behind replays, by name, each with the parts that are used in it."""
    begins = REPLAY_BEGINS
    without = READS_SESSIONS
    if redaction is None:
        without += MASKS
    else:
        begins += MASKS
    return code_versions(begins, parts, without, folder)
