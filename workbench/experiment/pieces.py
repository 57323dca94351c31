"""A run cut into pieces for workers, and what becomes of a piece whose worker died."""

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
"""Workers that a piece may take with it before that counts as its own doing."""

DIED = f"the worker process died over it {DEATHS} times, perhaps for want of memory"


@dataclass(frozen=True, slots=True)
class Piece:
    """One source under some of the run's presets.

    Attributes:
        most: sessions of the source to take at most.
        deaths: workers that died over it so far.
    """

    source: Source
    presets: tuple[Preset, ...]
    most: int | None = None
    deaths: int = 0


def pieces(
    sources: Sequence[Source], presets: Sequence[Preset], most: Mapping[int, int] | None, jobs: int
) -> list[Piece]:
    """One a source, or several where there are fewer sources than workers; the largest first.

    Args:
        sources: of the run.
        presets: of the run.
        most: sessions to take at most, by the source's number; None for all.
        jobs: workers.
    """
    shares = min(len(presets), -(-jobs // max(len(sources), 1)))
    found = [
        Piece(source, tuple(presets[first::shares]), None if most is None else most.get(source.number))
        for source in sources
        for first in range(shares)
    ]
    return sorted(found, key=lambda piece: -piece.source.bytes)


def finished(
    todo: Sequence[Piece], task: Task, workers: Workers, tell: Callable[[float], object] = lambda part: None
) -> list[Worked]:
    """Do all pieces; the sources in their order, with the cells of each in the order of the presets.

    A piece whose worker died is given out again, one preset at a time, and after three deaths its cells have failed.

    Args:
        todo: the pieces.
        task: the run.
        workers: who does them.
        tell: is told the part of a source that was done, in (0, 1].
    """
    alive: list[Worked] = []
    dead: list[Piece] = []
    while todo:
        again: list[Piece] = []
        for place, result in workers.each(partial(_work, task), todo):
            piece = todo[place]
            if isinstance(result, Death) and piece.deaths + 1 < DEATHS:
                again += [replace(piece, presets=(one,), deaths=piece.deaths + 1) for one in piece.presets]
                continue
            if isinstance(result, Death):
                dead.append(piece)
            else:
                alive.append(result)
            tell(len(piece.presets) / len(task.presets))
        todo = again
    return _joined(alive, dead, task)


def _work(task: Task, piece: Piece) -> Worked:
    return work(piece.source, replace(task, presets=piece.presets), piece.most)


def _joined(alive: Sequence[Worked], dead: Sequence[Piece], task: Task) -> list[Worked]:
    """The pieces of each source together. Of one that nobody survived, not even its sessions are known."""
    order = {preset.name: place for place, preset in enumerate(task.presets)}
    fatal: dict[int, list[Done]] = {}
    for piece in dead:
        fatal.setdefault(piece.source.number, []).extend(Done(one.name, "", DIED) for one in piece.presets)
    by_source: dict[int, list[Worked]] = {}
    for one in alive:
        by_source.setdefault(one.number, []).append(one)
    found = []
    for number, parts in by_source.items():
        sessions = []
        for place, (row, _) in enumerate(parts[0].sessions):
            cells = [done for part in parts for done in part.sessions[place][1]] + fatal.get(number, [])
            sessions.append((row, tuple(sorted(cells, key=lambda done: order[done.strategy]))))
        found.append(Worked(number, tuple(sessions), parts[0].unreadable))
    mask = Redactor().mask if task.settings.redact else str
    lost = {piece.source.number: piece.source for piece in dead if piece.source.number not in by_source}
    found += [Worked(number, (), (Unreadable(mask(source.name), DIED),)) for number, source in lost.items()]
    return sorted(found, key=lambda one: one.number)
