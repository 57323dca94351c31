"""Simulations of recorded sessions under strategies, with their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Unpack

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
from workbench.evaluation.experiment.code_versions import code_versions
from workbench.evaluation.experiment.filler import FillerModel, ModelUse, is_asked
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import Prepared, Recording, read
from workbench.evaluation.experiment.prepared import replay as replay_of
from workbench.evaluation.experiment.progress import progress
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
    ModelOrNone,
    Priced,
    Strategies,
    Whole,
    Window,
    documented,
    model_name,
)
from workbench.evaluation.experiment.store import RunFolder, typed
from workbench.evaluation.experiment.work import READS_SESSIONS
from workbench.evaluation.experiment.workers import workers
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.costs.replay_cost import replay_cost
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.lexical import Lexical
from workbench.lab.judge.exam.readers import Answered, CandidateLikelihood, Choice, ModelReader
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.walk import ConsequenceWalk, LookUp, bill

if TYPE_CHECKING:
    import pandas as pd

SIMULATED_FILE = "simulated.parquet"
BLIND = ("user", "decision", "result")
SIMULATED = {
    "session": "string", "project": "string", "strategy": "string", "window": "Int64", "reader": "string",
    "compactions": "Int64", "steps": "Int64", "look_ups": "Int64", "recalls": "Int64", "look_up_tokens": "Int64",
    "look_up_usd": "Float64", **{f"blind_{who}": "Int64" for who in BLIND}, "spirals": "Int64",
    "steps_until_work": "Float64", "usd_uncompacted": "Float64", "saved_usd": "Float64", "saved_usd_net": "Float64",
}  # fmt: skip
LOOK_UPS = {
    "session": "string", "strategy": "string", "message": "Int64", "compaction": "Int64", "entity": "string",
    "kind": "string", "by": "string", "tool": "string", "said_at": "Int64", "source": "Int64", "tokens": "Int64",
}  # fmt: skip
Row = dict[str, Any]


class SimulationSpec(Priced, Masking, Execution):
    """A simulation, without its sessions."""

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


class SimulationSettings(PricedSettings, MaskingSettings, ExecutionSettings, total=False):
    """The fields of `SimulationSpec` as a caller may give them."""

    strategies: StrategyList
    window: int | None
    reader: str
    model: str | Model
    limit: int | None


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
class _Task:
    source: SessionSource
    spec: SimulationSpec
    presets: tuple[Preset, ...]
    folder: RunFolder
    how: ModelSettings
    codes: Mapping[str, str]


@documented(SimulationSpec)
def simulate(
    sessions: What = (), spec: SimulationSpec | None = None, **settings: Unpack[SimulationSettings]
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
    tasks = _tasks(sessions, spec)
    rows_of_task: dict[int, list[Row]] = {}
    with (
        workers(spec.jobs, spec.scheduler, [task.source for task in tasks]) as crew,
        progress(len(tasks), "following recorded actions", quiet=spec.quiet) as bar,
    ):
        for place, task_rows in crew.surely(_simulated, tasks):
            if task_rows is None:
                task_rows = [{"failed": f"{tasks[place].source.name}: its worker died"}]
            rows_of_task[place] = task_rows
            bar.update()
    rows: list[Row] = []
    for place in sorted(rows_of_task):
        rows += rows_of_task[place]
    if awaited := [row["awaited"] for row in rows if "awaited" in row]:
        raise Unanswered(f"{len(awaited)} of {len(rows)} simulations wait: {awaited[0]}")
    done = _tables(rows)
    folder = tasks[0].folder.path
    write_atomically(folder / SIMULATED_FILE, done.simulated.to_parquet(index=False))
    write_atomically(folder / "look_ups.parquet", done.look_ups.to_parquet(index=False))
    return done


@documented(SimulationSpec)
def forecast(
    sessions: What = (), spec: SimulationSpec | None = None, **settings: Unpack[SimulationSettings]
) -> dict[str, ModelUse]:
    """What real models would be asked if they read as the lexical reader does, by purpose; empty
    where none is named.

    Args:
        sessions: as for `simulate`.
        spec: settings to begin with.
        **settings: the fields of `SimulationSpec`.
    """
    spec = SimulationSpec.of(spec, settings)
    tasks = _tasks(sessions, spec)
    how, spec = tasks[0].how, tasks[0].spec
    counted: dict[str, FillerModel] = {}
    reader = None
    if spec.reader != "lexical" and is_asked(how.model(spec.reader)):
        counted["the reader"] = FillerModel(how.model(spec.reader).name)
        reader = FillerReader(counted["the reader"])
    writer: str | Model = spec.model
    if is_asked(how.model(spec.model)):
        counted["summaries"] = FillerModel(how.model(spec.model).name)
        writer = counted["summaries"]
    if not counted:
        return {}
    asked = spec.changed(model=writer)
    for task in tasks:
        for ready in _recording(task).ready[: task.source.most]:
            needs = Needs(ready, reader)
            for strategy in task.presets:
                with suppress(SettingError):
                    simulated_row(ready, strategy, needs, asked)
    return {purpose: model.use for purpose, model in counted.items()}


class FillerReader(Choice):
    """Puts each question to a model that only counts it, and answers as the lexical reader does."""

    def sit(self, items: Sequence[Item], context: str) -> list[Answered]:
        """See `ModelReader`."""
        super().sit(items, context)
        return [Answered(float(credit)) for credit in Lexical().read(items, (context,))]


def _tasks(sessions: What, spec: SimulationSpec) -> list[_Task]:
    presets = tuple(map(preset, spec.strategies))
    sources = limited(sources_of(sessions), spec.limit)
    if not spec.model:
        spec = spec.changed(model=default_model_for(sources))
    folder = spec.out or Path("reports") / f"simulate-{_name(spec, presets, sources)}"
    how = ModelSettings.of_run(spec.model_settings, folder)
    by_name = {preset.name: preset for preset in presets}
    codes = code_versions(["workbench.lab.simulation.simulate"], by_name, READS_SESSIONS, folder)
    return [_Task(source, spec, presets, RunFolder(folder), how, codes) for source in sources]


def _name(spec: SimulationSpec, presets: Iterable[Preset], sources: Iterable[SessionSource]) -> str:
    return key(
        [
            spec.window,
            spec.reader,
            spec.redaction,
            spec.price_model,
            spec.prices,
            model_name(spec.model),
        ],
        list(presets),
        [source.name for source in sources],
    )[:8]


def _tables(rows: list[Row]) -> Simulation:
    done = [row for row in rows if row.keys().isdisjoint(("failed", "left_out"))]
    looked = [one for row in done for one in row["look_ups_rows"]]
    if not done:
        raise SettingError(
            "; ".join(row["failed"] for row in rows) or "no session could be simulated"
        )
    failed = tuple(row["failed"] for row in rows if "failed" in row)
    left_out = tuple(row["left_out"] for row in rows if "left_out" in row)
    return Simulation(typed(done, SIMULATED), typed(looked, LOOK_UPS), failed, left_out)


def _simulated(task: _Task) -> list[Row]:
    """The rows of a source: those on disk are not made again."""
    recording = _recording(task)
    rows: list[Row] = [{"failed": str(one)} for one in recording.unreadable if not one.is_prose]
    for ready in recording.ready[: task.source.most]:
        rows += [{"left_out": f"{ready.session.id}: {reports}"} for reports in ready.left_out]
        needs = Needs(ready, reader_of(task.spec.reader, task.how))
        for strategy in task.presets:
            rows.append(_kept(task, ready, needs, strategy))
    return rows


def _recording(task: _Task) -> Recording:
    return read(task.source, task.spec.window, redaction=task.spec.redaction)


def reader_of(name: str, how: ModelSettings) -> ModelReader | None:
    """The reader of that name; None is the lexical one."""
    if name == "lexical":
        return None
    if name.startswith("local"):
        return CandidateLikelihood(CachedLikelihood.of(weights(name.partition(":")[2] or "gemma")))
    return Choice(how.model(name))


def _kept(task: _Task, ready: Prepared, needs: Needs, strategy: Preset) -> Row:
    session, spec = ready.session, task.spec
    name = key(
        task.codes[strategy.name],
        ready.content,
        strategy,
        ready.window,
        spec.reader,
        model_name(spec.model),
        spec.price_model,
        spec.prices,
        spec.redaction,
    )
    try:
        return task.folder.made(name, lambda: simulated_row(ready, strategy, needs, spec, task.how))
    except SettingError as error:
        return {"failed": f"{session.id} under {strategy.name}: {error}"}
    except Unanswered as error:
        if not any(
            isinstance(name, str) and name.startswith("folder:")
            for name in (spec.reader, spec.model)
        ):
            raise
        return {"awaited": str(error)}  # the others have requests of their own


def simulated_row(
    ready: Prepared,
    strategy: Preset,
    needs: Needs,
    spec: SimulationSpec,
    how: ModelSettings | None = None,
) -> Row:
    """The row of the table `simulated`, with those of `look_ups` under `look_ups_rows`."""
    how = how or ModelSettings()
    session, priced = ready.session, pricing(ready.session, spec.price_model, spec.prices)
    walk = ConsequenceWalk(
        ready, strategy, ready.reader(how.model(spec.model)), needs, ready.window
    )
    while not walk.done:
        walk.go_on()
    plain = replay_cost(replay_of(ready, strategy, model=spec.model, model_settings=how), priced)
    paid = bill(walk, priced)
    calls = [one for one in walk.look_ups if one.tokens]
    detours = [looked for looked in walk.detours if looked is not None]
    blind = {who: len({one.thing.at for one in walk.look_ups if one.by == who}) for who in BLIND}
    return {
        "session": session.id,
        "project": session.project or session.id,
        "strategy": strategy.name,
        "window": ready.window,
        "reader": shown_name(spec.reader),
        "compactions": len(walk.events),
        "steps": len(walk.steps),
        "look_ups": sum(one.by == "call" for one in calls),
        "recalls": sum(one.by == "recall" for one in calls),
        "look_up_tokens": sum(one.tokens for one in calls),
        "look_up_usd": paid and paid.looking,
        **{f"blind_{who}": number for who, number in blind.items()},
        "spirals": sum(one.by == "spiral" for one in walk.look_ups),
        "steps_until_work": median(detours) if detours else None,
        "usd_uncompacted": plain and plain.usd_plain,
        "saved_usd": plain and plain.usd_plain - plain.usd,
        "saved_usd_net": plain.usd_plain - paid.usd if plain and paid else None,
        "look_ups_rows": [
            {"session": session.id, "strategy": strategy.name, **_row(one)} for one in walk.look_ups
        ],
    }


def _row(one: LookUp) -> Mapping[str, object]:
    thing = one.thing
    return {
        "message": thing.at,
        "compaction": one.compaction,
        "entity": thing.name,
        "kind": thing.kind,
        "by": one.by,
        "tool": one.tool,
        "said_at": thing.said_at,
        "source": None if one.source < 0 else one.source,
        "tokens": one.tokens or None,
    }
