"""The tables of trials: what the agent without a model succeeds in.

`trials.py trials 20` tries 20 tasks of each family and keeps the means beside the page. Without a
number the tables are written from these; `--check` says how they differ. `trials.py bundled all`
does the same for the bundled tasks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Part, run

import workbench as wb
from workbench.engine.compaction.presets import NAMES
from workbench.lab.trials.bundled import BUNDLED
from workbench.lab.trials.spec import TrialSpec
from workbench.lab.trials.table import MEANS, by_strategy

PAGE = Path(__file__).parent / "README.md"
STRATEGIES = (*NAMES, "truncate+recall", "summarize+recall", "pipeline+recall")


def measured(words: Sequence[str], _: bool) -> Mapping[str, pd.DataFrame]:
    """The means of each strategy in each family, over so many tasks; the run itself goes on
    where it stopped.
    """
    seeds = int(words[0])
    out = Path(f"reports/trials-{seeds}")
    results = wb.trial(seeds=seeds, strategies=STRATEGIES, jobs=os.cpu_count(), out=out)
    return {"": _means(results)}


def recorded(_: Sequence[str], __: bool) -> Mapping[str, pd.DataFrame]:
    """The same of the bundled tasks, with the strategies that stand by default and recall."""
    strategies = (*TrialSpec().strategies, "truncate+recall", "summarize+recall")
    out = Path("reports/trials-bundled")
    results = wb.trial(families=BUNDLED, strategies=strategies, jobs=os.cpu_count(), out=out)
    return {"": _means(results)}


def _means(results: wb.TrialResults | None) -> pd.DataFrame:
    """By strategy and family the means of the trials that ran, and how many these are."""
    assert results is not None
    table = results.table
    by_family = table[table["status"] == "ok"].groupby(["strategy", "family"], sort=False)
    means = by_family[list(MEANS)].mean()
    return means.assign(tasks=by_family.size()).reset_index()


def tables(rows: pd.DataFrame) -> Iterator[str]:
    """A row a strategy, most successful first; then success by family."""
    strategies = by_strategy(rows.assign(status="ok", seed=0))
    strategies = strategies.sort_values("success", ascending=False, kind="stable")
    tasks_each = int(rows["tasks"].iloc[0])
    family_count = rows["family"].nunique()
    sample = f"{family_count} tasks"
    group = "task"
    if tasks_each > 1:
        sample = f"{family_count} families, {tasks_each} tasks of each"
        group = "family"
    yield f"{sample}, {len(strategies)} strategies:"
    yield ""
    yield (
        "| strategy | success | less *truncate* | look-ups | recalls | blind | misread | bad acts"
        " | tokens | USD |"
    )
    yield "|---" * 10 + "|"
    for row in strategies.to_dict("records"):
        cells = [str(row["strategy"]), f"{100 * row['success']:.0f} %", _difference(row)]
        for name in ("look_ups", "recalls", "blind", "misread", "violations"):
            cells.append(f"{row[name]:.2f}")
        cells += [f"{row['tokens']:,.0f}", f"{row['usd']:.3f}"]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"Success by {group}, in per cent:"
    yield ""
    success = rows.pivot_table("success", "strategy", "family", sort=False)
    success = success.loc[strategies["strategy"]]
    yield f"| strategy | {' | '.join(name.replace('_', ' ') for name in success)} |"
    yield "|---" * (len(success.columns) + 1) + "|"
    for name, values in success.iterrows():
        yield f"| {name} | {' | '.join(f'{100 * value:.0f}' for value in values)} |"


def _difference(row: Mapping[Hashable, float]) -> str:
    """Success less that of `truncate` in points, with its interval; empty where it has none."""
    if pd.isna(row["difference"]):
        return ""
    difference = f"{100 * row['difference']:+.0f}"
    if pd.isna(row["low"]):
        return difference
    return f"{difference} ({100 * row['low']:.0f} to {100 * row['high']:.0f})"


PARTS = {
    "trials": Part(measure=measured, tell=tables),
    "bundled": Part(measure=recorded, tell=tables),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
