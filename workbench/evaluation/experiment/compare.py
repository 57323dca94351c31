"""Compares strategies on sessions: the run, from files to tables, and what it would take,
without asking any model.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from socket import gethostname
from time import time
from typing import Self, Unpack

from workbench.base.errors import UnknownName
from workbench.base.palette import REFERENCES
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment.combined import replicated
from workbench.evaluation.experiment.figures_so_far import FiguresSoFar, RecallSoFar, Words
from workbench.evaluation.experiment.filler import ModelUse, is_asked
from workbench.evaluation.experiment.job import Crew, folder_of, local_servers
from workbench.evaluation.experiment.keys import described
from workbench.evaluation.experiment.preliminary import forget
from workbench.evaluation.experiment.prepared import read
from workbench.evaluation.experiment.run_files import write_run
from workbench.evaluation.experiment.settings import RunSettings
from workbench.evaluation.experiment.shards import Shard, lost, shards, work
from workbench.evaluation.experiment.sources import (
    SessionSource,
    What,
    default_model_for,
    limited,
    sources_of,
)
from workbench.evaluation.experiment.spec import (
    RunSpec,
    chosen_baseline,
    documented,
    with_references,
)
from workbench.evaluation.experiment.store import Results, RunFolder
from workbench.evaluation.experiment.work import ReplayJob


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do.

    Attributes:
        sessions: that can be replayed.
        unreadable: files and sessions that cannot.
        replays: of the run, and `done` those of them that are on disk already.
        tokens: of the sessions of all replays still to do.
        asked: of language models, by strategy; estimated as if every summary took all the room that
            it may, none were in the cache and no provider gave a discount, so that a run seldom
            costs more.
    """

    sessions: int
    unreadable: int
    replays: int
    done: int
    tokens: int
    asked: tuple[ModelUse, ...] = ()

    @property
    def requests(self) -> int:
        """Questions to real models."""
        return sum(use.requests for use in self.asked)

    @property
    def usd(self) -> float | None:
        """Dollars; None where a price is not known."""
        return sum(self.asked, ModelUse("", "")).usd


def together(parts: Sequence[Forecast], times: int = 1) -> Forecast:
    """Several forecasts as one; requests to models are made so many times."""
    uses: dict[tuple[str, str], ModelUse] = {}
    for _ in range(times):
        for part in parts:
            for use in part.asked:
                name = use.strategy, use.model
                uses[name] = uses.get(name, ModelUse(*name)) + use
    return Forecast(
        sessions=sum(part.sessions for part in parts),
        unreadable=sum(part.unreadable for part in parts),
        replays=sum(part.replays for part in parts),
        done=sum(part.done for part in parts),
        tokens=sum(part.tokens for part in parts),
        asked=tuple(uses[name] for name in sorted(uses)),
    )


def _forecast_of(job: ReplayJob, shard: Shard) -> Forecast:
    """What a shard would do; each source is counted once, with the first of its shards."""
    spec = job.spec
    recording = read(shard.source, spec.window, redaction=spec.redaction)
    sessions = recording.ready[: shard.source.most]
    replay_count = kept_count = tokens = 0
    uses: list[ModelUse] = []
    for prepared in sessions:
        for preset in shard.presets:
            for replay in job.replays_of(prepared, preset):
                replay_count += 1
                if job.is_kept(replay):
                    kept_count += 1
                    continue
                tokens += sum(prepared.sizing.sizes)
                if is_asked(replay.model):
                    uses += replay.forecast()
    is_first = shard.presets[0] == job.presets[0]
    return Forecast(
        sessions=len(sessions) if is_first else 0,
        unreadable=len(recording.unreadable) if is_first else 0,
        replays=replay_count,
        done=kept_count,
        tokens=tokens,
        asked=tuple(uses),
    )


def _no_forecast(shard: Shard) -> Forecast:
    """Of a shard that killed its workers nothing is known."""
    return Forecast(0, 0, 0, 0, 0)


@documented(RunSpec)
def compare(
    what: What = (), *, spec: RunSpec | None = None, **settings: Unpack[RunSettings]
) -> Results:
    """Replay sessions under strategies, score them, and write a run folder.

    A run resumes: finished replays are not computed again. Unreadable files and failed replays are
    rows with a reason.

    Args:
        what: files, folders, patterns or sessions; none: the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `RunSpec`.

    Raises:
        SettingError: a setting has a wrong value, or there is nothing to read.
        SetupError: no scheduler answers.
        UnknownName: no strategy or model of that name.
    """
    return compared(Run.of(sources_of(what), RunSpec.of(spec, settings)))


def compared(run: Run, words: Words | None = None) -> Results:
    """The results of a run with all its replicates; `words` as of `Run.results`."""
    if run.job.spec.replicates == 1:
        return run.results(words)
    return replicated(run.replicate, run.job.spec.replicates, run.job.folder)


