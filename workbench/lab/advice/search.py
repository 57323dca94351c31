"""Successive halving on the same sessions, and the gain of its choice on projects that it has
not seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random

import pandas as pd

from workbench.evaluation.analysis.paired import Estimate, estimate
from workbench.evaluation.analysis.trade import (
    MARGIN,
    Choice,
    Trade,
    choice,
    complete_sessions,
    difference,
)
from workbench.evaluation.experiment.grid import Point
from workbench.lab.advice.measured import Measurements, saved_shares
from workbench.lab.advice.outcomes import far_behind

FIRST = 4
"""Recordings of the first round."""
TENTHS = 10
"""Of a bill."""
FINALISTS = 4
"""Candidates that are tried on every session, at least, where there are so many."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of halving: so many candidates on so many recordings."""

    candidates: int
    recordings: int


def rounds(candidates: int, recordings: int) -> list[Round]:
    """The rounds: recordings double and candidates halve, until a round has all recordings."""
    planned = []
    alive = candidates
    recording_count = min(FIRST, recordings)
    while True:
        if alive <= FINALISTS:
            recording_count = recordings
        planned.append(Round(alive, recording_count))
        if recording_count >= recordings:
            return planned
        alive = better_half(alive)
        recording_count = min(2 * recording_count, recordings)


def tried_pairs(planned: Sequence[Round]) -> int:
    """How many pairs of a candidate and a recording rounds try at most, each once."""
    pairs = 0
    recordings_before = 0
    for step in planned:
        pairs += step.candidates * (step.recordings - recordings_before)
        recordings_before = step.recordings
    return pairs


