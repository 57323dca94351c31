"""What candidates keep of exact names and save on sessions, through the replays and tables of `compare`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from workbench.evaluation.analysis.paired import Estimate, estimate
from workbench.evaluation.analysis.scores import floats, with_projects
from workbench.evaluation.experiment.compare import Run
from workbench.evaluation.experiment.grid import Grid, Point
from workbench.evaluation.experiment.prepared import SessionSource, sessions_in
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.store import Results
from workbench.evaluation.metrics import NAMES

WORTH = 1.0
"""Points of names that saving a tenth of the bill is worth."""
MARGIN = 2.0
"""Points below which nobody would notice a difference."""
COLUMNS = ("unit", "session", "project", "candidate", "recall", "saved", "usd", "plain", "ok", "fits")


@dataclass
class Measurements:
    """Candidates on sources, measured when they are asked for; nothing is measured twice.

    Attributes:
        grid: the candidates.
        sources: recordings by name.
        known: what they hold, by name.
        rows: what was measured so far, `done` for which candidates and sources.
        window: tokens; the smallest of the newest run.
        pending: replays that wait for answers of their model.
        spec: everything else of the runs; its folder holds all replays.
    """

    grid: Grid
    sources: dict[str, SessionSource]
    known: dict[str, RecordedSession]
    spec: RunSpec
    rows: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))
    done: set[tuple[str, str]] = field(default_factory=set)
    window: int = 0
    pending: int = 0

    def of(self, points: Sequence[Point], units: Sequence[str]) -> pd.DataFrame:
        """The rows of these candidates on these sources: one a session and candidate."""
        places = dict.fromkeys((point.window, point.model) for point in points)
        for window, model in places:
            mine = [one for one in points if (one.window, one.model) == (window, model)]
            lacking = [unit for unit in units if any((one.strategy, unit) not in self.done for one in mine)]
            if lacking:
                self._measure(mine, lacking)
        names = [one.strategy for one in points]
        return self.rows[self.rows["candidate"].isin(names) & self.rows["unit"].isin(units)]

    def _measure(self, points: Sequence[Point], units: Sequence[str]) -> None:
        new = [one for one in points if any((one.strategy, unit) not in self.done for unit in units)]
        units = sorted(units, key=lambda unit: self.sources[unit].number)  # as the rows of a run
        run = Run.of([self.sources[unit] for unit in units], self.run_of(new)).results()
        found = _rows(run, [one.strategy for one in new], units, self.known)
        used = run.sessions["window_used"].dropna()
        self.pending += run.pending
        self.window = int(used.min()) if len(used) else self.window
        known = [(name, unit) in self.done for name, unit in zip(found["candidate"], found["unit"], strict=True)]
        fresh = found[~np.array(known, dtype=bool)]
        self.rows = fresh if self.rows.empty else pd.concat([self.rows, fresh], ignore_index=True)
        self.done.update((one.strategy, unit) for one in new for unit in units)

    def run_of(self, points: Sequence[Point]) -> RunSpec:
        """The run of some candidates of one window and model."""
        presets = tuple(map(self.grid.preset, points))
        return self.spec.changed(strategies=presets, window=points[0].window, model=points[0].model)


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """What the search knows of a source before it is replayed: its project, and the ids of its sessions."""

    project: str
    sessions: tuple[str, ...]


def recorded(sources: Collection[SessionSource], by: str) -> dict[str, RecordedSession]:
    """By name each source that holds a session; its project is that of the first, or its own name."""
    found = {}
    for source in sources:
        sessions = sessions_in(source)
        if sessions:
            row = {"session": sessions[0].id, "project": sessions[0].project, "path": source.name}
            known = with_projects(pd.DataFrame({"session": [sessions[0].id]}), pd.DataFrame([row]), by)
            found[source.name] = RecordedSession(str(known["project"].iloc[0]), tuple(one.id for one in sessions))
    return found


def _units(rows: Iterable[str], sources: Mapping[str, RecordedSession], units: Sequence[str]) -> dict[str, str]:
    """By the name of a session in a run its source: rows are in the order of sources, and those of some may lack."""
    expected = iter([(unit, id) for unit in units for id in sources[unit].sessions])
    found = {}
    for name in rows:
        found[name] = next((unit for unit, id in expected if name == id or name.startswith(f"{id}~")), "")
    return found


def _rows(
    run: Results, names: Sequence[str], units: Sequence[str], known: Mapping[str, RecordedSession]
) -> pd.DataFrame:
    sessions = run.sessions[run.sessions["status"] == "ok"]
    unit = _units(map(str, sessions["session"]), known, units)
    replays = run.replays[run.replays["strategy"].isin(names)]
    table = replays[["session", "strategy", "status"]].rename(columns={"strategy": "candidate"})
    scores = run.scores[run.scores["mode"] == "natural"]
    for column, metric in (("recall", NAMES), ("over", "over_window")):
        own = scores.loc[scores["metric"] == metric, ["session", "strategy", "value"]]
        own = own.set_axis(["session", "candidate", column], axis="columns")
        table = table.merge(own, "left", ["session", "candidate"])
    costs = run.costs.rename(columns={"strategy": "candidate", "net_saving": "saved", "usd_uncompacted": "plain"})
    costs = costs.assign(usd=floats(costs["usd"]) + floats(costs["usd_fetching"]))
    table = table.merge(costs[["session", "candidate", "saved", "usd", "plain"]], "left", ["session", "candidate"])
    places = pd.Series(unit).rename_axis("session").rename("unit").reset_index()
    table = table.merge(places, "left", "session")
    for column in ("recall", "over", "saved", "usd", "plain"):
        table[column] = floats(table[column])
    project = table["unit"].map({name: one.project for name, one in known.items()})
    # a source's session may have a name of its run only: sources keep sessions of two runs apart
    session = table["unit"] + "#" + table["session"]
    table = table.assign(project=project, session=session, ok=table["status"] == "ok", fits=~(table["over"] > 0))
    return table[list(COLUMNS)]


@dataclass(frozen=True, slots=True)
class Trade:
    """What is best: points of names, and what a tenth of the bill is worth in such points."""

    worth: float

    def points(self, rows: pd.DataFrame) -> pd.DataFrame:
        """By project (rows) and candidate (columns) the points; the mean of a column is the candidate's objective.

        That is 100 times the mean of recall over projects, and `worth` points for each tenth of the bill of all
        sessions that is saved: a ratio of sums. Only sessions that all candidates have a recall for count.
        """
        recall = rows.pivot_table("recall", "session", "candidate", dropna=False).reindex(
            columns=list(dict.fromkeys(rows["candidate"]))
        )
        shared = recall.dropna().index
        mine = rows[rows["session"].isin(shared)]
        known = mine.groupby(["project", "candidate"])
        points = 100 * known["recall"].mean().unstack("candidate")
        if self.worth:
            saved, plain = (known[name].sum().unstack("candidate") for name in ("saved", "plain"))
            points = points + 10 * self.worth * (saved / plain.mean().where(plain.mean() > 0)).fillna(0.0)
        return points


def figures(rows: pd.DataFrame, worth: float) -> pd.DataFrame:
    """One row a candidate on shared sessions, best first: `points`, `recall`, `saved`, `usd` a session, `sessions`."""
    points = Trade(worth).points(rows)
    recall = rows.pivot_table("recall", "session", "candidate", dropna=False).reindex(columns=points.columns).dropna()
    mine = rows[rows["session"].isin(recall.index)]
    by = mine.groupby("candidate")
    plain = by["plain"].sum()
    table = pd.DataFrame(
        {
            "points": points.mean(),
            "recall": Trade(0).points(mine).mean() / 100,
            "saved": by["saved"].sum() / plain.where(plain > 0),
            "usd": by["usd"].mean(),
            "sessions": by["session"].nunique(),
            "projects": by["project"].nunique(),
        }
    )
    return table.sort_values("points", ascending=False, kind="stable").rename_axis("candidate").reset_index()


def difference(points: pd.DataFrame, one: str, other: str) -> Estimate | None:
    """How many points one candidate is ahead of another, with the paired interval over projects."""
    return estimate((points[one] - points[other]).dropna().tolist())