@documented(RunSpec)
def forecast(
    what: What = (), *, spec: RunSpec | None = None, **settings: Unpack[RunSettings]
) -> Forecast:
    """Predict what `compare` would take with the same arguments: replays, tokens, requests and
    dollars.

    No provider is asked: strategies that would ask one are replayed with a model that answers with
    filler of the right length. It raises what `compare` raises.
    """
    return Run.of(sources_of(what), RunSpec.of(spec, settings)).forecast()


@dataclass(frozen=True, slots=True)
class Run:
    """A run before it begins: everything is checked, nothing is read."""

    sources: tuple[SessionSource, ...]
    job: ReplayJob

    @classmethod
    def of(cls, sources: Sequence[SessionSource], spec: RunSpec) -> Self:
        """The run of these sources."""
        spec = spec.with_default_model(default_model_for(sources))
        presets = with_references(spec.strategies)
        names = [preset.name for preset in presets]
        if spec.baseline and spec.baseline not in (*names, *REFERENCES):
            raise UnknownName("strategy of this run", spec.baseline, (*names, *REFERENCES))
        baseline_name = chosen_baseline(spec.baseline, names)
        baseline = None
        for preset in presets:
            if preset.name == baseline_name and baseline_name not in REFERENCES:
                baseline = preset
        places = [source.place for source in sources]
        parts = (spec.settings(), [described(preset) for preset in presets], places)
        folder = folder_of(spec, "compare", *parts)
        settings = ModelSettings.of_run(spec.model_settings, folder)
        settings = replace(settings, part=str(folder.resolve()), replicate=spec.seed)
        run_folder = RunFolder(folder, shares=spec.out is None)
        job = ReplayJob(spec, presets, run_folder, settings, baseline=baseline)
        return cls(tuple(sources), job)

    def results(self, words: Words | None = None) -> Results:
        """Do the run and write its tables.

        Args:
            words: says in lines what is known so far; a few boundaries of each session are then
                looked at first. None tells the names that each strategy keeps.
        """
        begun = time()
        self.job.folder.begin()
        forget(self.job.folder.path)
        sources = limited(self.sources, self.job.spec.limit)
        job = self._job_of_workers(serve=True)
        with job.crew("replaying and scoring", len(sources), sources=sources) as crew:
            figures: RecallSoFar | FiguresSoFar = RecallSoFar(crew.bar, job.presets)
            if words is not None and self._has_early_figures(crew):
                figures = FiguresSoFar.begun(job, sources, crew, words)
            with closing(figures):
                figures.preview(job, sources, crew)
                results = crew.results(
                    shards(sources, job.presets, crew.workers.size),
                    partial(work, job),
                    partial(lost, job),
                    split=Shard.of_each_preset,
                    tell=figures.add,
                )
            crew.bar.set_description_str("writing the tables")
            merging_workers = crew.workers if job.merges_by_workers else None
            write_run(job, sources, results, begun, merging_workers)
            forget(job.folder.local)
        return Results.open(job.folder.local)

    def _has_early_figures(self, crew: Crew) -> bool:
        """Whether somebody looks on, and strategies are cut to the same size, under one model."""
        spec = self.job.spec
        return not crew.bar.disable and bool(spec.shares) and len(spec.model) <= 1

    def forecast(self) -> Forecast:
        """What the run would take."""
        sources = limited(self.sources, self.job.spec.limit)
        job = self._job_of_workers(serve=False)
        with job.crew("counting calls", len(sources), sources=sources) as crew:
            forecasts = crew.results(
                shards(sources, job.presets, crew.workers.size),
                partial(_forecast_of, job),
                _no_forecast,
                tell=lambda shard, _: crew.bar.update(len(shard.presets) / len(job.presets)),
            )
        return together(forecasts, job.spec.replicates)

    def _job_of_workers(self, *, serve: bool) -> ReplayJob:
        """The job with all that workers must know: versions of the code, and the local servers
        of this machine where it is to serve.
        """
        spec, settings = self.job.spec, self.job.model_settings
        # workers on another machine start their own servers
        is_server = serve and not settings.cache_only and not spec.scheduler
        servers = local_servers(spec.model) if is_server else ()
        settings = replace(settings, served=servers, machine=gethostname())
        return replace(self.job, model_settings=settings).with_codes()

    def replicate(self, place: int, names: Sequence[str], folder: Path) -> Results:
        """The run once more, under its strategies of these names (none: all), with another seed and
        folder.

        A name may say the model besides, as in `summarize (litellm:gpt-4o-mini)`.
        """
        spec = self.job.spec
        baseline_name = self.job.baseline.name if self.job.baseline is not None else ""
        strategies = []
        for strategy, name in zip(spec.strategies, spec.names, strict=True):
            is_named = any(
                given_name == name or given_name.startswith(f"{name} (") for given_name in names
            )
            if not names or name == baseline_name or is_named:
                strategies.append(strategy)
        replicate_spec = spec.changed(
            strategies=strategies,
            baseline=baseline_name,
            seed=spec.seed + place,
            replicates=1,
            out=folder,
            model_settings=self.job.model_settings,
        )
        return Run.of(self.sources, replicate_spec).results()
