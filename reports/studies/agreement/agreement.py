"""How metrics and judges order strategies against success and simulated detours: two parts of the
study's page.

`agreement.py agreement 3` asks about 3 tasks of each family, and a small model on this machine
about a sample (the extra `local`; five minutes of computing more). `agreement.py detours
RECORDINGS` takes the first session of each project that `closed_loop.py simulated` has, among these
recordings and the bundled ones. Rows are kept beside the page. Without paths the tables are written
from the rows; `--check` says where page, rows and recordings differ.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
sys.path.insert(0, str(Path(__file__).parents[1] / "closed-loop"))
sys.path.insert(0, str(Path(__file__).parents[1] / "trials"))

from closed_loop import STRATEGIES as SIMULATED
from closed_loop import WINDOW
from rows import Frames, Part, named, read, run
from trials import STRATEGIES

from workbench.base.formats import missing, some
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.prepared import read as read_source
from workbench.evaluation.experiment.sources import SessionSource, sessions_in, sources_of
from workbench.lab.agreement.measured import COLUMNS, READ, Judge, on_recordings, on_tasks
from workbench.lab.agreement.measured import detours as detours_of
from workbench.lab.agreement.orders import ALL, TARGETS, Agreement
from workbench.lab.simulation.simulate import reader_of
from workbench.lab.trials.families import FAMILIES, tasks
from workbench.lab.trials.task import TrialTask
from workbench.recordings.datasets.bundled import bundled_files

PAGE = Path(__file__).parent / "README.md"
READ_FAMILIES = ("far_dependency", "look_alikes", "changed_values")
STUDIES = Path(__file__).parents[1]
TRIALS = STUDIES / "trials" / "rows"
"""The rows with the success of tasks."""
CLOSED_LOOP = STUDIES / "closed-loop" / "rows"
"""The rows with the detours of recordings."""
SAMPLE = ("truncate", "summarize", "pipeline", "codex_local", "hermes_lean")
"""Strategies whose contexts a model reads, at one place of one task of each of these families."""


def measured(words: Sequence[str], _: bool) -> Frames:
    """What is said of contexts where tasks need values, of so many tasks of each family."""
    seeds = int(words[0])
    all_tasks: list[TrialTask] = []
    for family in FAMILIES:
        all_tasks += tasks(family, range(seeds))
    rows = on_tasks(all_tasks, STRATEGIES)
    reader = reader_of("local", ModelSettings())
    assert reader is not None
    read_tasks = [tasks(family, [0])[0] for family in READ_FAMILIES]
    sample = on_tasks(read_tasks, SAMPLE, judge=Judge.tested(reader))
    place = ["session", "strategy"]
    rows = rows.set_index(place)
    rows.update(sample.set_index(place)[[READ, "reader"]])
    return {"": rows.reset_index()[list(COLUMNS)]}


def agreement(rows: pd.DataFrame) -> Iterator[str]:
    """The order against success and simulated detours on tasks."""
    on_all_tasks = _on_tasks(rows)
    read_rows = rows[rows[READ].notna()]
    tasks_each = rows["session"].nunique() // rows["family"].nunique()
    yield (
        f"{rows['family'].nunique()} families, {tasks_each} tasks of each, over the means of the"
        " families:"
    )
    yield ""
    yield from _by_target(on_all_tasks)
    yield ""
    yield (
        f"Left out: {', '.join(on_all_tasks.over)}, which send more than the window;"
        f" {', '.join(on_all_tasks.recall)}."
    )
    yield (
        f"The model read for {read_rows['strategy'].nunique()} of the strategies, at one place of "
        f"{some(read_rows['session'].nunique(), 'task')}."
    )
    yield ""
    yield "Against success, by family:"
    yield ""
    yield from _table(on_all_tasks.by_family("success").drop(columns=ALL))


def _on_tasks(rows: pd.DataFrame) -> Agreement:
    return Agreement.of(rows, read("trials", folder=TRIALS))


def recorded(paths: Sequence[str], bundled: bool) -> Frames:
    """The same on recordings: of each project the first session that every strategy compacts."""
    simulated = read("simulated", folder=CLOSED_LOOP)
    fewest_compactions = simulated.groupby("session")["compactions"].transform("min")
    simulated = simulated[fewest_compactions > 0]
    files = list(paths)
    if bundled:
        files = [*map(str, bundled_files()), *files]
    first_sessions = _first_sessions(files, set(simulated["session"]))
    ids = {session.name: session.id for session in first_sessions}
    own_rows = simulated[simulated["session"].isin(ids)]
    named_rows = own_rows.assign(session=own_rows["session"].map(ids))
    rows = on_recordings(_prepared(first_sessions), named_rows, SIMULATED)
    detour_columns = detours_of(own_rows.iloc[0])
    return {"": rows.drop(columns=list(detour_columns))}


class NamedSession(NamedTuple):
    """A session in a file.

    Attributes:
        id: its own.
        name: what the rows call it.
        source: the file.
    """

    id: str
    name: str
    source: SessionSource


def _first_sessions(files: Sequence[str], names: Collection[str]) -> list[NamedSession]:
    """The first session of each project that has one of these names."""
    by_project: dict[str, NamedSession] = {}
    for source in sources_of(files):
        for session in sessions_in(source):
            project = session.project or session.id
            name = named(session.id)
            if project not in by_project and name in names:
                by_project[project] = NamedSession(session.id, name, source)
    return list(by_project.values())


def _prepared(sessions: Sequence[NamedSession]) -> Iterator[Prepared]:
    """All that the files of these sessions hold."""
    for session in sessions:
        yield from read_source(session.source, WINDOW).ready


def _with_detours(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what `closed_loop.py simulated` now says of them."""
    simulated = read("simulated", folder=CLOSED_LOOP).set_index(["session", "strategy"])
    places = zip(rows["session"], rows["strategy"], strict=True)
    return rows.join(pd.DataFrame([detours_of(simulated.loc[place]) for place in places]))


