"""The units of a run: each is one source under some of the run's presets, and is replayed by one
worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypeAlias

from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import said_texts
from workbench.engine.transcript.recorded_requests import reported_prompts
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.job import Crew
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import Prepared, Unreadable, read
from workbench.evaluation.experiment.replay_results import ReplayResult, results_of
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.replay_work import ReplayJob
from workbench.evaluation.experiment.sources import SessionSource
from workbench.recordings.importers.copies import copied_from

DIED = "memory ran out or its worker process died each time, also while nothing else ran"


@dataclass(frozen=True, slots=True)
class Unit:
    """One source under some of the run's presets."""

    source: SessionSource
    presets: tuple[Preset, ...]

    def of_each_preset(self) -> list[Unit]:
        """The same work in smaller units."""
        return [replace(self, presets=(preset,)) for preset in self.presets]


SessionReplays: TypeAlias = tuple[Row, tuple[ReplayResult, ...]]
"""The row of a session, and its replays."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """A row and the replays of each session, what is unreadable, and the replays that killed
    their workers.
    """

    number: int
    sessions: tuple[SessionReplays, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    died: tuple[ReplayResult, ...] = ()


def units_of(sources: Sequence[SessionSource], presets: Sequence[Preset], crew: Crew) -> list[Unit]:
    """One unit for each source, or several where there are fewer sources than the crew has
    workers; those of the largest sources first.
    """
    source_count = max(len(sources), 1)
    workers_a_source = ceil(crew.workers.size / source_count)
    units_a_source = min(len(presets), workers_a_source)
    units: list[Unit] = []
    for source in sources:
        for offset in range(units_a_source):
            unit_presets = tuple(presets[offset::units_a_source])
            units.append(Unit(source, unit_presets))
    return sorted(units, key=lambda unit: -unit.source.bytes)


def replay_unit(job: ReplayJob, unit: Unit) -> UnitResult:
    """Do every replay of a unit; those on disk are not done again."""
    source = unit.source
    spec = job.spec
    recording = read(source, spec.window, redaction=spec.redaction)
    sessions: list[SessionReplays] = []
    for prepared in recording.ready[: source.most]:
        row = _session_row(prepared)
        results = results_of(job, prepared, unit.presets)
        sessions.append((row, tuple(results)))
    return UnitResult(source.number, tuple(sessions), recording.unreadable)


def lost_unit(job: ReplayJob, unit: Unit) -> UnitResult:
    """The result of a unit that killed its workers: all its replays failed, and its sessions are
    unknown.
    """
    models: list[str] = []
    for named_model in job.spec.model:
        model = job.model_settings.model(named_model)
        models.append(model.name)
    replays: list[ReplayResult] = []
    for preset in unit.presets:
        for name in models:
            replay = ReplayResult(preset.name, reason=DIED, model=name, asked=False)
            replays.append(replay)
    unreadable = Unreadable(job.masked(unit.source.name), DIED)
    return UnitResult(unit.source.number, unreadable=(unreadable,), died=tuple(replays))


def content_of(session: Session) -> str:
    """A name for what was said in a session, whatever the session is called and wherever it
    lies.
    """
    texts: list[list[str]] = []
    for message in session.messages:
        texts.append([message.role, *said_texts(message)])
    return key(texts)[:16]


def _session_row(prepared: Prepared) -> Row:
    """The row of a session in the table `sessions`."""
    session = prepared.session
    origin = session.origin
    sizing = prepared.sizing
    wanted_window = prepared.wanted
    times = [message.time for message in session.messages if message.time is not None]
    row: Row = {
        "project": session.project,
        "model": session.model,
        "window": session.window,
        "branches": session.branches,
        "title": session.heading,
        "session": session.id,
        "path": origin.path,
        "format": origin.format,
        "messages": len(session.messages),
        "requests": len(session.requests),
        "reported_requests": len(reported_prompts(session)),
        "tokens": sum(sizing.sizes),
        "overhead": sizing.overhead,
        "window_wanted": wanted_window.tokens,
        "window_source": wanted_window.source,
        "window_used": prepared.window,
        "begun": min(times, default=None),
        "ended": max(times, default=None),
        "recorded_compactions": len(session.own_recorded),
        "skipped": "\n".join(origin.skipped),
        "reports_left_out": "\n".join(prepared.left_out),
        "copied": copied_from(session),
        "content": content_of(session),
        "status": "ok",
        "reason": "",
    }
    if sizing.calibration is not None:
        row["scale"] = sizing.calibration.scale
        row["calibration_error"] = sizing.calibration.error
    return row
