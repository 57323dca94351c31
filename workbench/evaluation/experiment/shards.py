"""The units of a run: each is one source under some of the run's presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import said_texts
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import Prepared, Unreadable, read
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.work import ReplayJob, ReplayResult

DIED = "memory ran out or its worker process died each time, also while nothing else ran"


@dataclass(frozen=True, slots=True)
class Shard:
    """One source under some of the run's presets."""

    source: SessionSource
    presets: tuple[Preset, ...]

    def of_each_preset(self) -> list[Shard]:
        """The same work in smaller shards."""
        return [replace(self, presets=(preset,)) for preset in self.presets]


@dataclass(frozen=True, slots=True)
class ShardResult:
    """A row and the replays of each session, what is unreadable, and the replays that killed
    their workers.
    """

    number: int
    sessions: tuple[tuple[Row, tuple[ReplayResult, ...]], ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    died: tuple[ReplayResult, ...] = ()


def shards(sources: Sequence[SessionSource], presets: Sequence[Preset], jobs: int) -> list[Shard]:
    """One a source, or several where there are fewer sources than workers (`jobs`); the largest
    first.
    """
    parts = min(len(presets), -(-jobs // max(len(sources), 1)))
    cut = [
        Shard(source, tuple(presets[offset::parts]))
        for source in sources
        for offset in range(parts)
    ]
    return sorted(cut, key=lambda shard: -shard.source.bytes)


def work(job: ReplayJob, shard: Shard) -> ShardResult:
    """Do every replay of a shard; those on disk are not done again."""
    source, spec = shard.source, job.spec
    recording = read(source, spec.window, redaction=spec.redaction)
    sessions = []
    for prepared in recording.ready[: source.most]:
        results = job.results_of(prepared, shard.presets)
        sessions.append((_session_row(prepared), tuple(results)))
    return ShardResult(source.number, tuple(sessions), recording.unreadable)


def lost(job: ReplayJob, shard: Shard) -> ShardResult:
    """The result of a shard that killed its workers: all its replays failed, and its sessions
    are unknown.
    """
    models = [job.model_settings.model(named_model).name for named_model in job.spec.model]
    replays = [
        ReplayResult(preset.name, reason=DIED, model=model, asked=False)
        for preset in shard.presets
        for model in models
    ]
    unreadable = Unreadable(job.masked(shard.source.name), DIED)
    return ShardResult(shard.source.number, unreadable=(unreadable,), died=tuple(replays))


def content_of(session: Session) -> str:
    """A name for what was said in a session, whatever the session is called and wherever it
    lies.
    """
    texts = [[message.role, *said_texts(message)] for message in session.messages]
    return key(texts)[:16]


def _session_row(prepared: Prepared) -> Row:
    session, sizing, calibration = prepared.session, prepared.sizing, prepared.sizing.calibration
    return {
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
        "scale": None if calibration is None else calibration.scale,
        "calibration_error": None if calibration is None else calibration.error,
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
