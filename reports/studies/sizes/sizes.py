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
from typing import TypeAlias

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
from workbench.evaluation.replays.step import Replay

PAGE = Path(__file__).parent / "README.md"
Row: TypeAlias = dict[str, object]
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
    prepared_sessions: Iterable[Prepared],
    strategies: Sequence[str] = STRATEGIES,
    share: float = SHARE,
) -> Frames:
    """The rows behind the page.

    `scores`, a row a session, strategy and metric: its value, the baseline's at its size, and the
    part that it used of the size asked for. `windows`, a row a session: its boundaries, those at
    which what must stay is larger than the size, and how often the baseline compacts in the window
    from the price table and in the one from evidence.
    """
    scores: list[Row] = []
    windows: list[Row] = []
    for prepared_session in prepared_sessions:
        windows.append(_windows(prepared_session, share))
        scores += _scores(prepared_session, strategies, share)
    return {"scores": pd.DataFrame(scores), "windows": pd.DataFrame(windows)}


def _about(prepared_session: Prepared) -> Row:
    """The columns that every row begins with."""
    session = prepared_session.session
    return {"session": session.id, "project": session.project or session.id}


def _windows(prepared_session: Prepared, share: float) -> Row:
    """A session's boundaries, and compactions of the baseline."""
    session = prepared_session.session
    boundaries = at_shares(session)
    histories = sized_histories(session, prepared_session.sizing, boundaries, (share,))
    fits = [history.fits for history in histories]
    in_table_window, in_own_window = compactions(prepared_session)
    return {
        **_about(prepared_session),
        "boundaries": len(fits),
        "too_small": fits.count(False),
        "before": in_table_window,
        "now": in_own_window,
    }


def _scores(prepared_session: Prepared, strategies: Sequence[str], share: float) -> Iterator[Row]:
    """The scores of a session; none where it has no boundary."""
    boundaries = at_shares(prepared_session.session)
    if not boundaries:
        return
    model = prepared_session.reader(Extractive())
    baseline = BaselineAtSizes(prepared_session, preset(BASELINE), model, boundaries, (share,))
    for name in (BASELINE, *strategies):
        replay = matched(
            prepared_session.session,
            preset(name),
            model,
            prepared_session.sizing,
            window=prepared_session.window,
            boundaries=boundaries,
            shares=(share,),
        )
        baseline_values = {row["metric"]: row["value"] for row in baseline.rows(replay)}
        used = _part_used(replay)
        is_larger = stays_larger(replay, share)
        for metric in METRICS:
            value = None
            if not is_larger:
                value = metric.score(MetricInput(replay, prepared_session.index, share)).value
            yield {
                **_about(prepared_session),
                "strategy": name,
                "metric": metric.name,
                "value": value,
                "there": baseline_values.get(metric.name),
                "used": used,
            }


def _part_used(replay: Replay) -> float | None:
    """The mean part that compactions used of the size asked for; None without one."""
    parts: list[float] = []
    for event in replay.events:
        compaction = event.compaction
        target_room = compaction.budget.target - compaction.before.overhead
        parts.append(compaction.sent.spoken / max(target_room, 1))
    if not parts:
        return None
    return mean(parts)


def table_window(prepared_session: Prepared) -> int:
    """The window of a session by the order of before: its own, else that of a price table."""
    session = prepared_session.session
    window = session.window or catalog_window(session.model) or DEFAULT_WINDOW
    return prepared_session.sizing.window(window)


def compactions(prepared_session: Prepared) -> list[int]:
    """How often the baseline compacts in the window from the price table, and in the one from
    evidence.
    """
    baseline = preset(BASELINE)
    model = Extractive()
    counts: list[int] = []
    for window in (table_window(prepared_session), prepared_session.window):
        replay = natural(
            prepared_session.session, baseline, model, prepared_session.sizing, window=window
        )
        counts.append(len(replay.events))
    return counts


def lines(scores: pd.DataFrame, windows: pd.DataFrame) -> Iterator[str]:
    """What the page says of them; differences in points."""
    scored = scores.dropna(subset="value")
    yield f"{counted(scored)}; differences from `{BASELINE}` in points:"
    yield ""
    heads = " | ".join(
        [f"`{metric.name}`: at the size asked for | at the size used" for metric in METRICS]
    )
    yield f"| strategy | part used of the size | {heads} |"
    yield "|---|---|---|---|---|---|"
    tables = _comparisons(scores)
    used_by_strategy = scored.groupby("strategy", sort=False)["used"].mean()
    for name, used in used_by_strategy.items():
        cells: list[str] = []
        for table in tables:
            cells.append(_cell(table.loc[name]) if name in table.index else "")
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


def _comparisons(scores: pd.DataFrame) -> list[pd.DataFrame]:
    """By metric the differences from the baseline at the size asked for, and at the size used."""
    by_size_asked = scores.assign(mode="matched", share=SHARE, better="higher")
    at_used_size = by_size_asked.assign(value=by_size_asked["there"], baseline=BASELINE)
    at_used_size = at_used_size[by_size_asked["strategy"] != BASELINE]
    tables: list[pd.DataFrame] = []
    for metric in METRICS:
        for baseline_values in (None, at_used_size):
            table = compare_table(by_size_asked, metric.name, BASELINE, "matched", baseline_values)
            tables.append(table.set_index("strategy"))
    return tables


def _cell(row: pd.Series) -> str:
    difference = f"{100 * row['difference']:+.0f}"
    if pd.isna(row["low"]):
        return difference
    return f"{difference} ({100 * row['low']:+.0f} to {100 * row['high']:+.0f})"


def _kinds(paths: Sequence[str], _: bool) -> Frames:
    rows: list[Row] = []
    for prepared_session in sessions(paths):
        exams = Exams.of(prepared_session.index)
        for boundary in at_shares(prepared_session.session):
            for item in exams.at(boundary).items:
                row: Row = {
                    "session": prepared_session.session.id,
                    "at": boundary,
                    "kind": item.kind,
                }
                rows.append(row)
    return {"": pd.DataFrame(rows, columns=["session", "at", "kind"])}


def kinds(rows: pd.DataFrame) -> Iterator[str]:
    """How many questions the exam asks of each kind."""
    counts = ", ".join([f"{n} {kind}" for kind, n in rows["kind"].value_counts().items()])
    places = some(rows.groupby(["session", "at"]).ngroups, "boundary", "boundaries")
    session_count = some(rows["session"].nunique(), "session")
    yield f"{len(rows)} questions at {places} of {session_count}: {counts}."


def _measured(paths: Sequence[str], _: bool) -> Frames:
    return measured(sessions(paths))


PARTS = {
    "sizes": Part(measure=_measured, tell=lines),
    "kinds": Part(measure=_kinds, tell=kinds, kept=False),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
