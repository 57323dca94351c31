"""Simulations of recorded sessions under strategies, with their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

from pydantic import Field

from workbench.base.errors import SettingError, Unanswered
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import shown_name
from workbench.engine.models.likelihood import CachedLikelihood
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.models.weights import weights
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel, ModelUse, is_asked
from workbench.evaluation.experiment.job import Job, KeptWork, folder_of
from workbench.evaluation.experiment.prepared import Prepared, Recording, read
from workbench.evaluation.experiment.prepared import replay as replay_of
from workbench.evaluation.experiment.replay_work import READS_SESSIONS
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.settings import (
    ExecutionSettings,
    MaskingSettings,
    PricedSettings,
    StrategyList,
)
from workbench.evaluation.experiment.sources import (
    SessionSource,
    What,
    default_model_for,
    limited,
    sources_of,
)
from workbench.evaluation.experiment.spec import (
    DEFAULT_STRATEGIES,
    Execution,
    Masking,
    Priced,
    model_name,
)
from workbench.evaluation.experiment.spec_fields import ModelOrNone, Strategies, Whole, Window
from workbench.evaluation.experiment.table_columns import typed
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.costs.replay_cost import ReplayCost, replay_cost
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.lexical import Lexical
from workbench.lab.judge.exam.readers import Answered, CandidateLikelihood, Choice, ModelReader
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.walk import ConsequenceWalk, LookUp, SimulationBill, bill

if TYPE_CHECKING:
    import pandas as pd

SIMULATED_FILE = "simulated.parquet"
BLIND = ("user", "decision", "result")
SIMULATED = {
    "session": "string",
    "project": "string",
    "strategy": "string",
    "window": "Int64",
    "reader": "string",
    "compactions": "Int64",
    "steps": "Int64",
    "look_ups": "Int64",
    "recalls": "Int64",
    "look_up_tokens": "Int64",
    "look_up_usd": "Float64",
    "blind_user": "Int64",
    "blind_decision": "Int64",
    "blind_result": "Int64",
    "spirals": "Int64",
    "steps_until_work": "Float64",
    "usd_uncompacted": "Float64",
    "saved_usd": "Float64",
    "saved_usd_net": "Float64",
    "blind_steps": "Int64",
    "step_usd": "Float64",
    "saved_usd_blind": "Float64",
}
LOOK_UPS = {
    "session": "string",
    "strategy": "string",
    "message": "Int64",
    "compaction": "Int64",
    "entity": "string",
    "kind": "string",
    "by": "string",
    "tool": "string",
    "said_at": "Int64",
    "source": "Int64",
    "tokens": "Int64",
}
DOLLARS = ("look_up_usd", "usd_uncompacted", "saved_usd", "saved_usd_net", "step_usd")
Row = dict[str, Any]


class SimulationSpec(Priced, Masking, Execution):
    """A simulation, without its sessions."""

    may_lie_in_store: ClassVar[bool] = False

    strategies: Strategies = Field(
        DEFAULT_STRATEGIES, description="Strategies: names, or presets of your own."
    )
    window: Window = Field(
        None, description="Context window in tokens; None takes each session's own."
    )
    reader: str = Field(
        "lexical",
        description=(
            "Says whether a context tells a thing: lexical, local (its weights) or the name of a"
            " model."
        ),
    )
    model: ModelOrNone = Field(
        "",
        description=(
            "Model that writes summaries; empty: as `compare` has it, extractive or bundled."
        ),
    )
    limit: Whole | None = Field(None, ge=1, description="Simulate at most this many sessions.")
    blind_step_cost: float = Field(
        2.0,
        ge=0,
        description=(
            "What an action costs whose context lacked what nobody can fetch again, in steps of the"
            " session without compaction: 2 where it is done in vain and then done again."
        ),
    )


class SimulationSettings(PricedSettings, MaskingSettings, ExecutionSettings, total=False):
    """The fields of `SimulationSpec` as a caller may give them."""

    strategies: StrategyList
    window: int | None
    reader: str
    model: str | Model
    limit: int | None
    blind_step_cost: float


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
        SettingError: a setting is wrong, or there is nothing to simulate.
        UnknownName: no strategy or model of that name.
        Unanswered: a model gave no answer; what is finished is kept.
    """
    spec = SimulationSpec.of(spec, settings)
    sources = limited(sources_of(sessions), spec.limit)
    job = SimulationJob.of(sources, spec)
    with job.crew("following recorded actions", len(sources), sources=sources) as crew:
        rows_by_source = crew.results(sources, partial(_simulated, job), _lost_rows)
    rows = list(chain.from_iterable(rows_by_source))
    awaited = [row["awaited"] for row in rows if "awaited" in row]
    if awaited:
        raise Unanswered(f"{len(awaited)} of {len(rows)} simulations wait: {awaited[0]}")
    simulation = _tables(rows, spec.blind_step_cost)
    folder = job.folder.path
    write_atomically(folder / SIMULATED_FILE, simulation.simulated.to_parquet(index=False))
    write_atomically(folder / "look_ups.parquet", simulation.look_ups.to_parquet(index=False))
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
    fillers: dict[str, FillerModel] = {}
    reader = None
    if spec.reader != "lexical":
        model = job.model_settings.model(spec.reader)
        if is_asked(model):
            fillers["the reader"] = FillerModel(model.name)
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


