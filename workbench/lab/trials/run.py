"""Trials of agents on tasks that run: families, seeds and strategies, on workers, resumed where
they stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, ClassVar, Self, Unpack

from pydantic import AfterValidator, BeforeValidator, Field

from workbench.base.errors import SettingError, UnknownName
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import require_language_model, shown_name
from workbench.engine.models.model import Model
from workbench.engine.models.prices import Tariff
from workbench.engine.models.settings import ModelSettings
from workbench.engine.transcript.redaction import masker
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel, ModelUse, is_asked, usd_of
from workbench.evaluation.experiment.job import Job, KeptWork, folder_of, local_servers
from workbench.evaluation.experiment.keys import described, key
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.settings import (
    ExecutionSettings,
    MaskingSettings,
    NameList,
    StrategyList,
)
from workbench.evaluation.experiment.spec import (
    DEFAULT_STRATEGIES,
    Execution,
    Flag,
    Masking,
    OneModel,
    Share,
    Strategies,
    Whole,
    documented,
    listed,
    model_name,
    with_references,
)
from workbench.evaluation.experiment.store import RunFolder
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.lab.trials.agents import Agent, ModelAgent, ReaderAgent
from workbench.lab.trials.beginning import beginning_of, begun
from workbench.lab.trials.bundled import (
    BUNDLED,
    HARD,
    bundled_names,
    hard_names,
    scripted_names,
    seeds_of,
)
from workbench.lab.trials.families import FAMILIES, tasks
from workbench.lab.trials.grading import grade
from workbench.lab.trials.helper_client import HelperWorkspace, require_sandbox
from workbench.lab.trials.loop import Limits, Trial, work
from workbench.lab.trials.repeats import repeats
from workbench.lab.trials.table import TrialResults
from workbench.lab.trials.task import TrialTask

READER = "reader"
UNBOUNDED = 10_000_000
"""The window of the trial without compaction."""
SMALLEST = 1_000
MEASURED = Limits()
"""Of the trial that measures a task, whatever the others' are."""
GRADING_SECONDS = 5.0
"""That grading has in any case, also where the agent took all of the trial's time."""
DIED = "its worker process died, perhaps because memory ran out; the same command tries again"


def _families(names: tuple[str, ...]) -> tuple[str, ...]:
    groups = {BUNDLED: bundled_names(), HARD: hard_names()}
    families = tuple(family for name in names for family in groups.get(name, (name,)))
    for name in families:
        if name not in (*FAMILIES, *scripted_names()):
            raise UnknownName("family of tasks", name, (*FAMILIES, *groups, *scripted_names()))
    return tuple(dict.fromkeys(families)) or tuple(FAMILIES)


class TrialSpec(Masking, Execution):
    """Which agent works on which tasks, under which strategies."""

    may_lie_in_store: ClassVar[bool] = False

    agent: OneModel = Field(
        READER, description="Agent: reader, which needs no model, or the name of a model."
    )
    families: Annotated[tuple[str, ...], BeforeValidator(listed), AfterValidator(_families)] = (
        Field(
            (),
            description=(
                "Families of tasks, between commas; none: all that are made from seeds. bundled:"
                " the ten bundled tasks, which have one seed. hard: three that fail without what"
                " was said at their start. Or their names."
            ),
            validate_default=True,
        )
    )
    seeds: Whole = Field(5, ge=1, description="Tasks of each family, which differ in their values.")
    strategies: Strategies = Field(
        DEFAULT_STRATEGIES,
        description="Strategies: names, or presets of your own; none and null are added.",
    )
    writer: OneModel = Field("extractive", description="Model that writes summaries.")
    window: Whole | None = Field(
        None,
        ge=SMALLEST,
        description="Context window in tokens; None takes a share of the task's largest request.",
    )
    share: Share = Field(0.4, description="That share, where no window is given.")
    price_model: Annotated[str, AfterValidator(lambda name: known_tariff(name) and name)] = Field(
        ASSUMED, description="Whose prices the agent without a model pays."
    )
    turns: Whole | None = Field(
        None,
        ge=1,
        description=(
            "Turns of the user, the last ones, that the agent works; the plan works those before,"
            " in the same way under each strategy. None: all."
        ),
    )
    no_references: Flag = Field(False, description="Do not add none and null to the strategies.")
    output: Whole | None = Field(
        None,
        ge=500,
        description=(
            "Characters of a tool's result that the agent is shown; None leaves it to the tools."
        ),
    )
    conversations: Flag = Field(
        False,
        description=(
            "Keep each trial's conversation in the folder `conversations`, as a session that the"
            " workbench reads; it has all that the agent was told."
        ),
    )
    steps: Whole = Field(
        400, ge=1, description="Answers of the agent after which a trial is stopped."
    )
    seconds: float = Field(
        600.0,
        gt=0,
        description="Seconds after which a trial is stopped, whatever its agent's commands do.",
    )
    no_sandbox: Flag = Field(
        False,
        description=(
            "Let a model's commands run as you, without bubblewrap: they may read and change every"
            " file that you may, and reach the network."
        ),
    )

    @property
    def is_reader(self) -> bool:
        """Whether the agent is the one without a model."""
        return self.agent == READER

    @property
    def presets(self) -> tuple[Preset, ...]:
        """What is tried: the strategies, between the references unless these are left out."""
        if self.no_references:
            return tuple(preset(strategy) for strategy in self.strategies)
        return with_references(self.strategies)

    @property
    def folder(self) -> Path:
        """Where trials are kept."""
        parts = {
            name: value
            for name, value in dict(self).items()
            if name not in Execution.model_fields and (name not in Masking.model_fields or value)
        }
        named = [
            strategy if isinstance(strategy, str) else described(strategy)
            for strategy in self.strategies
        ]
        plain = {
            **parts,
            "strategies": named,
            "agent": model_name(self.agent),
            "writer": model_name(self.writer),
        }
        return folder_of(self, "trial", plain)

    @property
    def how(self) -> ModelSettings:
        """How models are asked; limits count for the folder unless another run is named."""
        settings = ModelSettings.of_run(self.model_settings, self.folder)
        if settings.served:
            return settings
        models = [model for model in (self.agent, self.writer) if model != READER]
        return replace(settings, served=local_servers(models))


