"""The units of a run: each is one source under some of the run's presets, and is replayed by one
worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import said_texts
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.job import Crew
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import Prepared, Unreadable, read
from workbench.evaluation.experiment.replay_results import ReplayResult, results_of
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.replay_work import ReplayJob
from workbench.evaluation.experiment.sources import SessionSource

DIED = "memory ran out or its worker process died each time, also while nothing else ran"


@dataclass(frozen=True, slots=True)
class Unit:
    """One source under some of the run's presets."""

    source: SessionSource
    presets: tuple[Preset, ...]

    def of_each_preset(self) -> list[Unit]:
        """The same work in smaller units."""
        return [replace(self, presets=(preset,)) for preset in self.presets]


@dataclass(frozen=True, slots=True)
class UnitResult:
    """A row and the replays of each session, what is unreadable, and the replays that killed
    their workers.
    """

    number: int
    sessions: tuple[tuple[Row, tuple[ReplayResult, ...]], ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    died: tuple[ReplayResult, ...] = ()


def units_of(sources: Sequence[SessionSource], presets: Sequence[Preset], crew: Crew) -> list[Unit]:
    """One unit for each source, or several where there are fewer sources than the crew has
    workers; those of the largest sources first.
    """
    units_a_source = min(len(presets), ceil(crew.workers.size / max(len(sources), 1)))
    units: list[Unit] = []
    for source in sources:
        for offset in range(units_a_source):
            units.append(Unit(source, tuple(presets[offset::units_a_source])))
    return sorted(units, key=lambda unit: -unit.source.bytes)


def replay_unit(job: ReplayJob, unit: Unit) -> UnitResult:
    """Do every replay of a unit; those on disk are not done again."""
    source, spec = unit.source, job.spec
    recording = read(source, spec.window, redaction=spec.redaction)
    sessions: list[tuple[Row, tuple[ReplayResult, ...]]] = []
    for prepared in recording.ready[: source.most]:
        results = results_of(job, prepared, unit.presets)
        sessions.append((_session_row(prepared), tuple(results)))
    return UnitResult(source.number, tuple(sessions), recording.unreadable)


def lost_unit(job: ReplayJob, unit: Unit) -> UnitResult:
    """The result of a unit that killed its workers: all its replays failed, and its sessions are
    unknown.
    """
    models = [job.model_settings.model(named_model).name for named_model in job.spec.model]
    replays: list[ReplayResult] = []
    for preset in unit.presets:
        for model in models:
            replays.append(ReplayResult(preset.name, reason=DIED, model=model, asked=False))
    unreadable = Unreadable(job.masked(unit.source.name), DIED)
    return UnitResult(unit.source.number, unreadable=(unreadable,), died=tuple(replays))


def content_of(session: Session) -> str:
    """A name for what was said in a session, whatever the session is called and wherever it
    lies.
    """
    texts = [[message.role, *said_texts(message)] for message in session.messages]
    return key(texts)[:16]


def _session_row(prepared: Prepared) -> Row:
    """The row of a session in the table `sessions`."""
    session, sizing = prepared.session, prepared.sizing
    row: Row = {
        "project": session.project,
        "model": session.model,
        "window": session.window,
        "branches": session.branches,
        "title": session.heading,
        "session": session.id,
        "path": session.origin.path,
        "format": session.origin.format,
        "messages": len(session.messages),
        "requests": len(session.requests),
        "tokens": sum(sizing.sizes),
        "overhead": sizing.overhead,
        "window_wanted": prepared.wanted.tokens,
        "window_source": prepared.wanted.source,
        "window_used": prepared.window,
        "recorded_compactions": len(session.recorded),
        "skipped": "\n".join(session.origin.skipped),
        "reports_left_out": "\n".join(prepared.left_out),
        "content": content_of(session),
        "status": "ok",
        "reason": "",
    }
    if sizing.calibration is not None:
        row["scale"] = sizing.calibration.scale
        row["calibration_error"] = sizing.calibration.error
    return row
