"""What a metric is: it turns a replay into one number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Literal, Protocol, TypeAlias

from workbench.evaluation.metrics.costs.pricing import Pricing, pricing
from workbench.evaluation.metrics.costs.replay_cost import ReplayCost, replay_cost
from workbench.evaluation.metrics.demand import Demand, Retention
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.later_use import Part
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.view import ContextVersion, View, context_versions, view
from workbench.evaluation.replays.step import Replay, Snapshot

Unit: TypeAlias = Literal["share", "tokens", "count", "usd", "seconds"]
Better: TypeAlias = Literal["higher", "lower"]
PLACES = 8
"""Boundaries of a replay with exams, at most: making one takes as long as a compaction."""
NO_BOUNDARY = (
    "no boundary to score: the history is too short or never fills the window, or what must stay is"
    " too large"
)
"""Why a replay has nothing to score."""


@dataclass(frozen=True, slots=True)
class Retained:
    """One boundary: what the context held of what was needed later."""

    snapshot: Snapshot
    view: View
    demand: Demand
    retention: Retention


@dataclass(frozen=True)
class MetricInput:
    """All that a metric may look at.

    Attributes:
        replay: a session under a preset.
        index: the session's words and entities, extracted once whatever the number of presets and
            metrics.
        share: in matched mode the budget to look at; None in natural mode.
        prices: prices and cache rules to use; None takes those of the recording's model.
    """

    replay: Replay
    index: Index
    share: float | None = None
    prices: Pricing | None = None

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """The contexts to score: of this budget in matched mode, all in natural mode."""
        return tuple(snapshot for snapshot in self.work_snapshots if not snapshot.exam_only)

    @cached_property
    def work_snapshots(self) -> tuple[Snapshot, ...]:
        """The contexts for the exam of the work: those to score, and some beside them."""
        snapshots = self.replay.snapshots
        return tuple(snapshot for snapshot in snapshots if snapshot.share == self.share)

    @cached_property
    def retained(self) -> tuple[Retained, ...]:
        """Each snapshot against the demand at its boundary; worked out once for all metrics."""
        return tuple(self._retained_at(snapshot) for snapshot in self.snapshots)

    def _retained_at(self, snapshot: Snapshot) -> Retained:
        demand = self.index.demand(snapshot.at)
        context = view(self.replay.session, snapshot.context)
        retention = demand.retained(context.kept, context.texts)
        return Retained(snapshot, context, demand, retention)

    @cached_property
    def to_fetch(self) -> frozenset[int]:
        """The messages whose calls would have to be made again, at any boundary, each once."""
        messages: set[int] = set()
        for place in self.retained:
            messages.update(place.retention.sources_to_fetch())
        return frozenset(messages)

    @cached_property
    def examined(self) -> tuple[Retained, ...]:
        """The places at which exams are held: at most `PLACES`, spread evenly over the replay."""
        step = max(1, ceil(len(self.retained) / PLACES))
        return self.retained[::step]

    @cached_property
    def later_use(self) -> tuple[Mapping[Part, float], ...]:
        """For each of `examined` the shares of edited lines, the request, and phrases."""
        later_use = Exams.of(self.index).later_use
        shares: list[Mapping[Part, float]] = []
        for place in self.examined:
            boundary = place.snapshot.at
            shares.append(later_use.shares(boundary, place.view))
        return tuple(shares)

    @cached_property
    def versions(self) -> tuple[ContextVersion, ...]:
        """The history before each compaction and after each of its stages."""
        return tuple(context_versions(self.replay, self.share))

    @cached_property
    def priced(self) -> Pricing:
        """The prices and cache rules of the replay."""
        return self.prices or pricing(self.replay.session)

    @cached_property
    def bill(self) -> ReplayCost | None:
        """What a natural replay costs; None where no price is known.

        A source that several boundaries would have to fetch again counts once.
        """
        if not self.replay.steps:
            return None
        sizes = self.replay.sizing.sizes
        tokens_to_fetch = sum(sizes[index] for index in self.to_fetch)
        return replay_cost(self.replay, self.priced, tokens_to_fetch)


@dataclass(frozen=True, slots=True)
class Score:
    """One number, or the reason why there is none. Never NaN, and never 0 for "unknown".

    Attributes:
        value: in the metric's unit; None where the metric does not apply.
        why: why there is no value, or what a value needs to be understood.
        n: what the value is averaged over, as the metric says; 0 where it is no average.
    """

    value: float | None
    why: str = ""
    n: int = 0


class Metric(Protocol):
    """One number for a replay: its column in tables, what it counts, and the good direction."""

    name: str
    unit: Unit
    better: Better

    def score(self, data: MetricInput, /) -> Score:
        """The number. Pure."""
        ...


ScoreFunction: TypeAlias = Callable[[MetricInput], Score]


@dataclass(slots=True)
class FunctionMetric:
    """A metric that is a function; `metric` makes one."""

    name: str
    unit: Unit
    better: Better
    score: ScoreFunction


def metric(unit: Unit, better: Better) -> Callable[[ScoreFunction], FunctionMetric]:
    """Make a metric of a function that scores; the function's name is the metric's."""

    def make(function: ScoreFunction) -> FunctionMetric:
        name = function.__name__
        return FunctionMetric(name, unit, better, function)

    return make


def mean_score(values: Sequence[float], reason: str) -> Score:
    """The mean of some values; `reason` says why there is none."""
    if not values:
        return Score(None, reason)
    count = len(values)
    return Score(sum(values) / count, n=count)
