"""What candidates keep of sessions and save on them, through the replays and tables of
`compare`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.advice_note import AdviceNote, noted
from workbench.evaluation.analysis.scores import floats, leading_metric, plain, with_projects
from workbench.evaluation.analysis.summary_writers import SummaryWriters
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.experiment.compare import Run
from workbench.evaluation.experiment.grid import Grid, Point, by_run
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.sources import SessionSource, sessions_in
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.metrics import NAMES, WORK
from workbench.lab.advice.outcomes import Outcomes, against_bill_of, with_net_bill
from workbench.lab.simulation.beside import simulate_beside

SCORES = {WORK: WORK, NAMES: NAMES, "over": "over_window"}
"""By column the metric of it, on the candidate's own trigger."""
ROW = ["session", "candidate"]
"""What a row is about."""
BILLS = ("saved", "usd", "plain")
"""What the bill of a session says."""
OUTCOMES = ("net", "equipped")
"""What a simulation of it says; missing where there is none."""
COLUMNS = (
    "unit",
    "session",
    "project",
    "candidate",
    *SCORES,
    *BILLS,
    *OUTCOMES,
    "ok",
    "fits",
)
WRITERS = ["strategy", "mode", "writer", "requests", "fallbacks", "by_rule"]
"""Columns of the table `compactions` that say who wrote."""


@dataclass
class Measurements:
    """Candidates on sources, measured when they are asked for; nothing is measured twice.

    Attributes:
        grid: the candidates.
        sources: recordings by name.
        recordings: what they hold, by name.
        spec: everything else of the runs; its folder holds all replays.
        half: the half of the headline that decides, see `decide_half`.
        rows: what was measured so far.
        measured_pairs: the candidates and sources that it is of.
        compactions: of the candidates, with who wrote.
        window: tokens; that of most sessions of the newest run.
        pending: replays that wait for answers of their model.
        not_simulated: why candidates were not simulated; empty where they were.
        simulates: whether candidates are simulated too, so that their bills pay every look-up.
        in_use: the candidate whose bill is paid today; empty where savings are of the bill without
            compaction.
    """

    grid: Grid
    sources: dict[str, SessionSource]
    recordings: dict[str, RecordedSession]
    spec: RunSpec
    half: str = NAMES
    rows: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))
    compactions: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=WRITERS))
    measured_pairs: set[tuple[str, str]] = field(default_factory=set)
    window: int = 0
    pending: int = 0
    not_simulated: str = ""
    simulates: bool = True
    in_use: str = ""

    def decide_half(self, default: Point, units: Sequence[str]) -> list[str]:
        """Let the work decide where enough sessions have exams of it, as in `compare`; else names.

        Returns:
            The sources in the order given, those first in which the half has a figure.
        """
        rows = self.of([default], units)
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
        for run_points in by_run(points).values():
            missing_units = []
            for unit in units:
                if not self._are_done(run_points, [unit]):
                    missing_units.append(unit)
            if missing_units:
                self._measure(run_points, missing_units)
        names = [point.strategy for point in points]
        is_of_names = self.rows["candidate"].isin(names)
        is_of_units = self.rows["unit"].isin(units)
        rows = with_net_bill(self.rows[is_of_names & is_of_units])
        if self.in_use in names:
            rows = against_bill_of(rows, self.in_use)
        return rows.assign(recall=floats(rows[self.half]))

    @property
    def writers(self) -> SummaryWriters:
        """Who wrote the summaries of each candidate that was measured."""
        return SummaryWriters(self.compactions)

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

    def _are_done(self, points: Sequence[Point], units: Sequence[str]) -> bool:
        """Whether all of these candidates were measured on all of these sources."""
        for point in points:
            for unit in units:
                if (point.strategy, unit) not in self.measured_pairs:
                    return False
        return True

    def _in_order(self, units: Sequence[str]) -> list[SessionSource]:
        """The sources of these names, in the order of a run's rows."""
        sources = [self.sources[unit] for unit in units]
        return sorted(sources, key=lambda source: source.number)

    def _measure(self, points: Sequence[Point], units: Sequence[str]) -> None:
        new_points = []
        for point in points:
            if not self._are_done([point], units):
                new_points.append(point)
        names = [point.strategy for point in new_points]
        sources = self._in_order(units)
        planned_run = Run.of(sources, self.run_of(new_points))
        run = planned_run.results()
        outcomes = Outcomes()
        if self.simulates:
            outcomes = Outcomes.of(run, sources, planned_run.job.spec)
            self.not_simulated = outcomes.reason or self.not_simulated
        self.pending += run.pending
        windows = run.sessions["window_used"].dropna()
        if len(windows):
            self.window = int(windows.mode().max())
        ordered_units = [source.name for source in sources]
        self._add_rows(_rows(run, outcomes, names, ordered_units, self.recordings))
        self._add_compactions(run, names)
        for name in names:
            for unit in units:
                self.measured_pairs.add((name, unit))

    def _add_rows(self, measured: pd.DataFrame) -> None:
        """Add those of candidates and sources that were not measured before."""
        pairs = zip(measured["candidate"], measured["unit"], strict=True)
        is_old = np.array([pair in self.measured_pairs for pair in pairs], dtype=bool)
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


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """What the search knows of a source before it is replayed: its project, and the ids of its
    sessions.
    """

    project: str
    sessions: tuple[str, ...]


