"""What candidates keep of sessions and save on them, through the replays and tables of
`compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from workbench.evaluation.analysis.advice_note import AdviceNote, noted
from workbench.evaluation.analysis.scores import floats, leading_metric, plain
from workbench.evaluation.analysis.summary_writers import SummaryWriters
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.experiment.compare import Run
from workbench.evaluation.experiment.grid import Grid, Point, by_run
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.metrics import NAMES, WORK
from workbench.lab.advice.measured_rows import (
    COLUMNS,
    RecordedSession,
    places_of,
    replayed_rows,
    with_outcomes,
)
from workbench.lab.advice.outcomes import Outcomes, against_bill_of, with_net_bill
from workbench.lab.simulation.beside import simulate_beside

WRITERS = ["strategy", "mode", "writer", "requests", "fallbacks", "by_rule"]
"""Columns of the table `compactions` that say who wrote."""


@dataclass
class Measurements:
    """Candidates on sources, replayed and simulated when they are asked for; nothing is measured
    twice.

    Attributes:
        grid: the candidates.
        sources: recordings by name.
        recordings: what they hold, by name.
        spec: everything else of the runs; its folder holds all replays.
        half: the half of the headline that decides, see `decide_half`.
        rows: what was measured so far.
        replayed_pairs: the candidates and sources that it is of.
        simulated_pairs: those of them that were simulated.
        compactions: of the candidates, with who wrote.
        window: tokens; that of most sessions of the newest run.
        pending: replays that wait for answers of their model.
        not_simulated: why candidates were not simulated; empty where they were.
        simulates: whether candidates are simulated too, so that their bills pay every look-up.
        in_use: the candidate whose bill is paid today; empty where savings are of the bill without
            compaction.
        tell: gets the rows of each measurement as soon as they are there; None for nobody.
    """

    grid: Grid
    sources: dict[str, SessionSource]
    recordings: dict[str, RecordedSession]
    spec: RunSpec
    half: str = NAMES
    rows: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))
    compactions: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=WRITERS))
    replayed_pairs: set[tuple[str, str]] = field(default_factory=set)
    simulated_pairs: set[tuple[str, str]] = field(default_factory=set)
    window: int = 0
    pending: int = 0
    not_simulated: str = ""
    simulates: bool = True
    in_use: str = ""
    tell: Callable[[pd.DataFrame], object] | None = None

    def decide_half(self, default: Point, units: Sequence[str]) -> list[str]:
        """Let the work decide where enough sessions have exams of it, as in `compare`; else names.

        Returns:
            The sources in the order given, those first in which the half has a figure.
        """
        rows = self.replayed([default], units)
        scores = rows.melt("session", [WORK, NAMES], "metric")
        self.half = leading_metric(scores.assign(mode="natural"), mode="natural")
        has_figure = rows[self.half].notna()
        units_with_figure = set(rows.loc[has_figure, "unit"])
        with_figure = []
        without_figure = []
        for unit in units:
            if unit in units_with_figure:
                with_figure.append(unit)
            else:
                without_figure.append(unit)
        return with_figure + without_figure

    def of(self, points: Sequence[Point], units: Sequence[str]) -> pd.DataFrame:
        """The rows of these candidates on these sources, one a session and candidate; `recall`
        is of the half, and the bill is simulated where all were.
        """
        self.replayed(points, units)
        if self.simulates:
            for run_points in by_run(points).values():
                new_points, new_units = _missing(run_points, units, self.simulated_pairs)
                if new_units:
                    self._simulate(new_points, new_units)
        rows = with_net_bill(self._rows_of(points, units))
        rows = rows.assign(uncompacted=rows["plain"])
        names = [point.strategy for point in points]
        if self.in_use in names:
            rows = against_bill_of(rows, self.in_use)
        if self.tell is not None:
            self.tell(rows)
        return rows

    def replayed(self, points: Sequence[Point], units: Sequence[str]) -> pd.DataFrame:
        """The same rows without a simulation, so that bills are estimated."""
        for run_points in by_run(points).values():
            new_points, new_units = _missing(run_points, units, self.replayed_pairs)
            if new_units:
                self._replay(new_points, new_units)
        return self._rows_of(points, units)

    def known_of(self, candidate: str) -> pd.DataFrame:
        """The rows of a candidate that are there, as of `replayed`."""
        rows = self.rows[self.rows["candidate"] == candidate]
        return rows.assign(recall=floats(rows[self.half]))

    def _rows_of(self, points: Sequence[Point], units: Sequence[str]) -> pd.DataFrame:
        names = [point.strategy for point in points]
        is_of_names = self.rows["candidate"].isin(names)
        is_of_units = self.rows["unit"].isin(units)
        rows = self.rows[is_of_names & is_of_units]
        return rows.assign(recall=floats(rows[self.half]))

    @property
    def writers(self) -> SummaryWriters:
        """Who wrote the summaries of each candidate that was measured."""
        return SummaryWriters(self.compactions)

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep the folder for this search until the `with` ends.

        Raises:
            SettingError: another process writes into it, or it holds a finished run of other
                sessions or settings.
        """
        run = Run.of(list(self.sources.values()), self.spec)
        with run.claimed(free=("strategies", "window", "model")):
            yield

    def publish(
        self,
        points: Sequence[Point],
        units: Sequence[str],
        notes: Sequence[AdviceNote],
    ) -> None:
        """Leave the run of some finalists on all sources in the folder, with what the advice said.

        Args:
            points: the advised candidate first; those of another window or model are left out.
            units: the sources.
            notes: what was said.
        """
        advised = points[0]
        shown_points = by_run(points)[advised.window, advised.model]
        run = Run.of(self._in_order(units), self.run_of(shown_points))
        results = run.results()
        if self.simulates:
            simulate_beside(results, run.sources, run.job.spec)
        run.job.folder.note(noted(notes))

    def _in_order(self, units: Sequence[str]) -> list[SessionSource]:
        """The sources of these names, in the order of a run's rows."""
        sources = [self.sources[unit] for unit in units]
        return sorted(sources, key=lambda source: source.number)

    def _replay(self, points: Sequence[Point], units: Sequence[str]) -> None:
        names = [point.strategy for point in points]
        sources = self._in_order(units)
        run = Run.of(sources, self.run_of(points)).results()
        self.pending += run.pending
        windows = run.sessions["window_used"].dropna()
        if len(windows):
            self.window = int(windows.mode().max())
        ordered_units = [source.name for source in sources]
        self._add_rows(replayed_rows(run, names, ordered_units, self.recordings))
        self._add_compactions(run, names)
        self.replayed_pairs |= _pairs(points, units)

    def _simulate(self, points: Sequence[Point], units: Sequence[str]) -> None:
        sources = self._in_order(units)
        ordered_units = [source.name for source in sources]
        longest = max(self.recordings[unit].messages for unit in units)
        outcomes = Outcomes.of(sources, Run.of(sources, self.run_of(points)), longest)
        self.simulated_pairs |= _pairs(points, units)
        if outcomes.reason:
            self.not_simulated = outcomes.reason
            return
        session_names = outcomes.rows["session"].unique()
        places = places_of(map(str, session_names), self.recordings, ordered_units)
        self.rows = with_outcomes(self.rows, outcomes.rows, places)

    def _add_rows(self, measured: pd.DataFrame) -> None:
        """Add those of candidates and sources that were not measured before."""
        pairs = zip(measured["candidate"], measured["unit"], strict=True)
        is_old = np.array([pair in self.replayed_pairs for pair in pairs], dtype=bool)
        new_rows = measured[~is_old]
        if self.rows.empty:
            self.rows = new_rows
        else:
            self.rows = pd.concat([self.rows, new_rows], ignore_index=True)

    def _add_compactions(self, run: Results, names: Sequence[str]) -> None:
        is_of_names = run.compactions["strategy"].isin(names)
        new_compactions = plain(run.compactions.loc[is_of_names, WRITERS])
        if self.compactions.empty:
            self.compactions = new_compactions
        else:
            self.compactions = pd.concat([self.compactions, new_compactions])

    def run_of(self, points: Sequence[Point]) -> RunSpec:
        """The run of some candidates of one window and model."""
        return self.spec.changed(
            strategies=tuple(map(self.grid.preset, points)),
            window=points[0].window,
            model=points[0].model,
        )


