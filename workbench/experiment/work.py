"""What a worker does: read a source, then every replay of its sessions that is not on disk yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.compaction.strategy import Preset
from workbench.errors import WorkbenchError
from workbench.experiment.keys import code_version, key
from workbench.experiment.prepared import Prepared
from workbench.experiment.replay_rows import Row, replay_rows
from workbench.experiment.sources import SessionSource, Unreadable, read
from workbench.experiment.spec import RunSpec
from workbench.experiment.store import RunFolder
from workbench.experiment.tables import SCHEMA
from workbench.metrics.builtin import installed
from workbench.models.model import Model
from workbench.models.settings import ModelSettings
from workbench.transcript.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that a worker needs to know about a run.

    Attributes:
        model_settings: how models are asked.
    """

    spec: RunSpec
    presets: tuple[Preset, ...]
    folder: RunFolder
    model_settings: ModelSettings

    def masked(self, text: str) -> str:
        """A path or a reason: either may quote what is to be masked, such as a part of a provider's key."""
        return Redactor().mask(text) if self.spec.redact else text


@dataclass(frozen=True, slots=True)
class Shard:
    """One source under some of the run's presets.

    Attributes:
        deaths: workers that died over it so far.
    """

    source: SessionSource
    presets: tuple[Preset, ...]
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """One replay: where it is on disk, or why it failed.

    Attributes:
        model: which was there to write summaries.
        asked: whether that model was asked anything, or may have been.
    """

    strategy: str
    key: str = ""
    reason: str = ""
    model: str = ""
    asked: bool = True


@dataclass(frozen=True, slots=True)
class ShardResult:
    """A row and the replays of each session, what is unreadable, and the replays that killed their workers."""

    number: int
    sessions: tuple[tuple[Row, tuple[ReplayResult, ...]], ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    died: tuple[ReplayResult, ...] = ()


def work(task: Task, shard: Shard) -> ShardResult:
    """Do every replay of a shard; those on disk are not done again."""
    found = read(shard.source, task.spec.window, redact=task.spec.redact)
    sessions = []
    for ready in found.ready[: shard.source.most]:
        replays = tuple(done for preset in shard.presets for done in _under_each_model(ready, preset, task))
        sessions.append((_session_row(ready), replays))
    return ShardResult(shard.source.number, tuple(sessions), found.unreadable)


def _under_each_model(ready: Prepared, preset: Preset, task: Task) -> Iterator[ReplayResult]:
    """A replay for each model; where the first one was asked nothing, its replay serves for all."""
    first: ReplayResult | None = None
    for wanted in task.spec.model:
        model = task.model_settings.model(wanted)
        if first is None or first.asked:
            done = _replayed(ready, preset, wanted, model, task)
            first = first or done
            yield done
        else:
            yield replace(first, model=model.name)


def _replayed(ready: Prepared, preset: Preset, wanted: str | Model, model: Model, task: Task) -> ReplayResult:
    done = ReplayResult(preset.name, model=model.name)
    try:
        done = replace(done, key=replay_key(ready, preset, wanted, model, task))
        tables: Mapping[str, object] | None = task.folder.replay(done.key)
        if tables is None:
            tables = rows = replay_rows(ready, preset, model, task.spec)
            for row in rows["compactions"]:  # what a model said beside its summary; the rest was masked before
                row |= {column: task.masked(str(row[column])) for column in ("findings", "why")}
            task.folder.keep(done.key, tables)
    except WorkbenchError as error:
        return replace(done, reason=task.masked(str(error)))
    except Exception as error:  # noqa: BLE001 - the replay boundary: a part's bug fails its replay, not the run
        return replace(done, reason=task.masked(f"{type(error).__name__}: {error}"))
    compactions = tables.get("compactions")
    return replace(done, asked=isinstance(compactions, list) and any(row["requests"] for row in compactions))


def replay_key(ready: Prepared, preset: Preset, wanted: str | Model, model: Model, task: Task) -> str:
    """The name of a replay: equal for equal work, whatever the run.

    Raises:
        SettingError, SetupError: how the model is asked cannot be found out.
    """
    session, spec = ready.session, task.spec
    content = session.origin.sha256 or key(session.messages)
    who = wanted if isinstance(wanted, str) else key(wanted)
    return key(
        SCHEMA, code_version(), content, session.id, preset, who, task.model_settings.seal(model), ready.window,
        spec.shares, spec.boundaries, spec.seed, spec.redact, spec.price_model, spec.prices,
        installed(),
    )  # fmt: skip


def _session_row(ready: Prepared) -> Row:
    session, sizing, fitted = ready.session, ready.sizing, ready.sizing.calibration
    return {
        **{name: getattr(session, name) for name in ("title", "project", "model", "window", "branches")},
        "session": session.id,
        "path": session.origin.path,
        "format": session.origin.format,
        "messages": len(session.messages),
        "requests": len(session.requests),
        "tokens": sum(sizing.sizes),
        "overhead": sizing.overhead,
        "scale": None if fitted is None else fitted.scale,
        "calibration_error": None if fitted is None else fitted.error,
        "window_wanted": ready.wanted.tokens,
        "window_source": ready.wanted.source,
        "window_used": ready.window,
        "recorded_compactions": len(session.recorded),
        "skipped": "\n".join(session.origin.skipped),
        "status": "ok",
        "reason": "",
    }
