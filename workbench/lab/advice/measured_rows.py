"""What a run and a simulation say of candidates, as rows of one session and candidate each."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.scores import floats, with_projects
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.metrics import NAMES, WORK
from workbench.lab.advice.read_once import ReadOnce

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
    "id",
    "session",
    "project",
    "candidate",
    *SCORES,
    *BILLS,
    *OUTCOMES,
    "ok",
    "fits",
)


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """What the search knows of a source before it is replayed: its project, the ids of its
    sessions, and how many messages the longest has.
    """

    project: str
    sessions: tuple[str, ...]
    messages: int = 0


def recorded(
    sources: Collection[SessionSource], by: str, reader: ReadOnce
) -> dict[str, RecordedSession]:
    """By name each source that holds a session; its project is that of the first, or its own
    name.
    """
    by_name = {}
    for source in sources:
        sessions = reader.sessions(source)
        if sessions:
            project = _project_of(sessions[0], source, by)
            ids = tuple(session.id for session in sessions)
            longest = max(len(session.messages) for session in sessions)
            by_name[source.name] = RecordedSession(project, ids, longest)
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


def places_of(
    names: Iterable[str],
    recordings: Mapping[str, RecordedSession],
    units: Sequence[str],
) -> pd.DataFrame:
    """By the name of a `session` in a run its source (`unit`) and its `id` in that: names are in
    the order of sources, and those of some may lack.
    """
    expected = deque[tuple[str, str]]()
    for unit in units:
        for id in recordings[unit].sessions:
            expected.append((unit, id))
    rows: list[tuple[str, str, str]] = []
    for name in names:
        while expected:
            unit, id = expected.popleft()
            if name == id or name.startswith(f"{id}~"):
                rows.append((name, unit, id))
                break
    return pd.DataFrame(rows, columns=["session", "unit", "id"])


def replayed_rows(
    run: Results,
    names: Sequence[str],
    units: Sequence[str],
    recordings: Mapping[str, RecordedSession],
) -> pd.DataFrame:
    """The rows of some strategies and recordings, without a simulation."""
    is_replayed = run.sessions["status"] == "ok"
    session_names = run.sessions.loc[is_replayed, "session"]
    places = places_of(map(str, session_names), recordings, units)
    project_of = {name: source.project for name, source in recordings.items()}
    is_named = run.replays["strategy"].isin(names)
    table = run.replays.loc[is_named, ["session", "strategy", "status"]]
    table = table.rename(columns={"strategy": "candidate"})
    for column, metric in SCORES.items():
        table = table.merge(_scores(run, metric, column), "left", ROW)
    table = table.merge(_bills(run), "left", ROW)
    table = table.merge(places, "left", "session")
    for column in (*SCORES, *BILLS):
        table[column] = floats(table[column])
    table = table.assign(
        **dict.fromkeys(OUTCOMES, float("nan")),
        project=table["unit"].map(project_of),
        # a source's session may have a name of its run only: sources keep sessions of two runs
        # apart
        session=table["unit"] + "#" + table["session"],
        ok=table["status"] == "ok",
        fits=~(table["over"] > 0),
    )
    return table[list(COLUMNS)]


def with_outcomes(rows: pd.DataFrame, outcomes: pd.DataFrame, places: pd.DataFrame) -> pd.DataFrame:
    """The rows with what a simulation says of some of them.

    Args:
        rows: of a search.
        outcomes: as of `Outcomes.rows`.
        places: of the sessions of that simulation, as of `places_of`.
    """
    keys = ["unit", "id", "candidate"]
    columns = [*keys, *OUTCOMES]
    simulated = outcomes.merge(places, "left", "session")
    simulated = simulated[columns].drop_duplicates(keys)
    table = rows.merge(simulated, "left", keys, suffixes=("", " simulated"))
    for column in OUTCOMES:
        values = floats(table[f"{column} simulated"])
        table[column] = table[column].fillna(values)
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
