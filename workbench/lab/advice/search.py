"""Successive halving on the same sessions, and the gain of its choice on projects that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from random import Random

import pandas as pd

from workbench.evaluation.analysis.paired import Estimate, estimate
from workbench.evaluation.experiment.grid import Point
from workbench.lab.advice.measured import Measurements, Trade

FIRST = 4
"""Recordings of the first round."""
FINALISTS = 4
"""Candidates that are tried on every session, at least, where there are so many."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of halving: so many candidates on so many recordings."""

    candidates: int
    recordings: int


def rounds(candidates: int, recordings: int) -> list[Round]:
    """The rounds: recordings double and candidates halve, until a round has all recordings."""
    found, alive, n = [], candidates, min(FIRST, recordings)
    while True:
        n = recordings if alive <= FINALISTS else n
        found.append(Round(alive, n))
        if n >= recordings:
            return found
        alive, n = max(-(-alive // 2), min(FINALISTS, alive)), min(2 * n, recordings)


def spread(projects: Mapping[str, str], seed: int) -> list[str]:
    """The recordings in an order that all candidates share: one of each project, then a second one, and so on."""
    chance = Random(seed)
    groups: dict[str, list[str]] = {}
    for name, project in sorted(projects.items()):
        groups.setdefault(project, []).append(name)
    shuffled = chance.sample(list(groups.values()), len(groups))
    mixed = [chance.sample(one, len(one)) for one in shuffled]
    return [one for one in chain.from_iterable(zip_longest(*mixed)) if one is not None]


def halved(measured: Measurements, points: Sequence[Point], units: Sequence[str], trade: Trade, kept: Point) -> Chosen:
    """Try all candidates on few recordings, the better half on twice as many, and the last ones on all.

    A candidate that fails, or sends a request larger than the window, is out. `kept` stays to the end.
    """
    alive = [kept, *(one for one in points if one.strategy != kept.strategy)]
    for one in rounds(len(alive), len(units)):
        rows = measured.of(alive, units[: one.recordings])
        out = set(rows.loc[~(rows["ok"] & rows["fits"]), "candidate"]) - {kept.strategy}
        rows = rows[~rows["candidate"].isin(out)]
        table = trade.points(rows)
        order = table.mean().sort_values(ascending=False, kind="stable").index.tolist()
        if one.recordings < len(units):
            most = max(-(-len(alive) // 2), min(FINALISTS, len(alive)))
            names = dict.fromkeys([*order[:most], kept.strategy])
            alive = [point for point in alive if point.strategy in names]
    if table.empty:  # too little is needed later for any figure
        return Chosen(kept.strategy, table, rows)
    return Chosen(str(order[0]), table, rows)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The best candidate of a search, with the points and rows of the last round."""

    best: str
    points: pd.DataFrame
    rows: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Outside:
    """What choosing gains on projects that the choice has not seen.

    Attributes:
        gain: points of the choice over the default.
        by_project: likewise, a number a project.
        chosen: the choice of each fold.
        points: of the choice, by project.
    """

    gain: Estimate | None
    by_project: dict[str, float]
    chosen: tuple[str, ...]


def cross_validated(
    measured: Measurements, points: Sequence[Point], units: Sequence[str], projects: Mapping[str, str], trade: Trade,
    kept: Point, folds: int,
) -> Outside:  # fmt: skip
    """Choose without a part of the projects, measure the choice on it, and so on for each part."""
    names = list(dict.fromkeys(projects[unit] for unit in units))
    found: dict[str, float] = {}
    chosen = []
    count = min(folds, len(names))
    for fold in range(count if count > 1 else 0):
        held = set(names[fold::count])
        best = halved(measured, points, [one for one in units if projects[one] not in held], trade, kept).best
        chosen.append(best)
        pair = [kept, *(one for one in points if one.strategy == best and best != kept.strategy)]
        table = trade.points(measured.of(pair, [one for one in units if projects[one] in held]))
        if not table.empty:
            found |= {str(name): float(gain) for name, gain in (table[best] - table[kept.strategy]).dropna().items()}
    return Outside(estimate(list(found.values())), found, tuple(chosen))
