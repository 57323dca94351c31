"""Compares strategies on sessions: the run, from its specification to its tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import Self, Unpack

from workbench.base.errors import SettingError, UnknownName
from workbench.base.palette import REFERENCES
from workbench.base.registry import extension
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.combined import replicated
from workbench.evaluation.experiment.figures_so_far import FiguresSoFar, RecallSoFar, Words
from workbench.evaluation.experiment.forecast import (
    Forecast,
    forecast_of,
    no_forecast,
    together,
)
from workbench.evaluation.experiment.job import Crew, folder_of, local_servers
from workbench.evaluation.experiment.keys import described
from workbench.evaluation.experiment.preliminary import forget
from workbench.evaluation.experiment.processes import lasting_workers
from workbench.evaluation.experiment.replacement import NewRun, check_replaceable
from workbench.evaluation.experiment.replay_work import ReplayJob
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_files import write_run
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.settings import RunSettings
from workbench.evaluation.experiment.sources import (
    SessionSource,
    What,
    default_model_for,
    limited,
    sources_of,
)
from workbench.evaluation.experiment.spec import RunSpec, chosen_baseline, with_references
from workbench.evaluation.experiment.units import Unit, lost_unit, replay_unit, units_of


@documented(RunSpec)
def compare(
    what: What = (),
    *,
    spec: RunSpec | None = None,
    simulate: bool = True,
    **settings: Unpack[RunSettings],
) -> Results:
    """Replay sessions under strategies, score them, and write a run folder.

    A run resumes: finished replays are not computed again. Unreadable files and failed replays are
    rows with a reason.

    Args:
        what: files, folders, patterns or sessions; none: the bundled sessions.
        spec: a specification made before; further settings change it.
        simulate: whether to simulate too where no model has to be asked, so that the bill pays
            look-ups.
        **settings: the fields of `RunSpec`.

    Raises:
        SettingError: a setting has a wrong value, there is nothing to read, or the folder holds a
            finished run of other strategies, sessions or settings.
        SetupError: no scheduler answers.
        UnknownName: no strategy or model of that name.
    """
    if not isinstance(simulate, bool):
        raise SettingError(f"simulate is {simulate!r:.80}; True or False would be accepted")
    sources = sources_of(what)
    run_spec = RunSpec.of(spec, settings)
    run = Run.of(sources, run_spec)
    with run.claimed():
        return finished(run, simulate)


def finished(run: Run, simulate: bool = True) -> Results:
    """Do a run in a folder that is claimed, and its simulation where that is wanted."""
    with lasting_workers():
        results = compared(run)
        if simulate:
            simulate_too(run, results)
        return results


def compared(run: Run, words: Words | None = None) -> Results:
    """The results of a run with all its replicates; `words` as of `Run.results`."""
    if run.job.spec.replicates == 1:
        return run.results(words)
    return replicated(run.replicate, run.job.spec.replicates, run.job.folder)


def simulate_too(run: Run, results: Results) -> None:
    """Keep a simulation beside a finished run; nothing without the laboratory."""
    simulate_beside = extension("simulate_beside")
    if simulate_beside is not None and not run.job.folder.address:
        simulate_beside(results, run.sources, run.job.spec)


@documented(RunSpec)
def forecast(
    what: What = (), *, spec: RunSpec | None = None, **settings: Unpack[RunSettings]
) -> Forecast:
    """Predict what `compare` would take with the same arguments: replays, tokens, requests and
    dollars.

    No provider is asked: strategies that would ask one are replayed with a model that answers with
    filler of the right length. It raises what `compare` raises.
    """
    sources = sources_of(what)
    run_spec = RunSpec.of(spec, settings)
    run = Run.of(sources, run_spec)
    return run.forecast()


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
        baseline = _baseline_of(spec, presets)
        places = [source.place for source in sources]
        descriptions = [described(preset) for preset in presets]
        parts: list[object] = [spec.settings(), descriptions, places]
        if spec.limit is not None:
            parts.append(spec.limit)
        folder = folder_of(spec, "compare", *parts)
        settings = ModelSettings.of_run(spec.model_settings, folder)
        settings = replace(settings, part=str(folder.resolve()), replicate=spec.seed)
        run_folder = RunFolder(folder, shares=spec.out is None)
        job = ReplayJob(spec, presets, run_folder, settings, baseline=baseline)
        return cls(tuple(sources), job)

    @contextmanager
    def claimed(self, free: Collection[str] = ()) -> Iterator[None]:
        """Keep the folder for this run until the `with` ends.

        Args:
            free: settings in which a finished run there may differ.

        Raises:
            SettingError: another process writes into it, or it holds a finished run that this one
                would take figures from.
        """
        job = self.job
        with job.folder.claimed():
            settings = {**job.spec.settings(), "replicates": job.spec.replicates}
            new_run = NewRun(settings, self.sources, job.masked, job.spec.limit, free)
            check_replaceable(job.folder, new_run)
            yield

    def results(self, words: Words | None = None) -> Results:
        """Do the run and write its tables.

        Args:
            words: says in lines what is known so far; a few boundaries of each session are then
                looked at first. None tells the names that each strategy keeps.
        """
        folder = self.job.folder
        folder.begin()
        forget(folder.path)
        sources = limited(self.sources, self.job.spec.limit)
        job = self._job_of_workers(serve=True)
        with job.crew("replaying and scoring", len(sources), sources=sources) as crew:
            so_far: RecallSoFar | FiguresSoFar = RecallSoFar(crew.bar, job.presets)
            if words is not None and self._has_early_figures(crew):
                so_far = FiguresSoFar.begun(job, sources, crew, words)
            with closing(so_far):
                so_far.preview(job, sources, crew)
                units = units_of(sources, job.presets, crew)
                results = crew.results(
                    units,
                    partial(replay_unit, job),
                    partial(lost_unit, job),
                    split=Unit.of_each_preset,
                    tell=so_far.add,
                )
            crew.bar.set_description_str("writing the tables")
            write_run(job, sources, results, crew)
            forget(folder.local)
        return Results.open(folder.local)

    def _has_early_figures(self, crew: Crew) -> bool:
        """Whether somebody looks on, and strategies are cut to the same size, under one model."""
        spec = self.job.spec
        somebody_looks_on = not crew.bar.disable
        return somebody_looks_on and bool(spec.shares) and len(spec.model) <= 1

    def forecast(self) -> Forecast:
        """What the run would take."""
        sources = limited(self.sources, self.job.spec.limit)
        job = self._job_of_workers(serve=False)
        with job.crew("counting calls", len(sources), sources=sources) as crew:
            forecasts = crew.results(
                units_of(sources, job.presets, crew),
                partial(forecast_of, job),
                no_forecast,
                tell=lambda unit, _: crew.bar.update(len(unit.presets) / len(job.presets)),
            )
        return together(forecasts, job.spec.replicates)

    def _job_of_workers(self, *, serve: bool) -> ReplayJob:
        """The job with all that workers must know: versions of the code, and the local servers
        of this machine where it is to serve.
        """
        spec = self.job.spec
        settings = self.job.model_settings
        # workers on another machine start their own servers
        is_server = serve and not settings.cache_only and not spec.scheduler
        servers = local_servers(spec.model) if is_server else ()
        settings = replace(settings, served=servers, machine=gethostname())
        job = replace(self.job, model_settings=settings)
        return job.with_codes()

    def replicate(self, place: int, names: Sequence[str], folder: Path) -> Results:
        """The run once more, under its strategies of these names (none: all), with another seed and
        folder.

        A name may say the model besides, as in `summarize (litellm:gpt-4o-mini)`.
        """
        spec = self.job.spec
        baseline_name = ""
        if self.job.baseline is not None:
            baseline_name = self.job.baseline.name
        strategies = []
        for strategy, name in zip(spec.strategies, spec.names, strict=True):
            is_baseline = name == baseline_name
            if not names or is_baseline or _is_named(name, names):
                strategies.append(strategy)
        replicate_spec = spec.changed(
            strategies=strategies,
            baseline=baseline_name,
            seed=spec.seed + place,
            replicates=1,
            out=folder,
            model_settings=self.job.model_settings,
        )
        run = Run.of(self.sources, replicate_spec)
        return run.results()


def _baseline_of(spec: RunSpec, presets: Sequence[Preset]) -> Preset | None:
    """The strategy that is cut to the sizes of the others; None where that is a reference.

    Raises:
        UnknownName: the run has no strategy of the name that was given.
    """
    by_name = {preset.name: preset for preset in presets}
    names = (*by_name, *REFERENCES)
    if spec.baseline and spec.baseline not in names:
        raise UnknownName("strategy of this run", spec.baseline, names)
    name = chosen_baseline(spec.baseline, list(by_name))
    if name is None or name in REFERENCES:
        return None
    return by_name.get(name)


def _is_named(name: str, given_names: Sequence[str]) -> bool:
    """Whether a strategy is among the given names, which may say the model besides."""
    with_model = f"{name} ("
    return any(
        given_name == name or given_name.startswith(with_model) for given_name in given_names
    )
