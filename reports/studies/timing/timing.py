"""When to compact: what the schedule of each preset's trigger costs beside the cheapest one that
knew the future.

Sessions are those of `summaries.sample` without the bundled ones, where a compaction before at
least one request has something to take out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run
from schedules import Schedules
from summaries import sample

from workbench.base.formats import some
from workbench.engine.compaction.presets import NAMES, preset, with_price
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.extractive import Extractive
from workbench.evaluation.analysis.paired import estimate
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.metrics.costs.pricing import pricing

PAGE = Path(__file__).parent / "README.md"
WINDOWS = (64_000, 128_000)
STRATEGIES = ("summarize", "truncate")
PRICE = "`+price`"
CHEAPEST = "the cheapest"


class Case(NamedTuple):
    """What each column of the tables is about."""

    strategy: str
    window: int


CASES = [Case(strategy, window) for strategy in STRATEGIES for window in WINDOWS]


def triggers() -> dict[str, Preset]:
    """Each trigger once, by the presets that have it; those that never or always compact are
    left out.
    """
    presets_by_trigger: dict[str, list[Preset]] = {}
    for name in NAMES:
        if name not in ("none", "null"):
            named_preset = preset(name)
            trigger = f"{named_preset.trigger!r} {named_preset.moments}"
            presets_by_trigger.setdefault(trigger, []).append(named_preset)
    by_names: dict[str, Preset] = {}
    for presets in presets_by_trigger.values():
        names = ", ".join([f"`{same_preset.name}`" for same_preset in presets])
        by_names[names] = presets[0]
    return by_names


def _measured(paths: Sequence[str], _: bool) -> Frames:
    rows: list[dict[str, object]] = []
    for session in sample(paths, bundled=False):
        for window in WINDOWS:
            prepared_session = prepared(session, window)
            for strategy in STRATEGIES:
                rows += _rows_of(prepared_session, Case(strategy, window))
    return {"": pd.DataFrame(rows)}


def _rows_of(prepared_session: Prepared, case: Case) -> Iterator[dict[str, object]]:
    """A row a trigger; none where no compaction takes something out, or nothing has a price."""
    session = prepared_session.session
    schedules = Schedules(
        session,
        prepared_session.sizing,
        prepared_session.index,
        pricing(session),
        preset(case.strategy).strategy,
        prepared_session.reader(Extractive()),
        window=prepared_session.window,
    )
    cheapest = schedules.cheapest()
    if not schedules.compactable or schedules.cost(cheapest) <= 0:
        return
    by_name: dict[str, Sequence[int]] = {}
    for name, trigger_preset in triggers().items():
        by_name[name] = schedules.under(trigger_preset)
    by_name[PRICE] = schedules.under(with_price(case.strategy))
    by_name[CHEAPEST] = cheapest
    for name, schedule in by_name.items():
        yield {
            "project": session.project or session.id,
            "session": session.id,
            "window": case.window,
            "strategy": case.strategy,
            "context": name,
            "usd": schedules.cost(schedule),
            "compactions": len(schedule),
        }


def _of_case(rows: pd.DataFrame, case: Case) -> pd.DataFrame:
    return rows[(rows["window"] == case.window) & (rows["strategy"] == case.strategy)]


def _of_context(rows: pd.DataFrame, case: Case, context: str) -> pd.DataFrame:
    case_rows = _of_case(rows, case)
    return case_rows[case_rows["context"] == context]


def regrets(rows: pd.DataFrame, case: Case) -> pd.DataFrame:
    """A row a project and a column a trigger: by how many per cent its schedules cost more than
    the cheapest ones.
    """
    costs = _of_case(rows, case).pivot_table("usd", ["project", "session"], "context", sort=False)
    return 100 * costs.div(costs[CHEAPEST], axis=0).sub(1).groupby("project").mean()


def lines(rows: pd.DataFrame) -> Iterator[str]:
    """What each trigger costs more than the cheapest schedule, and `+price` against the best of
    the others.
    """
    tables = [regrets(rows, case) for case in CASES]
    total = sum([table.mean() for table in tables])
    names = [name for name in rows["context"].unique() if name != CHEAPEST]
    yield from _head("trigger of")
    for name in sorted(names, key=lambda name: total[name]):
        yield _row(name, [_cell(table[name]) for table in tables])
    yield ""
    yield from _head("")
    yield _row(f"{PRICE} less the best other", [_against(table) for table in tables])
    for name in (PRICE, CHEAPEST):
        means = [_of_context(rows, case, name)["compactions"].mean() for case in CASES]
        yield _row(f"compactions a session, {name}", [f"{mean:.1f}" for mean in means])
    yield _row("sessions", [_sessions(_of_context(rows, case, PRICE)) for case in CASES])


def _head(title: str) -> Iterator[str]:
    """The first rows of a table with a column a case."""
    titles = [f"`{case.strategy}`, {case.window // 1000}k" for case in CASES]
    first_cell = f" {title} " if title else " "
    yield f"|{first_cell}| " + " | ".join(titles) + " |"
    yield "|---" * (len(CASES) + 1) + "|"


def _row(title: str, cells: Sequence[str]) -> str:
    return f"| {title} | {' | '.join(cells)} |"


def _sessions(rows: pd.DataFrame) -> str:
    return f"{rows['session'].nunique()} of {some(rows['project'].nunique(), 'project')}"


def _against(table: pd.DataFrame) -> str:
    other_triggers = table.drop(columns=[PRICE, CHEAPEST])
    best = str(other_triggers.mean().idxmin())
    return f"{_cell(table[PRICE] - other_triggers[best], '+')}, {best}"


def _cell(values: pd.Series, sign: str = "") -> str:
    estimated = estimate(values.tolist())
    assert estimated is not None
    mean = f"{estimated.mean:{sign}.1f}"
    if estimated.low is None or estimated.high is None:
        return mean
    return f"{mean} ({estimated.low:{sign}.0f} to {estimated.high:{sign}.0f})"


PARTS = {"timing": Part(measure=_measured, tell=lines)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
