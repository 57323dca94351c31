"""How much information is kept: future-reference recall, entity recall and fabrication of a whole replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from workbench.metrics.future import Retention
from workbench.metrics.metric import Better, MetricInput, Score, Unit
from workbench.transcript.message import Summary, said_texts

FEWEST = 5
"""Demanded entities that a boundary needs before a share of them says anything."""


def _mean(data: MetricInput, value: Callable[[Retention], float], size: Callable[[Retention], int]) -> Score:
    """The mean over the boundaries with enough demand; `n` is their number."""
    if not data.snapshots:
        return Score(None, "no boundary to score: the history never fills the window, or is too short")
    values = [value(one.retention) for one in data.retained if size(one.retention) >= FEWEST]
    if not values:
        return Score(None, f"fewer than {FEWEST} entities of the history are needed later at every boundary")
    return Score(sum(values) / len(values), n=len(values))


@dataclass(frozen=True, slots=True)
class FutureReferenceRecall:
    """The share of the entities needed later that stand in the context with their own context words. In [0, 1].

    The headline: level *bound*. Demand and evidence are defined in `workbench.metrics.future`. Fails to see what is
    needed but never named again, and what a model could infer.
    """

    name: ClassVar[str] = "recall"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over boundaries of the bound share of the demand."""
        return _mean(data, lambda r: r.mean("bound"), lambda r: r.size)


@dataclass(frozen=True, slots=True)
class FutureReferencePresence:
    """The share of the entities needed later that stand in the context at all, in [0, 1]. A bare list wins it."""

    name: ClassVar[str] = "recall_presence"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over boundaries of the present share of the demand."""
        return _mean(data, lambda r: r.mean("presence"), lambda r: r.size)


@dataclass(frozen=True, slots=True)
class FutureReferenceCoverage:
    """How much of the evidence's other words stand beside each entity needed later. In [0, 1]. Unfair to paraphrase."""

    name: ClassVar[str] = "recall_coverage"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over boundaries of the mean coverage of the demand."""
        return _mean(data, lambda r: r.mean("coverage"), lambda r: r.size)


@dataclass(frozen=True, slots=True)
class IrrecoverableRecall:
    """`recall` of what nothing but the history holds: said by the user, decided, or from what cannot be redone."""

    name: ClassVar[str] = "recall_irrecoverable"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over boundaries of the bound share of that demand."""
        return _mean(data, lambda r: r.mean("bound", recoverable=False), lambda r: r.count(recoverable=False))


@dataclass(frozen=True, slots=True)
class ReacquirableRecall:
    """`recall` of the entities that stand in the result of a call that could be made again, and nowhere else."""

    name: ClassVar[str] = "recall_reacquirable"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over boundaries of the bound share of that demand."""
        return _mean(data, lambda r: r.mean("bound", recoverable=True), lambda r: r.count(recoverable=True))


@dataclass(frozen=True, slots=True)
class EntityRecall:
    """The share of all entities of the history that still stand in the context, needed or not. In [0, 1]."""

    name: ClassVar[str] = "entity_recall"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "higher"

    def score(self, data: MetricInput, /) -> Score:
        """The mean over boundaries; `n` is their number."""
        shares = []
        for kinds in data.recalled:
            whole = sum(there for _, there in kinds.values())
            if whole:
                shares.append(sum(kept for kept, _ in kinds.values()) / whole)
        return Score(sum(shares) / len(shares), n=len(shares)) if shares else Score(None, "no boundary to score")


@dataclass(frozen=True, slots=True)
class Fabrication:
    """The share of entities in summaries that occur nowhere in the history before them. In [0, 1].

    The marks that stages leave (a reference to the archive, how much was cut) are no fabrication: the writer saw them.
    """

    name: ClassVar[str] = "fabrication"
    unit: ClassVar[Unit] = "share"
    better: ClassVar[Better] = "lower"

    def score(self, data: MetricInput, /) -> Score:
        """Fabricated entities over all entities of the summaries in the snapshots; `n` is the number of entities."""
        false, whole = 0, 0
        noted = _marks(data)
        for one in data.retained:
            if one.view.generated:
                marks = "\n".join([text for at, text in noted if at <= one.snapshot.at])
                found = data.index.fabricated(one.snapshot.at, one.view.generated)
                false += sum(entity.text not in marks for entity in found)
                whole += data.index.entities_in(one.view.generated)
        return Score(false / whole, n=whole) if whole else Score(None, "nothing was written anew")


def _marks(data: MetricInput) -> list[tuple[int, str]]:
    """What stages wrote in the place of messages, summaries apart, each with the boundary."""
    return [
        (event.at, text)
        for event in data.replay.events
        for stage in event.compaction.stages
        for message in stage.wrote
        if not isinstance(message, Summary)
        for text in said_texts(message)
    ]
