"""What a run would take, found out without asking any model: replays, tokens, requests and dollars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from workbench.compaction.strategy import Preset
from workbench.experiment.prepared import Prepared
from workbench.experiment.shards import Shard
from workbench.experiment.sources import read
from workbench.experiment.work import Task, replay_key
from workbench.experiment.workers import Death, Workers
from workbench.models.model import Completion, Model, SummaryRequest
from workbench.models.prices import MILLION, tariff
from workbench.models.provider_options import provider_options
from workbench.replay.boundaries import at_boundaries
from workbench.replay.matched import matched
from workbench.replay.natural import natural

CHARS = 4
"""Of a token, about."""

UNBOUNDED = 0.1
"""The length of a summary that nobody bounds, as a share of what is read for it."""

PAID = "litellm"
"""The kind of model that is asked for money; those of this machine cost nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one strategy would ask of one model.

    Attributes:
        usd: at your own prices, else the model's listed ones, without any discount; None if nobody knows them.
    """

    strategy: str
    model: str
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def plus(self, other: Asked) -> Asked:
        """Both together."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        read, wrote = self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        return Asked(self.strategy, self.model, self.requests + other.requests, read, wrote, usd)

    def times(self, replicates: int) -> Asked:
        """The same asked this many times."""
        return reduce(Asked.plus, [self] * replicates)


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
    asked: tuple[Asked, ...] = ()

    @property
    def requests(self) -> int:
        """Questions to real models."""
        return sum(one.requests for one in self.asked)

    @property
    def usd(self) -> float | None:
        """Dollars; None where a price is not known."""
        costs = [one.usd for one in self.asked]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def foreseen(todo: Sequence[Shard], task: Task, crew: Workers, tell: Callable[[float], object]) -> Forecast:
    """Go through a run's shards without doing them.

    Args:
        todo: the shards of the run.
        task: the run.
        crew: who reads the sessions.
        tell: is told the part of a source that was looked at, in (0, 1].
    """
    found: dict[int, Forecast] = {}
    for place, result in crew.each(partial(_of_a_shard, task), todo):
        shard = todo[place]
        if not isinstance(result, Death):
            number = shard.source.number
            found[number] = _sum(found[number], result) if number in found else result
        tell(len(shard.presets) / len(task.presets))
    counts = ("sessions", "unreadable", "replays", "done", "tokens")
    total = {name: sum(int(getattr(one, name)) for one in found.values()) for name in counts}
    return Forecast(**total, asked=_joined(one for part in found.values() for one in part.asked))


@dataclass(slots=True)
class Supposing:
    """Answers as long as it may, and keeps count; what it says has no meaning.

    Attributes:
        name: of the model in whose place it stands.
        asked: what was asked of each model so far.
    """

    name: str
    asked: list[Asked] = field(default_factory=list)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A text of the bound's length."""
        read = (len(request.system) + len(request.prompt)) // CHARS
        wrote = min(
            request.max_tokens if request.max_tokens is not None else max(int(UNBOUNDED * read), 1), max(read, 1)
        )
        model = f"{PAID}:{request.model}" if request.model else self.name
        usd = _usd(model.partition(":")[2], read, wrote)
        self.asked.append(Asked("", model, 1, read, wrote, usd))
        return Completion(text="word " * max(int(0.75 * wrote), 1), model=model, input_tokens=read, output_tokens=wrote)


def _usd(model: str, read: int, wrote: int) -> float | None:
    """What a question costs, at the user's own price where there is one; None if nobody knows."""
    how = provider_options(model)
    if how.input_usd is not None and how.output_usd is not None:
        return (read * how.input_usd + wrote * how.output_usd) / MILLION
    known = tariff(model)
    return None if known is None else read * known.rates.input + wrote * known.rates.output


def together(parts: Iterable[Forecast]) -> Forecast:
    """Several runs over the same sessions as one."""
    return reduce(_sum, parts)


def _of_a_shard(task: Task, shard: Shard) -> Forecast:
    found = read(shard.source, task.spec.window, redact=task.spec.redact)
    replays = done = tokens = 0
    asked: list[Asked] = []
    for ready in found.ready[: shard.most]:
        scored = ready.against(task.background)
        for preset in shard.presets:
            for wanted in task.spec.models:
                model = task.model_settings.model(wanted)
                replays += 1
                if task.folder.replay(replay_key(scored, preset, wanted, model, task)) is not None:
                    done += 1
                    continue
                tokens += sum(ready.sizing.sizes)
                if model.name.partition(":")[0] == PAID:
                    asked += _supposed(ready, preset, model, task)
    ready_here = len(found.ready[: shard.most])
    return Forecast(ready_here, len(found.unreadable), replays, done, tokens, _joined(asked))


def _supposed(ready: Prepared, preset: Preset, model: Model, task: Task) -> list[Asked]:
    """What a replay would ask."""
    supposing, session, settings = Supposing(model.name), ready.session, task.spec
    natural(session, preset, supposing, ready.sizing, window=ready.window)
    if settings.shares:
        at = at_boundaries(session, ready.sizing, ready.window, settings.boundaries)
        matched(session, preset, supposing, ready.sizing, window=ready.window, at=at, shares=settings.shares)
    return [replace(one, strategy=preset.name) for one in supposing.asked]


def _sum(one: Forecast, other: Forecast) -> Forecast:
    """Two forecasts of the same sessions."""
    return Forecast(
        one.sessions, one.unreadable, one.replays + other.replays, one.done + other.done, one.tokens + other.tokens,
        (*one.asked, *other.asked),
    )  # fmt: skip


def _joined(asked: Iterable[Asked]) -> tuple[Asked, ...]:
    """One for each strategy and model."""
    found: dict[tuple[str, str], Asked] = {}
    for one in asked:
        place = (one.strategy, one.model)
        found[place] = found[place].plus(one) if place in found else one
    return tuple(found[place] for place in sorted(found))
