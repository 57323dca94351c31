"""The tables of trials: what the agent without a model succeeds in.

`trials.py trials 20` tries 20 tasks of each family and keeps the means beside the page. Without a
number the tables are written from these; `--check` says how they differ. `trials.py bundled all`
does the same for the bundled tasks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
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
    done = wb.trial(
        seeds=seeds, strategies=STRATEGIES, jobs=os.cpu_count(), out=Path(f"reports/trials-{seeds}")
    )
    assert done is not None
    by = done.table[done.table["status"] == "ok"].groupby(["strategy", "family"], sort=False)
    return {"": by[list(MEANS)].mean().assign(tasks=by.size()).reset_index()}


def recorded(_: Sequence[str], __: bool) -> Mapping[str, pd.DataFrame]:
    """The same of the bundled tasks, with the strategies that stand by default and recall."""
    ways = (*TrialSpec().strategies, "truncate+recall", "summarize+recall")
    done = wb.trial(
        families=BUNDLED, strategies=ways, jobs=os.cpu_count(), out=Path("reports/trials-bundled")
    )
    assert done is not None
    by = done.table[done.table["status"] == "ok"].groupby(["strategy", "family"], sort=False)
    return {"": by[list(MEANS)].mean().assign(tasks=by.size()).reset_index()}


def told(rows: pd.DataFrame) -> Iterator[str]:
    """A row a strategy, most successful first."""
    found = by_strategy(rows.assign(status="ok", seed=0)).sort_values(
        "success", ascending=False, kind="stable"
    )
    tasks = int(rows["tasks"].iloc[0])
    count = rows["family"].nunique()
    yield (
        f"{f'{count} families, {tasks} tasks of each' if tasks > 1 else f'{count} tasks'},"
        f" {len(found)} strategies:"
    )
    yield ""
    heads = (
        "strategy",
        "success",
        "less *truncate*",
        "look-ups",
        "recalls",
        "blind",
        "misread",
        "bad acts",
        "tokens",
        "USD",
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in found.to_dict("records"):
        ends = (
            "" if pd.isna(row["low"]) else f" ({100 * row['low']:.0f} to {100 * row['high']:.0f})"
        )
        against = "" if pd.isna(row["difference"]) else f"{100 * row['difference']:+.0f}{ends}"
        counts = (
            f"{row[name]:.2f}" for name in ("look_ups", "recalls", "blind", "misread", "violations")
        )
        cells = (
            row["strategy"],
            f"{100 * row['success']:.0f} %",
            against,
            *counts,
            f"{row['tokens']:,.0f}",
            f"{row['usd']:.3f}",
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"Success by {'family' if tasks > 1 else 'task'}, in per cent:"
    yield ""
    wide = rows.pivot_table("success", "strategy", "family", sort=False).loc[found["strategy"]]
    yield f"| strategy | {' | '.join(name.replace('_', ' ') for name in wide)} |"
    yield "|---" * (len(wide.columns) + 1) + "|"
    for name, values in wide.iterrows():
        yield f"| {name} | {' | '.join(f'{100 * value:.0f}' for value in values)} |"


PARTS = {
    "trials": Part(measure=measured, tell=told),
    "bundled": Part(measure=recorded, tell=told),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