def better_half(candidates: int) -> int:
    """How many candidates stay: half of them, and no fewer than the finalists."""
    return max(-(-candidates // 2), min(FINALISTS, candidates))


def spread(projects: Mapping[str, str], seed: int) -> list[str]:
    """The recordings in an order that all candidates share: one of each project, then a second
    one, and so on.
    """
    chance = Random(seed)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(projects):
        groups[projects[name]].append(name)
    projects_in_turn = chance.sample(list(groups.values()), len(groups))
    queues = [chance.sample(names, len(names)) for names in projects_in_turn]
    order: list[str] = []
    for turn in zip_longest(*queues):
        order += [name for name in turn if name is not None]
    return order


@dataclass(frozen=True, slots=True)
class Finals:
    """The last round of a search.

    Attributes:
        choice: as `compare` decides between its strategies; None where no session has a figure.
        points: by project and candidate.
        rows: as of `Measurements`.
        set_aside: candidates that are not chosen since they end far behind when simulated, with
            their distance in points.
        out_of_reach: candidates that were not simulated, as of `out_of_reach`.
    """

    choice: Choice | None
    points: pd.DataFrame
    rows: pd.DataFrame
    set_aside: Mapping[str, float] = field(default_factory=dict)
    out_of_reach: Mapping[str, float] = field(default_factory=dict)

    def best_or(self, default: str) -> str:
        """The candidate to use, or the default where no session has a figure."""
        if self.choice is None:
            return default
        return self.choice.use

    def leads_over(self, default: str) -> list[float]:
        """By project the points by which the best of the other candidates is ahead of the default."""
        if default not in self.points:
            return []
        other_points = self.points.drop(columns=default)
        if other_points.empty:
            return []
        best = other_points.mean().idxmax()
        leads = other_points[best] - self.points[default]
        return [float(lead) for lead in leads]

    @property
    def runner_up(self) -> tuple[str, Estimate | None] | None:
        """The second candidate, and how far the choice is ahead of it."""
        if self.choice is None or not self.choice.others:
            return None
        second = self.choice.others[0]
        return second, difference(self.points, self.choice.use, second)


def halved(
    measured: Measurements,
    points: Sequence[Point],
    units: Sequence[str],
    trade: Trade,
    default: Point,
    *,
    tells_bills: bool = False,
) -> Finals:
    """Try all candidates on few recordings, the better half on twice as many, and the last ones on
    all.

    A candidate that fails, or sends a request larger than the window, is out, and so is one that no
    saving could bring to the default: it is not simulated. The default stays to the end. Of the last
    round those are not chosen that end far behind when simulated.

    Args:
        measured: measures them.
        points: the candidates.
        units: the recordings, in the order in which they are tried.
        trade: of what is kept and the bill.
        default: what the candidates are compared with.
        tells_bills: whether the best of the others and the cheapest candidate are simulated in any
            case, and the cheapest stays to the end.
    """
    other_points = [point for point in points if point.strategy != default.strategy]
    alive = [default, *other_points]
    far_names: dict[str, float] = {}
    for planned in rounds(len(alive), len(units)):
        recordings = units[: planned.recordings]
        out = failed_candidates(measured.replayed(alive, recordings))
        alive = _without(alive, out, default)
        replayed_rows = measured.replayed(alive, recordings)
        sessions = complete_sessions(replayed_rows)
        if sessions.empty:  # too little is needed later for any figure
            rows = measured.of(alive, recordings)
            return Finals(None, trade.points(rows).dropna(), rows)
        distances = out_of_reach(measured, sessions, recordings, trade, default)
        if tells_bills:
            kept_by_others = Trade(0).points(sessions).drop(columns=default.strategy)
            for name in [*_best(kept_by_others, 1), *_cheapest(replayed_rows)]:
                distances.pop(name, None)
        far_names |= distances
        alive = _without(alive, distances, default)
        rows = measured.of(alive, recordings)
        has_figure = rows["session"].isin(sessions["session"])
        rows = rows.assign(recall=rows["recall"].where(has_figure))
        table = trade.points(rows).dropna()
        if planned.recordings < len(units):
            names = {*_best(table, better_half(planned.candidates)), default.strategy}
            if tells_bills:
                names.update(_cheapest(rows))
            alive = [point for point in alive if point.strategy in names]
    set_aside = far_behind(rows)
    excluded = set(set_aside) - {default.strategy}
    eligible = table.drop(columns=[name for name in table if name in excluded])
    return Finals(choice(eligible, saved_shares(rows)), table, rows, set_aside, far_names)


def _cheapest(rows: pd.DataFrame) -> list[str]:
    """The candidate that saves most of the bill; none where nothing is priced."""
    savings = saved_shares(rows)
    if not savings:
        return []
    return [max(savings, key=savings.__getitem__)]


def _without(points: Sequence[Point], names: Collection[str], default: Point) -> list[Point]:
    """The candidates but for those of these names; the default stays."""
    others = [default]
    for point in points:
        if point.strategy not in names and point != default:
            others.append(point)
    return others


def out_of_reach(
    measured: Measurements,
    sessions: pd.DataFrame,
    recordings: Sequence[str],
    trade: Trade,
    default: Point,
) -> dict[str, float]:
    """Candidates that would not come near the default if they saved the whole bill, and how many
    points less than it they keep.

    Args:
        measured: simulates the default, where its bill is not the one that savings are of.
        sessions: as replayed, those with a figure for every candidate.
        recordings: that they are of.
        trade: of what is kept and the bill.
        default: what the candidates are compared with.
    """
    kept_points = Trade(0).points(sessions).mean()
    points_to_reach = kept_points[default.strategy]
    if measured.in_use != default.strategy:
        rows = measured.of([default], recordings)
        with_figure = rows[rows["session"].isin(sessions["session"])]
        points_to_reach = trade.points(with_figure)[default.strategy].mean()
    least_kept = points_to_reach - MARGIN - TENTHS * trade.worth
    distances: dict[str, float] = {}
    for name, points in kept_points.items():
        if points < least_kept and name != default.strategy:
            distances[str(name)] = float(kept_points[default.strategy] - points)
    return distances


def _best(points: pd.DataFrame, count: int) -> list[str]:
    """The names of so many candidates: those with the highest means."""
    means = points.mean().sort_values(ascending=False, kind="stable")
    names: list[str] = means.index.tolist()
    return names[:count]


def failed_candidates(rows: pd.DataFrame) -> set[str]:
    """Those of the rows that failed somewhere, or sent a request larger than the window."""
    is_good = rows["ok"] & rows["fits"]
    return set(rows.loc[~is_good, "candidate"])


@dataclass(frozen=True, slots=True)
class Outside:
    """What choosing gains on projects that the choice has not seen.

    Attributes:
        gain: points of the choice over the default.
        by_project: likewise, a number a project.
        chosen: the choice of each fold.
    """

    gain: Estimate | None
    by_project: dict[str, float]
    chosen: tuple[str, ...]

    def regret(self, points: pd.DataFrame, default: str) -> float | None:
        """What the best finalist, known beforehand, gains over the choices on these projects.

        Args:
            points: of the finalists, by project.
            default: that gains are over.

        Returns:
            Points, 0 or more; None where no project was held out.
        """
        shared_points = points.reindex(list(self.by_project)).dropna()
        if not len(shared_points):
            return None
        gains = shared_points.sub(shared_points[default], axis=0)
        choice_gains = pd.Series(self.by_project).reindex(shared_points.index)
        regret = gains.mean().max() - choice_gains.mean()
        return max(0.0, float(regret))


@dataclass(frozen=True, slots=True)
class Folds:
    """The projects of the recordings, and in how many parts they are left out in turn."""

    projects: Mapping[str, str]
    count: int

    def parts(self, units: Sequence[str]) -> list[set[str]]:
        """The projects of each part; none where there is one project alone."""
        projects = [self.projects[unit] for unit in units]
        distinct = list(dict.fromkeys(projects))
        count = min(self.count, len(distinct))
        if count < 2:
            return []
        return [set(distinct[start::count]) for start in range(count)]


def cross_validated(
    measured: Measurements,
    points: Sequence[Point],
    units: Sequence[str],
    folds: Folds,
    trade: Trade,
    default: Point,
) -> Outside:
    """Choose without a part of the projects, measure the choice on it, and so on for each part."""
    gains: dict[str, float] = {}
    choices = []
    for part in folds.parts(units):
        unseen_units = []
        seen_units = []
        for unit in units:
            if folds.projects[unit] in part:
                unseen_units.append(unit)
            else:
                seen_units.append(unit)
        finals = halved(measured, points, seen_units, trade, default)
        best = finals.best_or(default.strategy)
        choices.append(best)
        pair = [default]
        if best != default.strategy:
            pair += [point for point in points if point.strategy == best]
        table = trade.points(measured.of(pair, unseen_units))
        if table.empty:
            continue
        differences = (table[best] - table[default.strategy]).dropna()
        for project, gain in differences.items():
            gains[str(project)] = float(gain)
    return Outside(
        gain=estimate(list(gains.values())),
        by_project=gains,
        chosen=tuple(choices),
    )