def detours(rows: pd.DataFrame) -> Iterator[str]:
    """The order against simulated detours on recordings."""
    on_sessions = Agreement.of(_with_detours(rows))
    projects = rows["family"].nunique()
    yield f"{some(rows['session'].nunique(), 'session')} of {some(projects, 'project')}:"
    yield ""
    yield from _by_target(on_sessions)
    yield ""
    yield f"Left out: {', '.join((*on_sessions.over, *on_sessions.recall))}."


def _by_target(measured_agreement: Agreement) -> Iterator[str]:
    """A row a metric: its rank correlation with each target, with all strategies, and pairs the
    other way round.
    """
    ranks = measured_agreement.ranks
    ranks = ranks[ranks["family"] == ALL]
    targets = [TARGETS[name] for name in ranks["target"].unique()]
    yield f"| | {' | '.join(targets)} | strategies |"
    yield "|---" * (len(targets) + 2) + "|"
    for metric, rows in ranks.groupby("metric", sort=False):
        cells: list[str] = [measured_agreement.title(str(metric))]
        for row in rows.to_dict("records"):
            cells.append(
                f"{_signed(row['rank'])} ({_signed(row['rank_all'])}); {row['contradictions']} of"
                f" {row['pairs']}"
            )
        cells.append(str(rows["strategies"].iloc[0]))
        yield f"| {' | '.join(cells)} |"


def _table(rows: pd.DataFrame) -> Iterator[str]:
    yield f"| {' | '.join(name.replace('_', ' ') for name in rows)} |"
    yield "|---" * len(rows.columns) + "|"
    for _, (metric, *ranks) in rows.iterrows():
        yield f"| {metric} | {' | '.join(map(_signed, ranks))} |"


def _signed(value: object) -> str:
    if not isinstance(value, float) or missing(value):
        return ""
    return f"{value:+.2f}"


def facts(measured_agreement: Agreement) -> dict[str, object]:
    """What every report says of it."""
    ranks = measured_agreement.ranks
    ranks = ranks[ranks["family"] == ALL]
    ranks_by_metric: list[dict[str, object]] = []
    for metric, rows in ranks.groupby("metric", sort=False):
        by_target = rows.set_index("target")["rank"].dropna().round(4).to_dict()
        ranks_by_metric.append({"metric": measured_agreement.title(str(metric)), **by_target})
    exam = ranks[ranks["metric"] == "exam"].iloc[0]
    cases = measured_agreement.told().items()
    return {
        "ranks": ranks_by_metric,
        "strategies": int(exam["strategies"]),
        "all": int(exam["strategies_all"]),
        "rank_all": round(float(exam["rank_all"]), 4),
        "cases": [[target, target_cases] for target, (target_cases, _) in cases],
    }


def _task_facts(rows: pd.DataFrame) -> Mapping[str, object]:
    return facts(_on_tasks(rows))


def _detour_facts(rows: pd.DataFrame) -> Mapping[str, object]:
    return facts(Agreement.of(_with_detours(rows))) | {
        "sessions": rows["session"].nunique(),
        "projects": rows["family"].nunique(),
    }


PARTS = {
    "agreement": Part(measure=measured, tell=agreement, facts=_task_facts),
    "detours": Part(measure=recorded, tell=detours, facts=_detour_facts),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
