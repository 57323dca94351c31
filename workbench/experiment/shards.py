"""A run split into shards for workers, and what becomes of a shard whose worker died."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from workbench.compaction.strategy import Preset
from workbench.experiment.replay_rows import Row
from workbench.experiment.sources import Source, Unreadable
from workbench.experiment.work import Done, Shard, Task, Worked, work
from workbench.experiment.workers import Workers

DEATHS = 3
"""Workers that a shard may take with it before that counts as its own doing."""

DIED = f"the worker process died over it {DEATHS} times, perhaps for want of memory"


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


def finished(todo: Sequence[Shard], task: Task, workers: Workers, tell: Callable[[float], object]) -> list[Worked]:
    """Do all shards; the sources in their order, with the replays of each in the order of the presets.

    A shard whose worker died is given out again, one preset at a time, and after three deaths its replays have failed.

    Args:
        todo: the shards.
        task: the run.
        workers: which do them.
        tell: gets the part of a source that was done, in (0, 1].
    """
    alive: list[Worked] = []
    dead: list[Shard] = []
    while todo:
        again: list[Shard] = []
        for place, result in workers.each(partial(work, task), todo):
            shard = todo[place]
            if result is None and shard.deaths + 1 < DEATHS:
                again += [replace(shard, presets=(one,), deaths=shard.deaths + 1) for one in shard.presets]
                continue
            if result is None:
                dead.append(shard)
            else:
                alive.append(result)
            tell(len(shard.presets) / len(task.presets))
        todo = again
    return _joined(alive, dead, task)


def _joined(alive: Sequence[Worked], dead: Sequence[Shard], task: Task) -> list[Worked]:
    """The shards of each source together. Where every worker died over a source, its sessions are unknown."""
    order = {preset.name: place for place, preset in enumerate(task.presets)}
    found: dict[int, Worked] = {}
    for one in alive:
        known = found.setdefault(one.number, replace(one, sessions=tuple((row, ()) for row, _ in one.sessions)))
        both = zip(known.sessions, one.sessions, strict=True)
        found[one.number] = replace(known, sessions=tuple((row, (*had, *new)) for (row, had), (_, new) in both))
    for shard in dead:
        number, failed = shard.source.number, tuple(Done(one.name, reason=DIED) for one in shard.presets)
        unread = Worked(number, unreadable=(Unreadable(task.masked(shard.source.name), DIED),))
        known = found.setdefault(number, unread)
        found[number] = replace(known, sessions=tuple((row, (*had, *failed)) for row, had in known.sessions))
    return [replace(one, sessions=tuple(_sorted(one.sessions, order))) for _, one in sorted(found.items())]


def _sorted(
    sessions: Sequence[tuple[Row, tuple[Done, ...]]], order: Mapping[str, int]
) -> Iterator[tuple[Row, tuple[Done, ...]]]:
    for row, replays in sessions:
        yield row, tuple(sorted(replays, key=lambda done: order[done.strategy]))
