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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

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
from workbench.evaluation.experiment.prepared import read as read_source
from workbench.evaluation.experiment.sources import SessionSource, sessions_in, sources_of
from workbench.lab.agreement.measured import COLUMNS, READ, Judge, on_recordings, on_tasks
from workbench.lab.agreement.measured import detours as detours_of
from workbench.lab.agreement.orders import ALL, TARGETS, Agreement
from workbench.lab.simulation.simulate import reader_of
from workbench.lab.trials.families import FAMILIES, tasks
from workbench.recordings.datasets.bundled import bundled_files

PAGE = Path(__file__).parent / "README.md"
READ_FAMILIES = ("far_dependency", "look_alikes", "changed_values")
STUDIES = Path(__file__).parents[1]
TRIALS, CLOSED_LOOP = STUDIES / "trials" / "rows", STUDIES / "closed-loop" / "rows"
"""The rows of the targets: success of tasks, and detours of recordings."""
SAMPLE = ("truncate", "summarize", "pipeline", "codex_local", "hermes_lean")
"""Strategies whose contexts a model reads, at one place of one task of each of these families."""


def measured(words: Sequence[str], _: bool) -> Frames:
    """What is said of contexts where tasks need values, of so many tasks of each family."""
    seeds = int(words[0])
    rows = on_tasks(
        [task for family in FAMILIES for task in tasks(family, range(seeds))], STRATEGIES
    )
    reader = reader_of("local", ModelSettings())
    assert reader is not None
    sample = on_tasks(
        [tasks(family, [0])[0] for family in READ_FAMILIES], SAMPLE, judge=Judge.tested(reader)
    )
    place = ["session", "strategy"]
    every = rows.set_index(place)
    every.update(sample.set_index(place)[[READ, "reader"]])
    return {"": every.reset_index()[list(COLUMNS)]}


def agreement(rows: pd.DataFrame) -> Iterator[str]:
    """The order against success and simulated detours on tasks."""
    found, sampled = _on_tasks(rows), rows[rows[READ].notna()]
    tasks_each = rows["session"].nunique() // rows["family"].nunique()
    yield (
        f"{rows['family'].nunique()} families, {tasks_each} tasks of each, over the means of the"
        " families:"
    )
    yield ""
    yield from _by_target(found)
    yield ""
    yield (
        f"Left out: {', '.join(found.over)}, which send more than the window;"
        f" {', '.join(found.recall)}."
    )
    yield (
        f"The model read for {sampled['strategy'].nunique()} of the strategies, at one place of "
        f"{some(sampled['session'].nunique(), 'task')}."
    )
    yield ""
    yield "Against success, by family:"
    yield ""
    yield from _table(found.by_family("success").drop(columns=ALL))


def _on_tasks(rows: pd.DataFrame) -> Agreement:
    return Agreement.of(rows, read("trials", folder=TRIALS))


def recorded(paths: Sequence[str], bundled: bool) -> Frames:
    """The same on recordings: of each project the first session that every strategy compacts."""
    known = read("simulated", folder=CLOSED_LOOP)
    known = known[known.groupby("session")["compactions"].transform("min") > 0]
    chosen, ids = dict[str, SessionSource](), dict[str, str]()
    for source in sources_of([*map(str, bundled_files()), *paths] if bundled else list(paths)):
        for session in sessions_in(source):
            project, name = session.project or session.id, named(session.id)
            if project not in chosen and name in set(known["session"]):
                chosen[project], ids[name] = source, session.id
    ready = (one for source in chosen.values() for one in read_source(source, WINDOW).ready)
    own = known[known["session"].isin(ids)]
    found = on_recordings(ready, own.assign(session=own["session"].map(ids)), SIMULATED)
    return {"": found.drop(columns=list(detours_of(own.iloc[0])))}


def _with_detours(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what `closed_loop.py simulated` now says of them."""
    known = read("simulated", folder=CLOSED_LOOP).set_index(["session", "strategy"])
    places = zip(rows["session"], rows["strategy"], strict=True)
    return rows.join(pd.DataFrame([detours_of(known.loc[place]) for place in places]))


def detours(rows: pd.DataFrame) -> Iterator[str]:
    """The order against simulated detours on recordings."""
    found = Agreement.of(_with_detours(rows))
    projects = rows["family"].nunique()
    yield f"{some(rows['session'].nunique(), 'session')} of {some(projects, 'project')}:"
    yield ""
    yield from _by_target(found)
    yield ""
    yield f"Left out: {', '.join((*found.over, *found.recall))}."


def _by_target(found: Agreement) -> Iterator[str]:
    """A row a metric: its rank correlation with each target, with all strategies, and pairs the
    other way round.
    """
    whole = found.ranks[found.ranks["family"] == ALL]
    targets = [TARGETS[name] for name in whole["target"].unique()]
    yield f"| | {' | '.join(targets)} | strategies |"
    yield "|---" * (len(targets) + 2) + "|"
    for metric, rows in whole.groupby("metric", sort=False):
        cells = [
            f"{_signed(row['rank'])} ({_signed(row['rank_all'])}); {row['contradictions']} of"
            f" {row['pairs']}"
            for row in rows.to_dict("records")
        ]
        yield f"| {found.title(str(metric))} | {' | '.join(cells)} | {rows['strategies'].iloc[0]} |"


def _table(rows: pd.DataFrame) -> Iterator[str]:
    yield f"| {' | '.join(name.replace('_', ' ') for name in rows)} |"
    yield "|---" * len(rows.columns) + "|"
    for _, (metric, *ranks) in rows.iterrows():
        yield f"| {metric} | {' | '.join(map(_signed, ranks))} |"


def _signed(value: object) -> str:
    return "" if not isinstance(value, float) or missing(value) else f"{value:+.2f}"


def facts(found: Agreement) -> dict[str, object]:
    """What every report says of it."""
    whole = found.ranks[found.ranks["family"] == ALL]
    ranks = [
        {
            "metric": found.title(str(metric)),
            **own.set_index("target")["rank"].dropna().round(4).to_dict(),
        }
        for metric, own in whole.groupby("metric", sort=False)
    ]
    exam = whole[whole["metric"] == "exam"].iloc[0]
    return {
        "ranks": ranks,
        "strategies": int(exam["strategies"]),
        "all": int(exam["strategies_all"]),
        "rank_all": round(float(exam["rank_all"]), 4),
        "cases": [[target, cases] for target, (cases, _) in found.told().items()],
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