def _pairs(points: Sequence[Point], units: Sequence[str]) -> set[tuple[str, str]]:
    """Each of these candidates with each of these sources."""
    pairs: set[tuple[str, str]] = set()
    for point in points:
        for unit in units:
            pairs.add((point.strategy, unit))
    return pairs


def _missing(
    points: Sequence[Point], units: Sequence[str], measured_pairs: set[tuple[str, str]]
) -> tuple[list[Point], list[str]]:
    """The candidates and the sources that one more run takes, so that each pair is done."""
    missing_units = []
    for unit in units:
        if not _pairs(points, [unit]) <= measured_pairs:
            missing_units.append(unit)
    missing_points = []
    for point in points:
        if not _pairs([point], missing_units) <= measured_pairs:
            missing_points.append(point)
    return missing_points, missing_units


def saved_shares(rows: pd.DataFrame) -> dict[str, float]:
    """By candidate the share of the bill of all its priced sessions that it saves, as `compare`
    has it.
    """
    priced_rows = rows[rows["plain"] > 0]
    sums = priced_rows.groupby("candidate")[["saved", "plain"]].sum()
    shares = sums["saved"] / sums["plain"]
    return {str(name): float(share) for name, share in shares.items()}


def figures(rows: pd.DataFrame, worth: float) -> pd.DataFrame:
    """One row a candidate on the sessions that all have a figure of, best first.

    Returns:
        `candidate`, its `points`, what it keeps of the `work` and of `names` (shares, means over
        projects), the share of the bill `saved`, `usd` a session, how many `sessions` and `projects`
        all but the bill are over, and how many sessions the bill is over: every `priced` one, as in
        `compare`.
    """
    points = Trade(worth).points(rows)
    recall = rows.pivot_table("recall", "session", "candidate", dropna=False)
    recall = recall.reindex(columns=points.columns).dropna()
    shared_rows = rows[rows["session"].isin(recall.index)]
    by_candidate = shared_rows.groupby("candidate")
    priced_rows = rows[rows["plain"] > 0]
    table = pd.DataFrame(
        {
            "points": points.mean(),
            "work": _mean_kept(shared_rows, WORK),
            "names": _mean_kept(shared_rows, NAMES),
            "saved": pd.Series(saved_shares(rows), dtype=float),
            "usd": priced_rows.groupby("candidate")["usd"].mean(),
            "sessions": by_candidate["session"].nunique(),
            "projects": by_candidate["project"].nunique(),
            "priced": priced_rows.groupby("candidate")["session"].nunique(),
        },
        index=points.columns,
    )
    table = table.sort_values("points", ascending=False, kind="stable")
    return table.rename_axis("candidate").reset_index()


def _mean_kept(rows: pd.DataFrame, half: str) -> pd.Series[float]:
    """By candidate what it keeps of one half, as a share."""
    half_rows = rows.assign(recall=rows[half])
    points = Trade(0).points(half_rows)
    return points.mean() / 100
