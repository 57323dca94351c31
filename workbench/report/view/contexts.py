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
from typing import Any

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.formats import missing, some
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.compaction.variant import variant
from workbench.engine.models import shown_name
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings, model_names
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.replays.matched import at_recorded_sizes, matched
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.step import CompactionEvent, Mode, Replay
from workbench.report.explorer.settings import ExplorerSettings
from workbench.report.explorer.view import SessionView
from workbench.report.view.not_shown import NotShown
from workbench.report.view.recordings import (
    LOCK,
    change_time,
    recording,
    recording_file,
    session_row,
)
from workbench.report.view.runs import RunEntry


@dataclass(frozen=True, slots=True)
class ContextPlace:
    """Where in a session contexts are looked at: a request on the strategy's own trigger, or a
    boundary at a size.
    """

    mode: Mode = "natural"
    share: float | None = None
    at: int = -1


def side(
    entry: RunEntry,
    session: str,
    strategy: str,
    place: ContextPlace,
) -> SessionView:
    """The session under one strategy of the run at that place.

    Raises:
        NotShown: the recording is not there or has changed, or the strategy cannot be made again.
    """
    run = entry.tables()
    session_row(run, session)
    if strategy not in run.strategies:
        names = ", ".join(run.strategies)
        raise NotShown(f"The run has no strategy {strategy!r}; it has {names}.")
    with LOCK:
        path = recording_file(entry, session)
        if not path.is_file():
            raise NotShown(
                f"The recording {path} is no longer there, so its contexts cannot be made again."
            )
        view = copy(_replayed(entry, session, strategy, path, change_time(path)))
        if place.mode == "natural":
            return view
        event = _event_at(view, place)
        view.replay = replace(
            view.replay,
            mode=place.mode,
            steps=(),
            events=(event,),
        )
        view.select(0)
        return view


def _event_at(view: SessionView, place: ContextPlace) -> CompactionEvent:
    """The compaction at a boundary, cut to a size."""
    message_count = len(view.ready.session.messages)
    if place.at > message_count:
        last_message = message_count - 1
        raise NotShown(f"The session has messages 0 to {last_message}.")
    again = StrategyAgain(
        view.ready,
        view.presets[view.settings.strategy],
        view.model,
        view.settings.window,
    )
    replay = again.replay(place.mode, place.share, [place.at])
    if not replay.events:
        raise NotShown(f"Nothing is compacted before message {place.at} at this size.")
    return replace(replay.events[0], number=0)


@lru_cache(maxsize=32)
def _replayed(
    entry: RunEntry,
    session: str,
    strategy: str,
    path: Path,
    changed: int,
) -> SessionView:
    """The whole session under a strategy, on its own trigger; made anew where the recording at
    `path` has changed.
    """
    again = strategy_again(entry, session, strategy)
    try:
        view = SessionView(
            again.session,
            {strategy: again.preset},
            again.model,
            ExplorerSettings(strategy, again.window),
        )
    except WorkbenchError as error:
        raise NotShown(f"The contexts of {strategy} cannot be made again: {error}.") from None
    view.replay = replace(view.replay, preset=strategy)
    return view


@dataclass(frozen=True, slots=True)
class StrategyAgain:
    """What a replay of a run is made again from.

    Attributes:
        model: that wrote; it answers from the cache alone.
        window: tokens; the one really used.
    """

    session: Prepared
    preset: Preset
    model: Model
    window: int

    def replay(self, mode: Mode, share: float | None, boundaries: Sequence[int]) -> Replay:
        """The replay of a mode with its contexts at these boundaries: on the strategy's own
        trigger, cut to a share of the history, or to what the recorded agent's own compactions
        left.
        """
        session = self.session.session
        sizing = self.session.sizing
        if mode == "natural":
            return natural(
                session,
                self.preset,
                self.model,
                sizing,
                window=self.window,
                boundaries=boundaries,
            )
        if mode == "matched":
            return matched(
                session,
                self.preset,
                self.model,
                sizing,
                window=self.window,
                boundaries=boundaries,
                shares=[share or 1.0],
            )
        recorded = {}
        for boundary in boundaries:
            if boundary in self.session.recorded:
                recorded[boundary] = self.session.recorded[boundary]
        return at_recorded_sizes(
            session,
            self.preset,
            self.model,
            sizing,
            window=self.window,
            recorded=recorded,
        )