def _simulated(job: SimulationJob, source: SessionSource) -> list[Row]:
    """The rows of a source: those on disk are not made again."""
    recording = job.recording(source)
    rows: list[Row] = []
    for unreadable in recording.unreadable:
        if not unreadable.is_prose:
            rows.append({"failed": str(unreadable)})
    for prepared in recording.ready[: source.most]:
        for reports in prepared.left_out:
            rows.append({"left_out": f"{prepared.session.id}: {reports}"})
        needs = Needs(prepared, reader_of(job.spec.reader, job.model_settings))
        for strategy in job.presets:
            rows.append(SimulationWork(job, prepared, needs, strategy).row())
    return rows


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


def simulated_row(
    prepared: Prepared,
    strategy: Preset,
    needs: Needs,
    spec: SimulationSpec,
    how: ModelSettings | None = None,
) -> Row:
    """The row of the table `simulated`, with those of `look_ups` under `look_ups_rows`."""
    settings = how or ModelSettings()
    session = prepared.session
    prices = pricing(session, spec.price_model, spec.prices)
    writer = prepared.reader(settings.model(spec.model))
    walk = ConsequenceWalk(prepared, strategy, writer, needs, prepared.window)
    while not walk.done:
        walk.go_on()
    plain_replay = replay_of(prepared, strategy, model=spec.model, model_settings=settings)
    plain = replay_cost(plain_replay, prices)
    look_up_rows: list[Row] = []
    for look_up in walk.look_ups:
        row = {"session": session.id, "strategy": strategy.name, **_row(look_up)}
        look_up_rows.append(row)
    return {
        "session": session.id,
        "project": session.project or session.id,
        "strategy": strategy.name,
        "window": prepared.window,
        "reader": shown_name(spec.reader),
        **_counts(walk),
        **_dollars(plain, bill(walk, prices), len(session.requests)),
        "look_ups_rows": look_up_rows,
    }


def _counts(walk: ConsequenceWalk) -> Row:
    """What the agent of a simulation had to do, in steps and tokens."""
    calls = Counter[str]()
    look_up_tokens = 0
    spiral_count = 0
    blind_actions: dict[str, set[int]] = {origin: set() for origin in BLIND}
    actions_in_vain: set[int] = set()
    for look_up in walk.look_ups:
        action = look_up.thing.at
        if look_up.tokens:
            calls[look_up.by] += 1
            look_up_tokens += look_up.tokens
        if look_up.by in BLIND:
            blind_actions[look_up.by].add(action)
            actions_in_vain.add(action)
        if look_up.by == "spiral":
            spiral_count += 1
            actions_in_vain.add(action)
    detours = [look_up_count for look_up_count in walk.detours if look_up_count is not None]
    counts: Row = {
        "compactions": len(walk.events),
        "steps": len(walk.steps),
        "look_ups": calls["call"],
        "recalls": calls["recall"],
        "look_up_tokens": look_up_tokens,
        "spirals": spiral_count,
        "steps_until_work": None,
        "blind_steps": len(actions_in_vain),
    }
    if detours:
        counts["steps_until_work"] = median(detours)
    for origin, actions in blind_actions.items():
        counts[f"blind_{origin}"] = len(actions)
    return counts


def _dollars(
    plain: ReplayCost | None,
    paid: SimulationBill | None,
    request_count: int,
) -> Row:
    """What the session cost and would have cost; None where no price is known.

    Args:
        plain: the bill without look-ups.
        paid: the bill with them.
        request_count: of the recorded session.
    """
    dollars: Row = dict.fromkeys(DOLLARS)
    if paid is not None:
        dollars["look_up_usd"] = paid.looking
    if plain is not None:
        dollars["usd_uncompacted"] = plain.usd_plain
        dollars["saved_usd"] = plain.usd_plain - plain.usd
        dollars["step_usd"] = plain.usd_plain / max(request_count, 1)
    if plain is not None and paid is not None:
        dollars["saved_usd_net"] = plain.usd_plain - paid.usd
    return dollars


def _row(look_up: LookUp) -> Row:
    thing = look_up.thing
    row: Row = {
        "message": thing.at,
        "compaction": look_up.compaction,
        "entity": thing.name,
        "kind": thing.kind,
        "by": look_up.by,
        "tool": look_up.tool,
        "said_at": thing.said_at,
        "source": None,
        "tokens": look_up.tokens or None,
    }
    if look_up.source >= 0:
        row["source"] = look_up.source
    return row
