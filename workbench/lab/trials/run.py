"""Trials of agents on tasks that run: families, seeds and strategies, on workers, resumed where
they stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, Unpack

from workbench.base.errors import SettingError
from workbench.base.typed_value import LEAST_WINDOW
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import require_language_model, shown_name
from workbench.engine.models.model import Model
from workbench.engine.transcript.redaction import masker
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel, ModelUse, is_asked, usd_of
from workbench.evaluation.experiment.job import Job, KeptWork
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.replacement import NewRun
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.spec import model_name
from workbench.evaluation.experiment.table_replacement import (
    check_table_replaceable,
    how_made,
    settings_of,
)
from workbench.evaluation.metrics.costs.pricing import known_tariff
from workbench.lab.trials.agents import Agent, ModelAgent, ReaderAgent
from workbench.lab.trials.attempt import MEASURED, attempt, opened
from workbench.lab.trials.beginning import beginning_of, begun
from workbench.lab.trials.bundled import (
    seeds_of,
)
from workbench.lab.trials.families import tasks
from workbench.lab.trials.helper_client import require_sandbox
from workbench.lab.trials.loop import Limits, Trial, work
from workbench.lab.trials.spec import READER, TrialSettings, TrialSpec
from workbench.lab.trials.table import TrialResults
from workbench.lab.trials.task import TrialTask

UNBOUNDED = 10_000_000
"""The window of the trial without compaction."""
DIED = "its worker process died, perhaps because memory ran out; the same command tries again"


@dataclass(frozen=True, slots=True)
class TrialJob(Job[TrialSpec]):
    """The trials of a specification."""

    @classmethod
    def of(cls, spec: TrialSpec) -> Self:
        """The job, with the version of the code behind a trial under each preset."""
        strategies = (preset("none"), *spec.presets)
        by_name = {strategy.name: strategy for strategy in strategies}
        codes = code_versions(["workbench.lab.trials.run"], by_name, folder=spec.folder)
        return cls(spec, spec.presets, RunFolder(spec.folder), spec.how, codes)

    def with_spec(self, spec: TrialSpec) -> Self:
        """The same under another specification, in the folder of that one."""
        return replace(self, spec=spec, folder=RunFolder(spec.folder))

    def trial_of(self, task: TrialTask, strategy: Preset, window: int) -> TrialWork:
        """The trial of a task under a strategy, with the models that it asks."""
        spec = self.spec
        if strategy.name == "none" and spec.is_reader:
            window = UNBOUNDED
        agent_model = None
        if not spec.is_reader:
            agent_model = self.model_settings.model(spec.agent)
        return TrialWork(
            job=self,
            task=task,
            strategy=strategy,
            window=window,
            agent_model=agent_model,
            writer=self.model_settings.model(spec.writer),
        )

    def columns_of(self, family: str, seed: int, strategy: Preset) -> Row:
        """The columns that say which trial a row is about."""
        return {
            "strategy": strategy.name,
            "family": family,
            "seed": seed,
            "agent": shown_name(model_name(self.spec.agent)),
        }


@dataclass(frozen=True, slots=True)
class TrialWork(KeptWork):
    """A task under a strategy.

    Attributes:
        window: tokens.
        agent_model: None for the agent without a model.
        writer: writes summaries.
    """

    job: TrialJob
    task: TrialTask
    strategy: Preset
    window: int
    agent_model: Model | None
    writer: Model

    @property
    def limits(self) -> Limits:
        """When the trial is stopped."""
        spec = self.job.spec
        return Limits(spec.steps, spec.seconds, spec.output)

    def key_parts(self) -> list[object]:
        """See `KeptWork`."""
        spec = self.job.spec
        settings = self.job.model_settings
        agent: object = READER
        if self.agent_model is not None:
            agent = settings.seal(self.agent_model)
        parts: list[object] = [
            "trial",
            self.job.codes[self.strategy.name],
            self.task,
            self.strategy,
            agent,
            model_name(spec.writer),
            settings.seal(self.writer),
            self.window,
            spec.price_model,
            self.limits,
            settings.replicate,
        ]
        if spec.redact:
            parts.append(spec.redaction)
        if spec.conversations:
            parts.append("conversation")
        return parts

    def make(self) -> Row:
        """Let the agent work on the task, and grade it."""
        spec = self.job.spec
        agent: Agent = ReaderAgent()
        if self.agent_model is not None:
            agent = ModelAgent(self.agent_model)
        keep = None
        if spec.conversations:
            keep = partial(_keep_conversation, spec, self.task, self.strategy)
        columns = attempt(
            self.task,
            agent,
            self.strategy,
            sandbox=self.agent_model is not None and not spec.no_sandbox,
            window=self.window,
            tariff=known_tariff(spec.price_model),
            writer=self.writer,
            limits=self.limits,
            mask=masker(spec.redaction),
            keep=keep,
        )
        return {**self._columns, "status": "ok", **columns}

    def row(self) -> Row:
        """The trial's row, from disk where it is there."""
        outcome = self.job.outcome(self)
        if outcome.result is not None:
            return outcome.result
        reason = masker(self.job.spec.redaction)(outcome.reason)
        return {**self._columns, "status": outcome.status, "reason": reason}

    @property
    def _columns(self) -> Row:
        task = self.task
        columns = self.job.columns_of(task.family, task.seed, self.strategy)
        return {**columns, "window": self.window}


