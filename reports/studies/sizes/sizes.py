"""The tables of this study: what strategies use of the size asked for, and what that does to
differences.

`sizes.py sizes PATHS...` measures it, keeps its rows beside the page and writes the table. Without
paths it writes the table from the rows; with `--check` it says where page, rows and recordings
differ. `sizes.py kinds` counts questions of the bundled sessions.
`tests/benchmarks/bench_accounting.py` prints the same rows.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run
from summaries import counted

from workbench.base.formats import some
from workbench.engine.compaction.presets import preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.prices import window as catalog_window
from workbench.evaluation.analysis.compared import compare_table
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.references import BaselineAtSizes
from workbench.evaluation.experiment.sources import sources_of
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.scores.information import exam_recall, recall_bound
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import matched, sized_histories, stays_larger
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import DEFAULT_WINDOW

PAGE = Path(__file__).parent / "README.md"
STRATEGIES = ("summarize", "claude_code", "ex_athena", "hermes_lean")
BASELINE = "truncate"
METRICS = (exam_recall, recall_bound)
SHARE = 0.2
"""Of the history: the size that is asked for."""


def sessions(paths: Sequence[str]) -> Iterator[Prepared]:
    """The sessions of these files."""
    for source in sources_of(list(paths)):
        yield from read(source).ready


def measured(
    every: Iterable[Prepared], strategies: Sequence[str] = STRATEGIES, share: float = SHARE
) -> Frames:
    """The rows behind the page.

    `scores`, a row a session, strategy and metric: its value, the baseline's at its size, and the
    part that it used of the size asked for. `windows`, a row a session: its boundaries, those at
    which what must stay is larger than the size, and how often the baseline compacts in the window
    from the price table and in the one from evidence.
    """
    scores, windows = [], []
    for ready in every:
        of = {"session": ready.session.id, "project": ready.session.project or ready.session.id}
        at = at_shares(ready.session)
        fit = [one.fits for one in sized_histories(ready.session, ready.sizing, at, (share,))]
        before, now = compactions(ready)
        windows.append(
            of
            | {
                "boundaries": len(fit),
                "too_small": fit.count(False),
                "before": before,
                "now": now,
            }
        )
        if not at:
            continue
        model = ready.reader(Extractive())
        baseline = BaselineAtSizes(ready, preset(BASELINE), model, at, (share,))
        for name in (BASELINE, *strategies):
            replay = matched(
                ready.session,
                preset(name),
                model,
                ready.sizing,
                window=ready.window,
                boundaries=at,
                shares=(share,),
            )
            there = {row["metric"]: row["value"] for row in baseline.rows(replay)}
            done = [event.compaction for event in replay.events]
            parts = [
                one.sent.spoken / max(one.budget.target - one.before.overhead, 1) for one in done
            ]
            used = mean(parts) if parts else None
            larger = stays_larger(replay, share)
            for metric in METRICS:
                value = (
                    None if larger else metric.score(MetricInput(replay, ready.index, share)).value
                )
                scores.append(
                    of
                    | {
                        "strategy": name,
                        "metric": metric.name,
                        "value": value,
                        "there": there.get(metric.name),
                    }
                    | {"used": used}
                )
    return {"scores": pd.DataFrame(scores), "windows": pd.DataFrame(windows)}


def table_window(ready: Prepared) -> int:
    """The window of a session by the order of before: its own, else that of a price table."""
    session = ready.session
    return ready.sizing.window(session.window or catalog_window(session.model) or DEFAULT_WINDOW)


def compactions(ready: Prepared) -> list[int]:
    """How often the baseline compacts in the window from the price table, and in the one from
    evidence.
    """
    own, model = preset(BASELINE), Extractive()
    return [
        len(natural(ready.session, own, model, ready.sizing, window=window, boundaries=()).events)
        for window in (table_window(ready), ready.window)
    ]


def lines(scores: pd.DataFrame, windows: pd.DataFrame) -> Iterator[str]:
    """What the page says of them; differences in points."""
    known = scores.assign(mode="matched", share=SHARE, better="higher")
    at_sizes = known.assign(value=known["there"], baseline=BASELINE)[known["strategy"] != BASELINE]
    heads = " | ".join(
        f"`{metric.name}`: at the size asked for | at the size used" for metric in METRICS
    )
    scored = scores.dropna(subset="value")
    yield f"{counted(scored)}; differences from `{BASELINE}` in points:"
    yield ""
    yield f"| strategy | part used of the size | {heads} |"
    yield "|---|---|---|---|---|---|"
    tables = [
        compare_table(known, metric.name, BASELINE, "matched", sizes).set_index("strategy")
        for metric in METRICS
        for sizes in (None, at_sizes)
    ]
    for name, used in scored.groupby("strategy", sort=False)["used"].mean().items():
        cells = [_cell(table.loc[name]) if name in table.index else "" for table in tables]
        yield f"| `{name}` | {used:.2f} | {' | '.join(cells)} |"
    yield ""
    yield (
        f"At {windows['too_small'].sum()} of {windows['boundaries'].sum()} boundaries what must"
        " stay is larger than"
    )
    yield (
        f"the size. `{BASELINE}` compacts {windows['before'].sum()} times in the {len(windows)}"
        " sessions with windows"
    )
    yield (
        f"from a price table first, and {windows['now'].sum()} times with windows from evidence"
        " first."
    )


def _cell(row: pd.Series) -> str:
    ends = "" if pd.isna(row["low"]) else f" ({100 * row['low']:+.0f} to {100 * row['high']:+.0f})"
    return f"{100 * row['difference']:+.0f}{ends}"


def _kinds(paths: Sequence[str], _: bool) -> Frames:
    every = [
        (ready.session.id, at, item.kind)
        for ready in sessions(paths)
        for at in at_shares(ready.session)
        for item in Exams.of(ready.index).at(at).items
    ]
    return {"": pd.DataFrame(every, columns=["session", "at", "kind"])}


def kinds(rows: pd.DataFrame) -> Iterator[str]:
    """How many questions the exam asks of each kind."""
    found = ", ".join(f"{n} {kind}" for kind, n in rows["kind"].value_counts().items())
    places = some(rows.groupby(["session", "at"]).ngroups, "boundary", "boundaries")
    yield (
        f"{len(rows)} questions at {places} of {some(rows['session'].nunique(), 'session')}:"
        f" {found}."
    )


def _measured(paths: Sequence[str], _: bool) -> Frames:
    return measured(sessions(paths))


PARTS = {
    "sizes": Part(measure=_measured, tell=lines),
    "kinds": Part(measure=_kinds, tell=kinds, kept=False),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
