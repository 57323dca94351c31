"""A run cut into shards for workers, and what becomes of a shard whose worker died."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from workbench.compaction.strategy import Preset
from workbench.experiment.sources import Source, Unreadable
from workbench.experiment.work import Done, Task, Worked, work
from workbench.experiment.workers import Death, Workers
from workbench.transcript.redaction import Redactor

DEATHS = 3
"""Workers that a shard may take with it before that counts as its own doing."""

DIED = f"the worker process died over it {DEATHS} times, perhaps for want of memory"


@dataclass(frozen=True, slots=True)
class Shard:
    """One source under some of the run's presets.

    Attributes:
        most: sessions of the source to take at most.
        deaths: workers that died over it so far.
    """

    source: Source
    presets: tuple[Preset, ...]
    most: int | None = None
    deaths: int = 0


def shards(
    sources: Sequence[Source], presets: Sequence[Preset], most: Mapping[int, int] | None, jobs: int
) -> list[Shard]:
    """One a source, or several where there are fewer sources than workers; the largest first.

    Args:
        sources: of the run.
        presets: of the run.
        most: sessions to take at most, by the source's number; None for all.
        jobs: workers.
    """
    shares = min(len(presets), -(-jobs // max(len(sources), 1)))
    found = [
        Shard(source, tuple(presets[first::shares]), None if most is None else most.get(source.number))
        for source in sources
        for first in range(shares)
    ]
    return sorted(found, key=lambda shard: -shard.source.bytes)


def finished(
    todo: Sequence[Shard], task: Task, workers: Workers, tell: Callable[[float], object] = lambda part: None
) -> list[Worked]:
    """Do all shards; the sources in their order, with the replays of each in the order of the presets.

    A shard whose worker died is given out again, one preset at a time, and after three deaths its replays have failed.

    Args:
        todo: the shards.
        task: the run.
        workers: who does them.
        tell: is told the part of a source that was done, in (0, 1].
    """
    alive: list[Worked] = []
    dead: list[Shard] = []
    while todo:
        again: list[Shard] = []
        for place, result in workers.each(partial(_work, task), todo):
            shard = todo[place]
            if isinstance(result, Death) and shard.deaths + 1 < DEATHS:
                again += [replace(shard, presets=(one,), deaths=shard.deaths + 1) for one in shard.presets]
                continue
            if isinstance(result, Death):
                dead.append(shard)
            else:
                alive.append(result)
            tell(len(shard.presets) / len(task.presets))
        todo = again
    return _joined(alive, dead, task)


def _work(task: Task, shard: Shard) -> Worked:
    return work(shard.source, replace(task, presets=shard.presets), shard.most)


def _joined(alive: Sequence[Worked], dead: Sequence[Shard], task: Task) -> list[Worked]:
    """The shards of each source together. Of one that nobody survived, not even its sessions are known."""
    order = {preset.name: place for place, preset in enumerate(task.presets)}
    fatal: dict[int, list[Done]] = {}
    for shard in dead:
        fatal.setdefault(shard.source.number, []).extend(Done(one.name, "", DIED) for one in shard.presets)
    by_source: dict[int, list[Worked]] = {}
    for one in alive:
        by_source.setdefault(one.number, []).append(one)
    found = []
    for number, parts in by_source.items():
        sessions = []
        for place, (row, _) in enumerate(parts[0].sessions):
            replays = [done for part in parts for done in part.sessions[place][1]] + fatal.get(number, [])
            sessions.append((row, tuple(sorted(replays, key=lambda done: order[done.strategy]))))
        found.append(Worked(number, tuple(sessions), parts[0].unreadable))
    mask = Redactor().mask if task.spec.redact else str
    lost = {shard.source.number: shard.source for shard in dead if shard.source.number not in by_source}
    found += [Worked(number, (), (Unreadable(mask(source.name), DIED),)) for number, source in lost.items()]
    return sorted(found, key=lambda one: one.number)