@documented(TrialSpec)
def trial(
    *,
    spec: TrialSpec | None = None,
    before: Callable[[Sequence[ModelUse]], bool] = lambda forecast: True,
    **settings: Unpack[TrialSettings],
) -> TrialResults | None:
    """Let an agent work on tasks that run, under strategies that keep its context small, and grade
    what it did.

    All but the strategy is the same: the tasks, their values, the tools, the window. Finished
    trials are kept, and the same call goes on where it stopped. Answers of models come from the
    cache where they were given before.

    Args:
        spec: a specification made before; further settings change it.
        before: receives the forecast before a model is asked: requests, tokens and dollars of the
            agent and of a real model that writes summaries, as if it followed the plan of the agent
            without a model; false stops there.
        **settings: the fields of `TrialSpec`.

    Returns:
        The folder with the table `trials`; None if `before` stopped it.

    Raises:
        SettingError, UnknownName: a setting is wrong, or the folder holds trials that these would
            take the place of.
        SetupError: a model would run commands, and bubblewrap is not installed.
    """
    spec = TrialSpec.of(spec, settings)
    require_language_model(model_name(spec.agent))
    if not spec.is_reader and not spec.no_sandbox:
        require_sandbox()  # refuse before anything is asked
    new_table = _new_table(spec)
    check_table_replaceable(spec.folder / TrialResults.file, new_table)
    if not before(forecast(spec)):
        return None
    job = TrialJob.of(spec)
    places: list[tuple[str, int]] = []
    for family in spec.families:
        for seed in seeds_of(family, spec.seeds):
            places.append((family, seed))
    rows: list[Row] = []
    with (
        job.folder.claimed(),
        job.crew("working on tasks", len(places), "task") as crew,
    ):
        for task_rows in crew.results(places, partial(_rows, job), partial(_lost_rows, job)):
            rows += task_rows
    notes = {
        "agent": model_name(spec.agent),
        "seeds": spec.seeds,
        "families": list(spec.families),
        **how_made(new_table),
    }
    return TrialResults.write(spec.folder, rows, notes)


def _new_table(spec: TrialSpec) -> NewRun:
    """The table before it is made."""
    settings = settings_of(spec, "conversations", "no_sandbox", presets=spec.presets)
    return NewRun(settings, (), masker(spec.redaction), growing={"families", "seeds"})


