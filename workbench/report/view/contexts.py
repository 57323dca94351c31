"""The contexts of a session of a run, made again from its recording: who holds what at a chosen
request.

A run's folder holds figures and the worst losses, not the recordings. The session is replayed when
it is asked for; a replay is deterministic, and real models answer from the cache alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.formats import missing, some
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.compaction.variant import variant
from workbench.engine.models import shown_name
from workbench.engine.models.settings import ModelSettings, model_names
from workbench.engine.transcript.redaction import redacted
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.sources import SessionSource, sessions_in
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.replays.matched import at_recorded_sizes, matched, recorded_contexts
from workbench.evaluation.replays.step import Mode
from workbench.report.explorer.view import ExplorerSettings, SessionView
from workbench.report.view.runs import RunEntry

SHARED = "This is a shared copy: it holds figures, and no text of the recordings."
LOCK = RLock()
"""Replays are made one at a time, however many pages ask for them."""


class NotShown(WorkbenchError):
    """The contexts of a session cannot be shown; says why in one sentence."""


@dataclass(frozen=True, slots=True)
class ContextPlace:
    """Where in a session contexts are looked at: a request on the strategy's own trigger, or a
    boundary at a size.
    """

    mode: Mode = "natural"
    share: float | None = None
    at: int = -1


def session_row(run: Tables, session: str) -> Mapping[str, Any]:
    """The row of a session in its run.

    Raises:
        NotShown: the run has no such session, it could not be read, or the run is a shared copy.
    """
    if run.manifest.get("shared"):
        raise NotShown(SHARED)
    rows = run.replayed[run.replayed["session"] == session].to_dict("records")
    if not rows:
        raise NotShown(f"The run has no session {session!r}.")
    return {str(name): value for name, value in rows[0].items()}


def side(entry: RunEntry, session: str, strategy: str, place: ContextPlace) -> SessionView:
    """The session under one strategy of the run at that place.

    Raises:
        NotShown: the recording is not there or has changed, or the strategy cannot be made again.
    """
    run = entry.tables()
    session_row(run, session)
    if strategy not in run.strategies:
        raise NotShown(f"The run has no strategy {strategy!r}; it has {', '.join(run.strategies)}.")
    with LOCK:
        path = _file(entry, session)
        if not path.is_file():
            raise NotShown(
                f"The recording {path} is no longer there, so its contexts cannot be made again."
            )
        replayed = _replayed(entry, session, strategy, path, _changed(path))
        if place.mode == "natural":
            return copy(replayed)
        events = _one_event(replayed, place)
        view = copy(replayed)
        view.replay = replace(replayed.replay, mode=place.mode, steps=(), events=events)
        view.select(0)
        return view


def recording(entry: RunEntry, session: str) -> Prepared:
    """A session of the run, read from its recording.

    Raises:
        NotShown: the recording is not there or has changed.
    """
    session_row(entry.tables(), session)
    with LOCK:
        path = _file(entry, session)
        return _ready(entry, session, path, _changed(path))


def recorded_session(entry: RunEntry, session: str) -> Session:
    """A session of the run as its recording has it today; nothing of it is counted.

    Raises:
        NotShown: the recording is not there or has changed.
    """
    run = entry.tables()
    row = session_row(run, session)
    kinds = _redaction(run.settings)
    with LOCK:
        path = _file(entry, session)
        for recorded in _of_the_name(path, session, _changed(path)):
            if len(recorded.messages) == row["messages"]:
                return redacted(recorded, kinds)
    raise NotShown(f"The recording {path} has changed since the run: it has other messages.")


def _one_event(view: SessionView, place: ContextPlace) -> tuple[Any, ...]:
    """The compaction at a boundary, cut to a size."""
    session = view.ready.session
    sizing = view.ready.sizing
    strategy = view.presets[view.settings.strategy]
    message_count = len(session.messages)
    if place.at > message_count:
        raise NotShown(f"The session has messages 0 to {message_count - 1}.")
    if place.mode == "matched":
        replay = matched(
            session,
            strategy,
            view.model,
            sizing,
            boundaries=[place.at],
            shares=[1.0 if place.share is None else place.share],
            window=view.settings.window,
        )
    else:
        contexts = recorded_contexts(session, sizing)
        replay = at_recorded_sizes(
            session,
            strategy,
            view.model,
            sizing,
            recorded={index: sent for index, sent in contexts.items() if index == place.at},
            window=view.settings.window,
        )
    if not replay.events:
        raise NotShown(f"Nothing is compacted before message {place.at} at this size.")
    return (replace(replay.events[0], number=0),)


@lru_cache(maxsize=32)
def _replayed(
    entry: RunEntry, session: str, strategy: str, path: Path, changed: int
) -> SessionView:
    """The whole session under a strategy, on its own trigger."""
    run = entry.tables()
    row = session_row(run, session)
    session_ready = _ready(entry, session, path, changed)
    strategy_preset, model, window = _way(run, strategy, row)
    replicate = int(run.settings.get("seed", 0))
    model_settings = ModelSettings(cache_only=True, replicate=replicate)
    try:
        answering_model = model_settings.model(_named(run, model))
        settings = ExplorerSettings(strategy, session_ready.sizing.window(window))
        view = SessionView(session_ready, {strategy: strategy_preset}, answering_model, settings)
    except WorkbenchError as error:
        raise NotShown(f"The contexts of {strategy} cannot be made again: {error}.") from None
    view.replay = replace(view.replay, preset=strategy)
    return view


def _way(run: Tables, strategy: str, row: Mapping[str, Any]) -> tuple[Preset, str, int]:
    """The preset behind a strategy's name in the run, the model that wrote for it, and the
    window.
    """
    model = _writer(run, strategy, row["session"])
    points = run.variants[run.variants["strategy"] == strategy].to_dict("records")
    try:
        if not points:
            restated = preset(strategy.removesuffix(f" ({model})"))
            return restated, model, int(row["window_used"])
        point = points[0]
        window = point["window"]
        if missing(window):
            window = row["window_wanted"]
        changed = variant(preset(point["base"]), json.loads(point["settings"]), strategy)
        return changed, model, int(window)
    except WorkbenchError as error:
        raise NotShown(f"The strategy {strategy} cannot be made again here: {error}.") from None


def _writer(run: Tables, strategy: str, session: str) -> str:
    """The model that wrote for a strategy in a session, as the tables show it."""
    replays = run.replays
    is_of_strategy = replays["strategy"] == strategy
    is_of_session = replays["session"] == session
    rows = replays[is_of_strategy & is_of_session]
    for model in rows["model"]:
        if model:
            return str(model)
    return "extractive"


def _named(run: Tables, model: str) -> str:
    """The name under which a run was told to ask a model that its tables show."""
    for name in model_names(run.settings.get("model") or model):
        if shown_name(name) == model:
            return name
    return model


def _redaction(settings: Mapping[str, Any]) -> frozenset[str] | None:
    """The kinds that a run masked, as its manifest says."""
    masking = Masking(
        redact=bool(settings.get("redact")),
        unmasked=settings.get("unmasked", ()),
    )
    return masking.redaction


@lru_cache(maxsize=4)
def _ready(entry: RunEntry, session: str, path: Path, changed: int) -> Prepared:
    """The session, read from its recording and made ready; it must be the one that the run
    replayed.
    """
    run = entry.tables()
    row = session_row(run, session)
    kinds = _redaction(run.settings)
    for recorded in _of_the_name(path, session, changed):
        session_ready = prepared(redacted(recorded, kinds), run.settings.get("window"))
        has_all_messages = len(recorded.messages) == row["messages"]
        if has_all_messages and sum(session_ready.sizing.sizes) == row["tokens"]:
            return session_ready
    raise NotShown(
        f"The recording {path} has changed since the run: its contexts would be other ones."
    )


@lru_cache(maxsize=4)
def _of_the_name(path: Path, session: str, changed: int) -> list[Session]:
    """The sessions of that id in a recording. A second one of an id is named `id~2` in a run."""
    try:
        sessions = sessions_in(SessionSource(path=path))
    except (OSError, WorkbenchError) as error:
        raise NotShown(f"The recording {path} cannot be read any more: {error}.") from None
    id, _, _ = session.rpartition("~")
    return [candidate for candidate in sessions if candidate.id in (session, id)]


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns


@lru_cache(maxsize=64)
def _file(entry: RunEntry, session: str) -> Path:
    """The recording of a session: what its row names, else the first of the run's sources that
    holds the session.

    A path that is not absolute is looked for here, then in the folders above the run.
    """
    run = entry.tables()
    row = session_row(run, session)
    sources = [str(source) for source in run.manifest.get("sources") or ()]
    sources.sort(key=lambda source: session not in source)
    folders = (Path(), *entry.path.parents)
    names = [name for name in (str(row["path"]), *sources) if name]
    for name in names:
        for folder in folders:
            path = folder / name
            if path.is_file() and _of_the_name(path, session, _changed(path)):
                return path
    raise NotShown(
        f"The recording of {session} is no longer where the run read it ({row['path']})."
    )


def differs(run: Tables, view: SessionView, session: str, strategy: str) -> str:
    """In a sentence, whether today's replay sends other sizes than the run's; empty where it
    sends the same.
    """
    is_of_session = run.steps["session"] == session
    is_of_strategy = run.steps["strategy"] == strategy
    rows = run.steps[is_of_session & is_of_strategy].sort_values("request")
    sizes_of_run = rows["tokens_sent"].tolist()
    sizes_today = [step.tokens_sent for step in view.replay.steps]
    if sizes_of_run == sizes_today or not sizes_today:
        return ""
    different = abs(len(sizes_of_run) - len(sizes_today))
    for size_of_run, size_today in zip(sizes_of_run, sizes_today, strict=False):
        different += size_of_run != size_today
    return (
        f"Today’s replay under {strategy} is not the run’s:"
        f" {some(different, 'request has', 'requests have')} another size. The run’s figures are of"
        " other contexts; another version of the workbench made them."
    )


def known_strategies(run: Tables, requested: Sequence[str]) -> tuple[str, str]:
    """The two strategies to show: those asked for, else the best and the baseline."""
    requested_names = [name for name in requested if name]
    names = list(dict.fromkeys([*requested_names, *replayed_contenders(run), *run.strategies]))
    if not names:
        raise SettingError("the run has no strategy")
    first_name = names[0]
    for second in (*requested[1:], run.baseline, *names[1:]):
        if second and second != first_name:
            return first_name, second
    return first_name, first_name
