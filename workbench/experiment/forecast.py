"""Predicts what a run would take without asking any model: replays, tokens, requests and dollars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from workbench.compaction.strategy import Preset
from workbench.experiment.prepared import Prepared
from workbench.experiment.sources import read
from workbench.experiment.work import Shard, Task, replay_key
from workbench.experiment.workers import Workers
from workbench.models.model import Completion, Model, SummaryRequest
from workbench.models.prices import MILLION, tariff
from workbench.models.provider_options import provider_options
from workbench.replay.boundaries import at_boundaries
from workbench.replay.matched import matched
from workbench.replay.natural import natural

CHARS = 4
"""Of a token, about."""

UNBOUNDED = 0.1
"""The length of a summary without a bound, as a share of what is read for it."""

PAID = "litellm"
"""The kind of model that costs money; those of this machine cost nothing."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What one strategy would ask of one model.

    Attributes:
        usd: at your own prices, else the model's listed ones, without any discount; None if no price is known.
    """

    strategy: str
    model: str
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: ModelUse) -> ModelUse:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        read, wrote = self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        return ModelUse(self.strategy, self.model, self.requests + other.requests, read, wrote, usd)


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


@dataclass(slots=True)
class FillerModel:
    """Answers with filler of the greatest length that a request allows, under the name of a model, and keeps count."""

    name: str
    asked: list[ModelUse] = field(default_factory=list)

    @property
    def use(self) -> ModelUse:
        """All that it was asked."""
        return sum(self.asked, ModelUse("", self.name))

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A text of the bound's length."""
        read = (len(request.system) + len(request.prompt)) // CHARS
        most = max(int(UNBOUNDED * read), 1) if request.max_tokens is None else request.max_tokens
        wrote = min(most, max(read, 1))
        model = f"{PAID}:{request.model}" if request.model else self.name
        kind, _, name = model.partition(":")
        usd = _usd(name, read, wrote) if kind == PAID else 0.0
        self.asked.append(ModelUse("", model, 1, read, wrote, usd))
        return Completion(text="word " * max(int(0.75 * wrote), 1), model=model, input_tokens=read, output_tokens=wrote)


def _usd(model: str, read: int, wrote: int) -> float | None:
    """What a question costs, at the user's own price where there is one; None if no price is known."""
    how = provider_options(model)
    if how.input_usd is not None and how.output_usd is not None:
        return (read * how.input_usd + wrote * how.output_usd) / MILLION
    known = tariff(model)
    return None if known is None else read * known.rates.input + wrote * known.rates.output


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
                    asked += _would_ask(ready, preset, model, task)
    first = shard.presets[0] == task.presets[0]  # each source is counted once, whatever its shards
    return Forecast(first * len(sessions), first * len(found.unreadable), replays, done, tokens, tuple(asked))


def _would_ask(ready: Prepared, preset: Preset, model: Model, task: Task) -> list[ModelUse]:
    """What a replay would ask."""
    filler, session, spec = FillerModel(model.name), ready.session, task.spec
    natural(session, preset, filler, ready.sizing, window=ready.window)
    if spec.shares:
        at = at_boundaries(session, ready.sizing, ready.window, spec.boundaries)
        matched(session, preset, filler, ready.sizing, window=ready.window, at=at, shares=spec.shares)
    return [replace(one, strategy=preset.name) for one in filler.asked]