def forecast(spec: TrialSpec) -> list[ModelUse]:
    """What models would be asked if the agent followed the plan; nothing where none is asked."""
    writer = spec.how.model(spec.writer)
    is_writer_asked = is_asked(writer)
    if spec.is_reader and not is_writer_asked:
        return []
    agent_use = ModelUse("", model_name(spec.agent))
    writer_use = ModelUse("", writer.name)
    job = TrialJob.of(spec).with_spec(spec.changed(agent=READER))
    for family in spec.families:
        [task] = tasks(family, [0])
        window = _window(job, task)
        begun_task = _begun(job, task)
        filler = FillerModel(writer.name)
        planned_writer = filler if is_writer_asked else writer
        task_count = len(seeds_of(family, spec.seeds))
        for strategy in job.presets:
            planned_trial = _planned_trial(job, begun_task, strategy, window, planned_writer)
            use = _use_of(planned_trial, agent_use.model)
            agent_use = sum([use] * task_count, agent_use)
        writer_use = sum([filler.use] * task_count, writer_use)
    uses = []
    if not spec.is_reader:
        uses.append(agent_use)
    if is_writer_asked:
        uses.append(writer_use)
    return uses


def _rows(job: TrialJob, place: tuple[str, int]) -> list[Row]:
    """The trials of one task, the uncompacted one first; those on disk are not done again."""
    family, seed = place
    [task] = tasks(family, [seed])
    window = _window(job, task)
    begun_task = _begun(job, task)
    rows = []
    for strategy in job.presets:
        strategy_trial = job.trial_of(begun_task, strategy, window)
        rows.append(strategy_trial.row())
    return rows


def _lost_rows(job: TrialJob, place: tuple[str, int]) -> list[Row]:
    """The trials of a task that killed its workers."""
    family, seed = place
    rows = []
    for strategy in job.presets:
        row = job.columns_of(family, seed, strategy)
        row["status"] = "failed"
        row["reason"] = DIED
        rows.append(row)
    return rows


def _begun(job: TrialJob, task: TrialTask) -> TrialTask:
    """The task, or what the plan leaves of it to the agent."""
    turns = job.spec.turns
    if turns is None or turns >= len(task.turns):
        return task
    name = key("beginning", job.codes["none"], task, turns)
    beginning = job.folder.made(name, lambda: dict(beginning_of(task, turns)))
    return begun(task, turns, beginning)


def _window(job: TrialJob, task: TrialTask) -> int:
    """As given, or a share of the largest request of the agent without a model and without
    compaction.
    """
    spec = job.spec
    if spec.window is not None:
        return spec.window
    measured_spec = spec.changed(
        agent=READER,
        steps=MEASURED.steps,
        seconds=MEASURED.seconds,
        output=None,
        conversations=False,
    )
    measured_job = job.with_spec(measured_spec)
    row = measured_job.trial_of(task, preset("none"), UNBOUNDED).row()
    if row["status"] != "ok":
        raise SettingError(f"the task {task.name} cannot be measured: {row['reason']}")
    largest_request = float(row["peak"] or 0)
    return max(int(spec.share * largest_request), LEAST_WINDOW)


def _planned_trial(
    job: TrialJob, task: TrialTask, strategy: Preset, window: int, writer: Model
) -> Trial:
    """A trial whose agent follows the plan."""
    with opened(task, sandbox=False) as workspace:
        return work(
            task,
            ReaderAgent(),
            strategy,
            workspace,
            window=window,
            tariff=known_tariff(job.spec.price_model),
            writer=writer,
        )


def _use_of(trial: Trial, agent: str) -> ModelUse:
    """What a model of this name would be asked if it did as in this trial."""
    read = trial.tokens - trial.output
    usd = usd_of(agent, read, trial.output)
    return ModelUse("", agent, trial.steps, read, trial.output, usd)


def _keep_conversation(spec: TrialSpec, task: TrialTask, strategy: Preset, trial: Trial) -> None:
    """Write a trial's conversation down, and what the agent knew when it began."""
    conversation = {
        "messages": trial.messages,
        "start": trial.start,
        "opening": trial.opening,
    }
    file = spec.folder / "conversations" / f"{strategy.name}-{task.family}-{task.seed}.json"
    write_atomically(file, json.dumps(conversation, ensure_ascii=False, indent=1) + "\n")
