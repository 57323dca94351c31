"""The table of this study: the advice of half of the projects against the default on the other
half.

`advice.py halves PATHS...` measures candidates, keeps the rows beside the page and writes the
table. Without paths it writes the table from the rows; with `--check` it says where page, rows and
recordings differ.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run

from workbench.base.formats import percent
from workbench.evaluation.analysis.trade import Trade, difference
from workbench.evaluation.experiment.grid import Grid, Point
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.metrics import NAMES, WORK
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.advise import Search
from workbench.lab.advice.measured import Measurements, figures
from workbench.lab.advice.search import spread
from workbench.lab.advice.space import Candidates
from workbench.recordings.datasets.bundled import bundled_files

PAGE = Path(__file__).parent / "README.md"
SPEC = AdviceSpec(window=32_000, candidates=20, jobs=2, quiet=True)
SPLITS = 10


def _measured(paths: Sequence[str], bundled: bool) -> Frames:
    """A row a session and candidate, of these recordings and the bundled ones."""
    files = [*paths, *(map(str, bundled_files()) if bundled else ())]
    with TemporaryDirectory() as folder:
        search = Search.of(files, SPEC.changed(out=Path(folder)))
        rows = search.measured.of(search.candidates.points, search.order)
    return {
        "": (
            rows.assign(session=rows["session"].str.rpartition("#")[2]).drop(
                columns=["unit", "id", "recall"]
            )
        )
    }


def split(rows: pd.DataFrame, seed: int, worth: float) -> dict[str, object]:
    """What the advice of half of the projects says, and what it gains on the other half."""
    rows = _by_names(rows)
    names = list(dict.fromkeys(rows["candidate"]))
    points = tuple(Point(name, name.split()[0], SPEC.window, "extractive", {}) for name in names)
    projects = dict(zip(rows["session"], rows["project"], strict=True))
    every = sorted(set(projects.values()))
    half = set(Random(seed).sample(every, len(every) // 2))
    mine = {session: project for session, project in projects.items() if project in half}
    pairs = {(name, session) for name in names for session in projects}
    measured = Measurements(
        Grid(strategies=("summarize",)),
        {},
        {},
        RunSpec(),
        rows=rows,
        replayed_pairs=pairs,
        simulated_pairs=pairs,
    )
    candidates = Candidates(measured.grid, points[0], points)
    search = Search(SPEC.changed(worth=worth), candidates, measured, mine, spread(mine, seed))
    advice = search.advice()
    held = rows[~rows["project"].isin(half)]
    pair = held[held["candidate"].isin({advice.chosen.strategy, points[0].strategy})]
    there = difference(Trade(worth).points(pair), advice.chosen.strategy, points[0].strategy)
    assert there is not None
    promised = advice.outside.gain
    return {
        "chosen": advice.chosen.strategy,
        "stay": advice.stay,
        "promised": promised and promised.mean,
        "there": there.mean,
        "low": there.low,
        "high": there.high,
        "projects": there.projects,
    }


def _by_names(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as of a search that names decide: the rule-based writer wrote, and few sessions
    have other questions.
    """
    return rows.assign(unit=rows["session"], recall=rows[NAMES], **{WORK: float("nan")})


def lines(rows: pd.DataFrame) -> Iterator[str]:
    """What the page says of the splits; gains in points."""
    found = pd.DataFrame([split(rows, seed, SPEC.worth) for seed in range(SPLITS)])
    candidates, sessions, projects = (
        rows[name].nunique() for name in ("candidate", "session", "project")
    )
    yield (
        f"{candidates} candidates, {sessions} sessions, {projects} projects, windows of"
        f" {SPEC.window:,} tokens:"
    )
    yield ""
    yield "| split | best of the search | gain promised | advice | gain on the other half |"
    yield "|---|---|---|---|---|"
    for i, row in found.iterrows():
        ends = "" if pd.isna(row["low"]) else f" ({row['low']:+.1f} to {row['high']:+.1f})"
        advice = "stay" if row["stay"] else "use"
        promised = "" if pd.isna(row["promised"]) else f"{row['promised']:+.1f}"
        yield (
            f"| {int(str(i)) + 1} | `{row['chosen']}` | {promised} | {advice} |"
            f" {row['there']:+.1f}{ends} |"
        )
    yield ""
    yield f"With the default trade: {_tally(found)}"
    yield ""
    recall = pd.DataFrame([split(rows, seed, 0.0) for seed in range(SPLITS)])
    yield f"By names alone (`--worth 0`): {_tally(recall)}"
    yield ""
    names = dict.fromkeys([rows["candidate"].iloc[0], *found["chosen"], *recall["chosen"]])
    table = figures(_by_names(rows[rows["candidate"].isin(names)]), SPEC.worth)
    yield "| candidate, on all sessions | points | names | of the bill saved |"
    yield "|---|---|---|---|"
    for row in table.itertuples():
        yield f"| `{row.candidate}` | {row.points:.1f} | {row.names:.2f} | {percent(row.saved)} |"


def _tally(found: pd.DataFrame) -> str:
    """How often the advice was to change, how often that was better, and what following it
    gains.
    """
    used, stay = found[~found["stay"]], found[found["stay"]]
    clear = int((used["low"] > 0).sum())
    text = (
        f"the advice was to change in {len(used)} of {len(found)} splits. In"
        f" {int((used['there'] > 0).sum())} of these"
    )
    text += f" it was better than the default on the other half, in {clear} clear of chance."
    if len(stay):
        right = int((stay["there"] < SPEC.margin).sum())
        text += (
            f" In {len(stay)} it was to stay; the best of the search would have gained less than"
            f" the margin in {right}."
        )
    gain = used["there"].sum() / len(found)
    return f"{text} Following the advice gains {gain:+.1f} points there in the mean."


PARTS = {"halves": Part(measure=_measured, tell=lines)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