def recorded(sources: Collection[SessionSource], by: str) -> dict[str, RecordedSession]:
    """By name each source that holds a session; its project is that of the first, or its own
    name.
    """
    by_name = {}
    for source in sources:
        sessions = sessions_in(source)
        if sessions:
            project = _project_of(sessions[0], source, by)
            ids = tuple(session.id for session in sessions)
            by_name[source.name] = RecordedSession(project, ids)
    return by_name


def _project_of(session: Session, source: SessionSource, by: str) -> str:
    row = {
        "session": session.id,
        "project": session.project,
        "path": source.name,
    }
    with_project = with_projects(
        pd.DataFrame({"session": [session.id]}),
        pd.DataFrame([row]),
        by,
    )
    return str(with_project["project"].iloc[0])


def _units(
    rows: Iterable[str],
    sources: Mapping[str, RecordedSession],
    units: Sequence[str],
) -> dict[str, str]:
    """By the name of a session in a run its source: rows are in the order of sources, and those
    of some may lack.
    """
    expected = deque[tuple[str, str]]()
    for unit in units:
        for id in sources[unit].sessions:
            expected.append((unit, id))
    by_name = {}
    for name in rows:
        by_name[name] = ""
        while expected and not by_name[name]:
            unit, id = expected.popleft()
            if name == id or name.startswith(f"{id}~"):
                by_name[name] = unit
    return by_name


def _rows(
    run: Results,
    outcomes: Outcomes,
    names: Sequence[str],
    units: Sequence[str],
    recordings: Mapping[str, RecordedSession],
) -> pd.DataFrame:
    """The rows of some strategies and recordings: a row a session and candidate."""
    is_replayed = run.sessions["status"] == "ok"
    session_names = run.sessions.loc[is_replayed, "session"]
    unit_of = _units(map(str, session_names), recordings, units)
    project_of = {name: source.project for name, source in recordings.items()}
    is_named = run.replays["strategy"].isin(names)
    table = run.replays.loc[is_named, ["session", "strategy", "status"]]
    table = table.rename(columns={"strategy": "candidate"})
    for column, metric in SCORES.items():
        table = table.merge(_scores(run, metric, column), "left", ROW)
    table = table.merge(_bills(run), "left", ROW)
    table = table.merge(outcomes.rows, "left", ROW)
    unit_column = pd.Series(unit_of).rename_axis("session").rename("unit")
    table = table.merge(unit_column.reset_index(), "left", "session")
    for column in (*SCORES, *BILLS, *OUTCOMES):
        table[column] = floats(table[column])
    table = table.assign(
        project=table["unit"].map(project_of),
        # a source's session may have a name of its run only: sources keep sessions of two runs
        # apart
        session=table["unit"] + "#" + table["session"],
        ok=table["status"] == "ok",
        fits=~(table["over"] > 0),
    )
    return table[list(COLUMNS)]


def _scores(run: Results, metric: str, column: str) -> pd.DataFrame:
    """By session and candidate the values of a metric on the candidate's own trigger."""
    is_natural = run.scores["mode"] == "natural"
    is_of_metric = run.scores["metric"] == metric
    rows = run.scores.loc[is_natural & is_of_metric]
    values = rows[["session", "strategy", "value"]]
    return values.set_axis([*ROW, column], axis="columns")


def _bills(run: Results) -> pd.DataFrame:
    """By session and candidate what was saved, the bill, and the bill without compaction."""
    new_names = {
        "strategy": "candidate",
        "net_saving": "saved",
        "usd_uncompacted": "plain",
    }
    costs = run.costs.rename(columns=new_names)
    bill = floats(costs["usd"]) + floats(costs["usd_fetching"])
    return costs.assign(usd=bill)[[*ROW, *BILLS]]


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
        projects), the share of the bill `saved`, `usd` a session, and how many `sessions` and
        `projects` all but the bill are over: that is of every priced session, as in `compare`.
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
