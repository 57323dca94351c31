"""Predicts what a run would take without asking any model: replays, tokens, requests and dollars."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from workbench.compaction.strategy import Preset
from workbench.experiment.filler import PAID, FillerModel, ModelUse
from workbench.experiment.prepared import Prepared
from workbench.experiment.replay_rows import replays
from workbench.experiment.sources import read
from workbench.experiment.work import Shard, Task, is_compared, replay_key
from workbench.experiment.workers import Workers
from workbench.models.model import Model


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do.

    Attributes:
        sessions: that can be replayed.
        unreadable: files and sessions that cannot.
        replays: of the run, and `done` those of them that are on disk already.
        tokens: of the sessions of all replays still to do.
        asked: of real models, by strategy; estimated as if every summary took all the room that it may, none were in
            the cache and no provider gave a discount, so that a run seldom costs more.
    """

    sessions: int
    unreadable: int
    replays: int
    done: int
    tokens: int
    asked: tuple[ModelUse, ...] = ()

    @property
    def requests(self) -> int:
        """Questions to real models."""
        return sum(one.requests for one in self.asked)

    @property
    def usd(self) -> float | None:
        """Dollars; None where a price is not known."""
        return sum(self.asked, ModelUse("", "")).usd


def forecast_shards(todo: Sequence[Shard], task: Task, crew: Workers, tell: Callable[[float], object]) -> Forecast:
    """Go through a run's shards without doing them; requests to models are counted once a replicate.

    `tell` gets the part of a source that was looked at, in (0, 1].
    """
    found = []
    for place, result in crew.each(partial(_of_a_shard, task), todo):
        if result is not None:
            found.append(result)
        tell(len(todo[place].presets) / len(task.presets))
    return together(found, task.spec.replicates)


def together(parts: Sequence[Forecast], times: int = 1) -> Forecast:
    """Several forecasts as one; requests to models are made so many times."""
    counts = ("sessions", "unreadable", "replays", "done", "tokens")
    total = {name: sum(getattr(one, name) for one in parts) for name in counts}
    asked: dict[tuple[str, str], ModelUse] = {}
    for one in times * [one for part in parts for one in part.asked]:
        name = one.strategy, one.model
        asked[name] = asked.get(name, ModelUse(*name)) + one
    return Forecast(**total, asked=tuple(found for _, found in sorted(asked.items())))


def _of_a_shard(task: Task, shard: Shard) -> Forecast:
    found = read(shard.source, task.spec.window, redact=task.spec.redact)
    sessions = found.ready[: shard.source.most]
    replays = done = tokens = 0
    asked: list[ModelUse] = []
    for ready in sessions:
        for preset in shard.presets:
            for wanted in task.spec.model:
                model = task.model_settings.model(wanted)
                replays += 1
                if task.folder.replay(replay_key(ready, preset, wanted, model, task)) is not None:
                    done += 1
                    continue
                tokens += sum(ready.sizing.sizes)
                if model.name.partition(":")[0] == PAID:
                    asked += _would_ask(ready, preset, wanted, model, task)
    first = shard.presets[0] == task.presets[0]  # each source is counted once, whatever its shards
    return Forecast(first * len(sessions), first * len(found.unreadable), replays, done, tokens, tuple(asked))


def _would_ask(ready: Prepared, preset: Preset, wanted: str | Model, model: Model, task: Task) -> list[ModelUse]:
    """What a replay would ask, also for the baseline at its sizes."""
    filler = FillerModel(model.name)
    baseline = task.baseline_of(ready, filler) if is_compared(preset, wanted, task) else None
    for replay in replays(ready, preset, filler, task.spec):
        if baseline is not None and replay.mode == "matched":
            deque(baseline.rows(replay), maxlen=0)
    return [replace(one, strategy=preset.name) for one in filler.asked]