class TrialSettings(MaskingSettings, ExecutionSettings, total=False):
    """The fields of `TrialSpec` as a caller may give them."""

    agent: str | Model
    families: NameList
    seeds: int
    strategies: StrategyList
    writer: str | Model
    window: int | None
    share: float | str
    price_model: str
    turns: int | None
    no_references: bool
    output: int | None
    conversations: bool
    steps: int
    seconds: float
    no_sandbox: bool


@dataclass(frozen=True, slots=True)
class TrialJob(Job[TrialSpec]):
    """The trials of a specification."""

    @classmethod
    def of(cls, spec: TrialSpec) -> Self:
        """The job, with the version of the code behind a trial under each preset."""
        by_name = {strategy.name: strategy for strategy in (preset("none"), *spec.presets)}
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
        agent_model = None if spec.is_reader else self.model_settings.model(spec.agent)
        writer = self.model_settings.model(spec.writer)
        return TrialWork(self, task, strategy, window, agent_model, writer)

    def columns_of(self, family: str, seed: int, strategy: Preset) -> Row:
        """The columns that say which trial a row is about."""
        agent = shown_name(model_name(self.spec.agent))
        return {"strategy": strategy.name, "family": family, "seed": seed, "agent": agent}


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
        spec, settings = self.job.spec, self.job.model_settings
        parts: list[object] = [
            "trial",
            self.job.codes[self.strategy.name],
            self.task,
            self.strategy,
            READER if self.agent_model is None else settings.seal(self.agent_model),
            model_name(spec.writer),
            settings.seal(self.writer),
            self.window,
            spec.price_model,
            self.limits,
            settings.replicate,
        ]
        if spec.redact:
            parts.append(spec.redaction)
        return parts

    def make(self) -> Row:
        """Let the agent work on the task, and grade it."""
        spec = self.job.spec
        keep = partial(_keep_conversation, spec, self.task, self.strategy)
        columns = attempt(
            self.task,
            ReaderAgent() if self.agent_model is None else ModelAgent(self.agent_model),
            self.strategy,
            sandbox=self.agent_model is not None and not spec.no_sandbox,
            window=self.window,
            tariff=known_tariff(spec.price_model),
            writer=self.writer,
            limits=self.limits,
            mask=masker(spec.redaction),
            keep=keep if spec.conversations else None,
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
        SettingError, UnknownName: a setting is wrong.
        SetupError: a model would run commands, and bubblewrap is not installed.
    """
    spec = TrialSpec.of(spec, settings)
    require_language_model(model_name(spec.agent))
    if not spec.is_reader and not spec.no_sandbox:
        require_sandbox()  # refuse before anything is asked
    if not before(forecast(spec)):
        return None
    job = TrialJob.of(spec)
    places = [(family, seed) for family in spec.families for seed in seeds_of(family, spec.seeds)]
    with job.crew("working on tasks", len(places), "task") as crew:
        rows_by_task = crew.results(places, partial(_rows, job), partial(_lost_rows, job))
    notes = {"agent": model_name(spec.agent), "seeds": spec.seeds, "families": list(spec.families)}
    return TrialResults.write(spec.folder, list(chain.from_iterable(rows_by_task)), notes)


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
        task = tasks(family, [0])[0]
        window = _window(job, task)
        begun_task = _begun(job, task)
        filler = FillerModel(writer.name)
        task_count = len(seeds_of(family, spec.seeds))
        for strategy in job.presets:
            planned_trial = _planned_trial(
                job, begun_task, strategy, window, filler if is_writer_asked else writer
            )
            use = _use_of(planned_trial, agent_use.model)
            agent_use = sum([use] * task_count, agent_use)
        writer_use = sum([filler.use] * task_count, writer_use)
    uses = []
    if not spec.is_reader:
        uses.append(agent_use)
    if is_writer_asked:
        uses.append(writer_use)
    return uses


@contextmanager
def opened(task: TrialTask, *, sandbox: bool) -> Iterator[HelperWorkspace]:
    """A workspace with the task's files, which is gone in the end.

    Raises:
        SetupError: the sandbox cannot be had.
    """
    with HelperWorkspace(task.folder, sandbox=sandbox) as workspace:
        task.set_up(workspace)
        yield workspace


def _rows(job: TrialJob, place: tuple[str, int]) -> list[Row]:
    """The trials of one task, the uncompacted one first; those on disk are not done again."""
    family, seed = place
    whole_task = tasks(family, [seed])[0]
    window = _window(job, whole_task)
    task = _begun(job, whole_task)
    return [job.trial_of(task, strategy, window).row() for strategy in job.presets]


def _lost_rows(job: TrialJob, place: tuple[str, int]) -> list[Row]:
    """The trials of a task that killed its workers."""
    return [
        {**job.columns_of(*place, strategy), "status": "failed", "reason": DIED}
        for strategy in job.presets
    ]


def _begun(job: TrialJob, task: TrialTask) -> TrialTask:
    """The task, or what the plan leaves of it to the agent."""
    turns = job.spec.turns
    if turns is None or turns >= len(task.turns):
        return task
    name = key("beginning", job.codes["none"], task, turns)
    return begun(task, turns, job.folder.made(name, lambda: dict(beginning_of(task, turns))))


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
    return max(int(spec.share * float(row["peak"] or 0)), SMALLEST)


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


def attempt(
    task: TrialTask,
    agent: Agent,
    way: Preset,
    *,
    sandbox: bool,
    window: int,
    tariff: Tariff,
    writer: Model | None = None,
    limits: Limits = MEASURED,
    mask: Callable[[str], str] = str,
    keep: Callable[[Trial], None] | None = None,
) -> Row:
    """Let an agent work on a task, and grade it; the columns that say what came of it.

    Whatever the agent does, this ends a few seconds after `limits.seconds`, and raises nothing for
    it.

    Raises:
        SetupError: the sandbox cannot be had.
        Unanswered: the agent's provider gave no answer.
    """
    with opened(task, sandbox=sandbox) as workspace:
        trial = work(
            task,
            agent,
            way,
            workspace,
            window=window,
            tariff=tariff,
            writer=writer,
            limits=limits,
            mask=mask,
        )
        if keep is not None:
            keep(trial)
        return _graded(task, workspace, trial)


def _keep_conversation(spec: TrialSpec, task: TrialTask, strategy: Preset, trial: Trial) -> None:
    """Write a trial's conversation down, and what the agent knew when it began."""
    conversation = {"messages": trial.messages, "start": trial.start, "opening": trial.opening}
    file = spec.folder / "conversations" / f"{strategy.name}-{task.family}-{task.seed}.json"
    write_atomically(file, json.dumps(conversation, ensure_ascii=False, indent=1) + "\n")


def _graded(task: TrialTask, workspace: HelperWorkspace, trial: Trial) -> Row:
    """The columns that say what came of a trial."""
    workspace.until = max(workspace.until, time.monotonic() + GRADING_SECONDS)
    graded = grade(task, workspace, trial.messages)
    failed_checks = [check for check in graded.checks if not check.passed]
    told_again = repeats(trial.messages, trial.start)
    return {
        "success": int(not failed_checks and not trial.stopped),
        "checks": len(graded.checks),
        "passed": len(graded.checks) - len(failed_checks),
        "violations": graded.violations,
        "reason": trial.stopped
        or "; ".join(f"{check.name}: {check.why}" for check in failed_checks),
        "steps": trial.steps,
        "calls": told_again.calls,
        "again": told_again.again,
        "tokens": trial.tokens,
        "peak": trial.peak,
        "usd": trial.usd,
        "compactions": trial.compactions,
        **trial.counts,
    }