def strategy_again(entry: RunEntry, session: str, strategy: str) -> StrategyAgain:
    """A session of a run with what its strategy of that name was.

    Raises:
        NotShown: the recording is not there or has changed, or the strategy cannot be made again.
    """
    run = entry.tables()
    row = session_row(run, session)
    session_ready = recording(entry, session)
    in_run = _strategy_in_run(run, strategy, row)
    replicate = int(run.settings.get("seed", 0))
    model_settings = ModelSettings(cache_only=True, replicate=replicate)
    try:
        window = session_ready.sizing.window(in_run.window)
        model = model_settings.model(_named(run, in_run.model))
    except WorkbenchError as error:
        raise NotShown(f"The contexts of {strategy} cannot be made again: {error}.") from None
    return StrategyAgain(session_ready, in_run.preset, model, window)


@dataclass(frozen=True, slots=True)
class _StrategyInRun:
    """What a strategy's name stands for in a run.

    Attributes:
        model: that wrote for it.
    """

    preset: Preset
    model: str
    window: int


def _strategy_in_run(
    run: Tables,
    strategy: str,
    row: Mapping[str, Any],
) -> _StrategyInRun:
    """What a strategy's name stands for in the run, in the session of a row."""
    model = _writer(run, strategy, row["session"])
    points = rows_with(run.variants, strategy=strategy).to_dict("records")
    try:
        if not points:
            name = strategy.removesuffix(f" ({model})")
            return _StrategyInRun(preset(name), model, _window_of_references(row))
        point = points[0]
        window = point["window"]
        if missing(window):
            window = row["window_wanted"]
        settings = json.loads(point["settings"])
        changed = variant(preset(point["base"]), settings, strategy)
        return _StrategyInRun(changed, model, int(window))
    except WorkbenchError as error:
        raise NotShown(f"The strategy {strategy} cannot be made again here: {error}.") from None


def _window_of_references(row: Mapping[str, Any]) -> int:
    """The window in which a session was replayed; in a sweep of several windows the first, as
    the references are.
    """
    window = row["window_used"]
    if missing(window):
        window = row["window_wanted"]
    return int(window)


def _writer(run: Tables, strategy: str, session: str) -> str:
    """The model that wrote for a strategy in a session, as the tables show it."""
    rows = rows_with(run.replays, strategy=strategy, session=session)
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


def differs(run: Tables, view: SessionView, session: str, strategy: str) -> str:
    """In a sentence, whether today's replay sends other sizes than the run's; empty where it
    sends the same.
    """
    rows = rows_with(run.steps, session=session, strategy=strategy)
    rows = rows.sort_values("request")
    sizes_of_run = rows["tokens_sent"].tolist()
    sizes_today = [step.tokens_sent for step in view.replay.steps]
    if sizes_of_run == sizes_today or not sizes_today:
        return ""
    different = abs(len(sizes_of_run) - len(sizes_today))
    for size_of_run, size_today in zip(sizes_of_run, sizes_today, strict=False):
        different += size_of_run != size_today
    requests_have = some(different, "request has", "requests have")
    return (
        f"Today’s replay under {strategy} is not the run’s: {requests_have} another size."
        " The run’s figures are of other contexts; another version of the workbench made them."
    )


def known_strategies(run: Tables, requested: Sequence[str]) -> tuple[str, str]:
    """The two strategies to show: those asked for, else the best and the baseline."""
    requested_names = [name for name in requested if name]
    contenders = replayed_contenders(run)
    by_preference = dict.fromkeys([*requested_names, *contenders, *run.strategies])
    names = list(by_preference)
    if not names:
        raise SettingError("the run has no strategy")
    first_name = names[0]
    for second in (*requested[1:], run.baseline, *names[1:]):
        if second and second != first_name:
            return first_name, second
    return first_name, first_name
