"""What a worker does: read a source, then every replay of its sessions that is not on disk yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.compaction.strategy import Preset
from workbench.errors import WorkbenchError
from workbench.experiment.keys import code_version, key
from workbench.experiment.prepared import Prepared
from workbench.experiment.replay_rows import Row, replay_rows
from workbench.experiment.sources import Source, Unreadable, read
from workbench.experiment.spec import RunSpec
from workbench.experiment.store import RunFolder
from workbench.experiment.tables import SCHEMA
from workbench.extraction.entities import Entity
from workbench.metrics.background import background
from workbench.metrics.builtin import installed
from workbench.models.model import Model
from workbench.models.settings import ModelSettings
from workbench.transcript.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that a worker needs to know about a run.

    Attributes:
        background: entities that stand in three or more unrelated projects of the run.
        model_settings: how models are asked.
    """

    spec: RunSpec
    presets: tuple[Preset, ...]
    folder: RunFolder
    model_settings: ModelSettings
    background: frozenset[Entity] = frozenset()


@dataclass(frozen=True, slots=True)
class Done:
    """One replay: where it is on disk, or why it failed.

    Attributes:
        fresh: whether it was computed now.
        model: who was there to write summaries.
        asked: whether that model was asked anything, or may have been.
    """

    strategy: str
    key: str
    reason: str = ""
    fresh: bool = True
    model: str = ""
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of one source: a row and the replays of each session, and what could not be read."""

    number: int
    sessions: tuple[tuple[Row, tuple[Done, ...]], ...]
    unreadable: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A session's project and all its entities, to find what unrelated projects have in common."""

    number: int
    project: str
    entities: frozenset[Entity]


def survey(source: Source, window: int | None, redact: bool) -> tuple[Surveyed, ...]:
    """The projects and entities of a source's sessions."""
    return tuple(
        Surveyed(source.number, ready.session.project, frozenset(ready.index.entities))
        for ready in read(source, window, redact=redact).ready
    )


def work(source: Source, task: Task, most: int | None = None) -> Worked:
    """Do every replay of a source; those on disk are not done again.

    Args:
        source: a file or a session.
        task: the run.
        most: sessions to take at most.
    """
    found = read(source, task.spec.window, redact=task.spec.redact)
    models = tuple(task.model_settings.model(model) for model in task.spec.models)
    sessions = []
    for ready in found.ready[:most]:
        scored = ready.against(task.background)
        replays = tuple(done for preset in task.presets for done in _under_each_model(scored, preset, models, task))
        sessions.append((_row(ready), replays))
    return Worked(source.number, tuple(sessions), found.unreadable)


def _under_each_model(ready: Prepared, preset: Preset, models: Sequence[Model], task: Task) -> Iterator[Done]:
    """A replay for each model; where the first one was asked nothing, its replay stands for all."""
    first: Done | None = None
    for wanted, model in zip(task.spec.models, models, strict=True):
        if first is None or first.asked:
            done = _done(ready, preset, wanted, model, task)
            first = first or done
            yield done
        else:
            yield replace(first, model=model.name, fresh=False)


def _done(ready: Prepared, preset: Preset, wanted: str | Model, model: Model, task: Task) -> Done:
    name = ""
    try:
        name = replay_key(ready, preset, wanted, model, task)
        found = task.folder.replay(name)
        if found is not None:
            return Done(preset.name, name, fresh=False, model=model.name, asked=_asked(found))
        tables = replay_rows(ready, preset, model, task.spec)
        for row in tables["compactions"]:  # what a model said beside its summary; the rest was masked before
            for column in ("findings", "why"):
                row[column] = _told(str(row[column]), task)
    except WorkbenchError as error:
        return Done(preset.name, name, _told(str(error), task), model=model.name)
    except Exception as error:  # noqa: BLE001 - the replay boundary: a part's bug fails its replay, not the run
        return Done(preset.name, name, _told(f"{type(error).__name__}: {error}", task), model=model.name)
    task.folder.keep(name, tables)
    return Done(preset.name, name, model=model.name, asked=_asked(tables))


def _asked(tables: Mapping[str, object]) -> bool:
    rows = tables.get("compactions")
    return isinstance(rows, list) and any(row["requests"] for row in rows)


def _told(reason: str, task: Task) -> str:
    """Why a replay failed; a provider's error may hold a part of its key."""
    return Redactor().mask(reason) if task.spec.redact else reason


def replay_key(ready: Prepared, preset: Preset, wanted: str | Model, model: Model, task: Task) -> str:
    """The name of a replay: equal for equal work, whatever the run.

    Raises:
        SettingError, SetupError: how the model is asked cannot be found out.
    """
    session, spec = ready.session, task.spec
    content = session.origin.sha256 or key(session.messages)
    background = sorted(str(entity) for entity in task.background)
    who = wanted if isinstance(wanted, str) else key(wanted)
    return key(
        SCHEMA, code_version(), content, session.id, preset, who, task.model_settings.seal(model), ready.window,
        spec.shares, spec.boundaries, spec.seed, spec.redact, spec.price_model, spec.prices,
        background, installed(),
    )  # fmt: skip


def _row(ready: Prepared) -> Row:
    session, sizing = ready.session, ready.sizing
    fitted = sizing.calibration
    return {
        "session": session.id,
        "title": session.title,
        "project": session.project,
        "path": session.origin.path,
        "format": session.origin.format,
        "model": session.model,
        "messages": len(session.messages),
        "requests": len(session.requests),
        "tokens": sum(sizing.sizes),
        "overhead": sizing.overhead,
        "scale": None if fitted is None else fitted.scale,
        "calibration_error": None if fitted is None else fitted.error,
        "window": session.window,
        "window_used": ready.window,
        "branches": session.branches,
        "recorded_compactions": len(session.recorded),
        "skipped": "\n".join(session.origin.skipped),
        "status": "ok",
        "reason": "",
    }


def common(surveys: Sequence[Surveyed]) -> frozenset[Entity]:
    """The entities that stand in three or more unrelated projects."""
    by_project: dict[str, set[Entity]] = {}
    for one in surveys:
        by_project.setdefault(one.project, set()).update(one.entities)
    return background(by_project)
