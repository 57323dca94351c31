"""Simulations of recorded sessions under strategies, with their tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self, Unpack

from workbench.base.errors import SettingError, Unanswered
from workbench.base.formats import some
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.likelihood import CachedLikelihood
from workbench.engine.models.settings import ModelSettings
from workbench.engine.models.weights import weights
from workbench.engine.transcript.redaction import masker
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel, ModelUse, is_asked
from workbench.evaluation.experiment.job import Job, KeptWork, folder_of
from workbench.evaluation.experiment.prepared import Prepared, Recording, read
from workbench.evaluation.experiment.replacement import NewRun
from workbench.evaluation.experiment.replay_work import READS_SESSIONS
from workbench.evaluation.experiment.run_files import unique_name
from workbench.evaluation.experiment.run_folder import LOOK_UPS_FILE, SIMULATED_FILE, RunFolder
from workbench.evaluation.experiment.sources import (
    SessionSource,
    What,
    default_model_for,
    limited,
    sources_of,
)
from workbench.evaluation.experiment.spec import (
    model_name,
)
from workbench.evaluation.experiment.table_columns import typed
from workbench.evaluation.experiment.table_replacement import (
    UNASKED,
    check_table_replaceable,
    how_made,
    settings_of,
    write_notes,
)
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.lexical import Lexical
from workbench.lab.judge.exam.readers import Answered, CandidateLikelihood, Choice, ModelReader
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.simulated_rows import LOOK_UPS, SIMULATED, Row, simulated_row
from workbench.lab.simulation.simulation_spec import SimulationSettings, SimulationSpec

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Simulation:
    """What agents that know only what their context tells had to do.

    Attributes:
        simulated: a row a session and strategy.
        look_ups: a row a thing that a context did not tell: looked up again, or why not.
        failed: sessions and strategies that could not be simulated, one sentence each.
        left_out: what sessions report of their sizes and times that cannot be true, one sentence
            each.
    """

    simulated: pd.DataFrame
    look_ups: pd.DataFrame
    failed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SimulationJob(Job[SimulationSpec]):
    """The simulations of a specification."""

    @classmethod
    def of(cls, sources: Sequence[SessionSource], spec: SimulationSpec) -> Self:
        """The job over these sources, with the version of the code behind each strategy."""
        if not spec.model:
            spec = spec.changed(model=default_model_for(sources))
        find_model(spec.model)  # refuses an unknown name before anything runs
        presets = tuple(preset(strategy) for strategy in spec.strategies)
        settings = [
            spec.window,
            spec.reader,
            spec.redaction,
            spec.price_model,
            spec.prices,
            model_name(spec.model),
        ]
        names = [source.name for source in sources]
        folder = folder_of(spec, "simulate", settings, list(presets), names)
        by_name = {strategy.name: strategy for strategy in presets}
        begins = ["workbench.lab.simulation.simulate"]
        return cls(
            spec,
            presets,
            RunFolder(folder),
            ModelSettings.of_run(spec.model_settings, folder),
            code_versions(begins, by_name, READS_SESSIONS, folder),
        )

    def new_table(self, sources: Sequence[SessionSource]) -> NewRun:
        """The table of these sources before it is made.

        Raises:
            SettingError: the folder holds a simulation that this one would take rows of.
        """
        settings = settings_of(self.spec, presets=self.presets)
        new_table = NewRun(settings, sources, masker(self.spec.redaction))
        check_table_replaceable(self.folder.path / SIMULATED_FILE, new_table)
        return new_table

    def recording(self, source: SessionSource) -> Recording:
        """What a source holds."""
        return read(source, self.spec.window, redaction=self.spec.redaction)


@dataclass(frozen=True, slots=True)
class SimulationWork(KeptWork):
    """A session under a strategy."""

    job: SimulationJob
    prepared: Prepared
    needs: Needs
    strategy: Preset

    def key_parts(self) -> tuple[object, ...]:
        """See `KeptWork`."""
        spec = self.job.spec
        return (
            self.job.codes[self.strategy.name],
            self.prepared.content,
            self.strategy,
            self.prepared.window,
            spec.reader,
            model_name(spec.model),
            spec.price_model,
            spec.prices,
            spec.redaction,
        )

    def make(self) -> Row:
        """Follow the recorded actions."""
        job = self.job
        return simulated_row(self.prepared, self.strategy, self.needs, job.spec, job.model_settings)

    def row(self) -> Row:
        """The simulation's row, from disk where it is there; else `failed` or `awaited` with the
        reason.

        Raises:
            Unanswered: a model gave no answer, and nobody answers later in a folder.
            SetupError: something is missing that a model needs.
        """
        outcome = self.job.outcome(self)
        if outcome.result is not None:
            return outcome.result
        if outcome.error is not None and outcome.is_pending:
            if not self._is_answered_later:
                raise outcome.error
            return {"awaited": outcome.reason}  # the others have requests of their own
        return {
            "failed": f"{self.prepared.session.id} under {self.strategy.name}: {outcome.reason}"
        }

    @property
    def _is_answered_later(self) -> bool:
        """Whether somebody writes the answers of the reader or of the writer into a folder."""
        spec = self.job.spec
        models = (spec.reader, spec.model)
        return any(isinstance(model, str) and model.startswith("folder:") for model in models)


@documented(SimulationSpec)
def simulate(
    sessions: What = (),
    spec: SimulationSpec | None = None,
    **settings: Unpack[SimulationSettings],
) -> Simulation:
    """Follow the recorded actions of sessions under strategies; what a context does not tell is
    looked up again.

    From the first compaction on, each action waits until its context tells what its words and
    arguments hold of the history: see docs/closed-loop.md. The same call continues where a stopped
    one ended. Both tables are written into its folder (`out`); in the folder of a comparison they
    become a part of its report.

    Args:
        sessions: files, folders, patterns or sessions; none: the bundled sessions.
        spec: settings to begin with.
        **settings: the fields of `SimulationSpec`.

    Raises:
        SettingError: a setting is wrong, there is nothing to simulate, or the folder holds a
            simulation that this one would take rows of.
        UnknownName: no strategy or model of that name.
        Unanswered: a model gave no answer; what is finished is kept.
    """
    spec = SimulationSpec.of(spec, settings)
    return simulated(sources_of(sessions), spec)


def simulated(
    sources: Sequence[SessionSource], spec: SimulationSpec, *, unasked: bool = False
) -> Simulation:
    """As `simulate`, of these sources.

    Args:
        sources: what is read.
        spec: all settings.
        unasked: whether a comparison or advice made it by itself, so that any may take its place.
    """
    sources = limited(sources, spec.limit)
    job = SimulationJob.of(sources, spec)
    new_table = job.new_table(sources)
    with (
        job.folder.claimed(),
        job.crew("following recorded actions", len(sources), sources=sources) as crew,
    ):
        rows_by_source = crew.results(sources, partial(_rows, job), _lost_rows)
    rows = _named_apart(rows_by_source)
    awaited = [row["awaited"] for row in rows if "awaited" in row]
    if awaited:
        simulations_wait = some(len(rows), "simulation waits", "simulations wait")
        raise Unanswered(f"{len(awaited)} of {simulations_wait}: {awaited[0]}")
    simulation = _tables(rows, spec.blind_step_cost)
    tables = {
        SIMULATED_FILE: simulation.simulated,
        LOOK_UPS_FILE: simulation.look_ups,
    }
    for name, table in tables.items():
        content = table.to_parquet(index=False)
        write_atomically(job.folder.path / name, content)
    notes = {**how_made(new_table), UNASKED: unasked}
    write_notes(job.folder.path / SIMULATED_FILE, notes)
    return simulation


@documented(SimulationSpec)
def forecast(
    sessions: What = (),
    spec: SimulationSpec | None = None,
    **settings: Unpack[SimulationSettings],
) -> dict[str, ModelUse]:
    """What real models would be asked if they read as the lexical reader does, by purpose; empty
    where none is named.

    Args:
        sessions: as for `simulate`.
        spec: settings to begin with.
        **settings: the fields of `SimulationSpec`.
    """
    spec = SimulationSpec.of(spec, settings)
    sources = limited(sources_of(sessions), spec.limit)
    job = SimulationJob.of(sources, spec)
    job.new_table(sources)  # refuses before anybody is asked whether to go on
    fillers: dict[str, FillerModel] = {}
    reader = None
    if spec.reader != "lexical":
        model = job.model_settings.model(spec.reader)
        if is_asked(model):
            is_cached = job.model_settings.use_cache
            fillers["the reader"] = FillerModel(model.name, is_cached=is_cached)
            reader = FillerReader(fillers["the reader"])
    counted_spec = job.spec
    writer = job.model_settings.model(job.spec.model)
    if is_asked(writer):
        fillers["summaries"] = FillerModel(writer.name)
        counted_spec = job.spec.changed(model=fillers["summaries"])
    if not fillers:
        return {}
    for source in sources:
        for prepared in job.recording(source).ready[: source.most]:
            needs = Needs(prepared, reader)
            for strategy in job.presets:
                with suppress(SettingError):
                    simulated_row(prepared, strategy, needs, counted_spec)
    return {purpose: filler.use for purpose, filler in fillers.items()}


class FillerReader(Choice):
    """Puts each question to a model that only counts it, and answers as the lexical reader does."""

    def sit(self, items: Sequence[Item], context: str) -> list[Answered]:
        """See `ModelReader`."""
        super().sit(items, context)
        credits = Lexical().read(items, (context,))
        return [Answered(float(credit)) for credit in credits]


def _tables(rows: list[Row], blind_step_cost: float) -> Simulation:
    simulated: list[Row] = []
    failed: list[str] = []
    left_out: list[str] = []
    for row in rows:
        if "failed" in row:
            failed.append(row["failed"])
        elif "left_out" in row:
            left_out.append(row["left_out"])
        else:
            simulated.append(row)
    if not simulated:
        raise SettingError("; ".join(failed) or "no session could be simulated")
    look_ups: list[Row] = []
    for row in simulated:
        row["saved_usd_blind"] = None
        if row["saved_usd_net"] is not None:
            paid = blind_step_cost * row["blind_steps"] * row["step_usd"]
            row["saved_usd_blind"] = row["saved_usd_net"] - paid
        look_ups += row["look_ups_rows"]
    return Simulation(
        simulated=typed(simulated, SIMULATED),
        look_ups=typed(look_ups, LOOK_UPS),
        failed=tuple(failed),
        left_out=tuple(left_out),
    )


def _rows(job: SimulationJob, source: SessionSource) -> list[Row]:
    """The rows of a source: those on disk are not made again."""
    recording = job.recording(source)
    rows: list[Row] = []
    for unreadable in recording.unreadable:
        if not unreadable.is_prose:
            rows.append({"failed": str(unreadable)})
    for prepared in recording.ready[: source.most]:
        for reports in prepared.left_out:
            rows.append({"left_out": f"{prepared.session.id}: {reports}"})
        needs = Needs.of(prepared, reader_of(job.spec.reader, job.model_settings))
        for strategy in job.presets:
            work = SimulationWork(job, prepared, needs, strategy)
            row = work.row()
            row.setdefault("session", prepared.session.id)
            rows.append(row)
    return rows


def _named_apart(rows_by_source: Iterable[Sequence[Row]]) -> list[Row]:
    """All rows, with the names that a comparison of the same sources gives their sessions: ids are
    unique in a source, and two sources may have the same.
    """
    rows: list[Row] = []
    used_names: set[str] = set()
    for source_rows in rows_by_source:
        names: dict[str, str] = {}
        for row in source_rows:
            if "session" not in row:
                rows.append(row)
                continue
            session = row["session"]
            if session not in names:
                names[session] = unique_name(session, used_names)
            rows.append(_of_session(row, names[session]))
    return rows


def _of_session(row: Row, name: str) -> Row:
    """A row of `simulated` with its look-ups, of a session of this name."""
    look_ups: list[Row] = []
    for look_up in row.get("look_ups_rows", ()):
        look_ups.append({**look_up, "session": name})
    return {
        **row,
        "session": name,
        "look_ups_rows": look_ups,
    }


def _lost_rows(source: SessionSource) -> list[Row]:
    """The row of a source that killed its workers."""
    return [{"failed": f"{source.name}: its worker died"}]


def reader_of(name: str, settings: ModelSettings) -> ModelReader | None:
    """The reader of that name; None is the lexical one."""
    if name == "lexical":
        return None
    if not name.startswith("local"):
        return Choice(settings.model(name))
    _, _, weights_name = name.partition(":")
    likelihood = CachedLikelihood.of(weights(weights_name or "gemma"))
    return CandidateLikelihood(likelihood)
