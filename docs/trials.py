"""The measured tables of docs/closed-loop.md: what the agent without a model succeeds in, and what metrics say of it.

`python docs/trials.py trials 20` tries 20 tasks of each family and keeps the means in docs/rows; without a number the
page is made from these. `--check` tells how they differ. `agreement 3` does the same for the metrics, on 3 tasks, and
`bundled all` for the bundled tasks.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from rows import Part, read, run

import workbench as wb
from workbench.compaction.presets import NAMES, RECALL
from workbench.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.metrics.exam.exams import Exams
from workbench.metrics.view import view
from workbench.models.extractive import Extractive
from workbench.palette import REFERENCES
from workbench.replay.natural import natural
from workbench.trials.agents import ReaderAgent
from workbench.trials.bundled import BUNDLED
from workbench.trials.families import FAMILIES, tasks
from workbench.trials.loop import work
from workbench.trials.run import UNBOUNDED, TrialSpec, opened
from workbench.trials.table import MEANS, by_strategy
from workbench.trials.task import TrialTask

PAGE = Path(__file__).parent / "closed-loop.md"
STRATEGIES = (*NAMES, "truncate+recall", "summarize+recall", "pipeline+recall")


def measured(words: Sequence[str], _: bool) -> Mapping[str, pd.DataFrame]:
    """The means of each strategy in each family, over so many tasks; the run itself goes on where it stopped."""
    seeds = int(words[0])
    done = wb.trial(seeds=seeds, strategies=STRATEGIES, jobs=os.cpu_count(), out=Path(f"reports/trials-{seeds}"))
    assert done is not None
    by = done.table[done.table["status"] == "ok"].groupby(["strategy", "family"], sort=False)
    return {"": by[list(MEANS)].mean().assign(tasks=by.size()).reset_index()}


def recorded(_: Sequence[str], __: bool) -> Mapping[str, pd.DataFrame]:
    """The same of the bundled tasks, with the strategies that stand by default and recall."""
    ways = (*TrialSpec().strategies, "truncate+recall", "summarize+recall")
    done = wb.trial(families=BUNDLED, strategies=ways, jobs=os.cpu_count(), out=Path("reports/trials-bundled"))
    assert done is not None
    by = done.table[done.table["status"] == "ok"].groupby(["strategy", "family"], sort=False)
    return {"": by[list(MEANS)].mean().assign(tasks=by.size()).reset_index()}


def told(rows: pd.DataFrame) -> Iterator[str]:
    """A row a strategy, most successful first."""
    found = by_strategy(rows.assign(status="ok", seed=0)).sort_values("success", ascending=False, kind="stable")
    tasks = int(rows["tasks"].iloc[0])
    count = rows["family"].nunique()
    yield f"{f'{count} families, {tasks} tasks of each' if tasks > 1 else f'{count} tasks'}, {len(found)} strategies:"
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
        ends = "" if pd.isna(row["low"]) else f" ({100 * row['low']:.0f} to {100 * row['high']:.0f})"
        against = "" if pd.isna(row["difference"]) else f"{100 * row['difference']:+.0f}{ends}"
        counts = (f"{row[name]:.2f}" for name in ("look_ups", "recalls", "blind", "misread", "violations"))
        cells = (row["strategy"], f"{100 * row['success']:.0f} %", against, *counts, f"{row['tokens']:,.0f}",
                 f"{row['usd']:.3f}")  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"Success by {'family' if tasks > 1 else 'task'}, in per cent:"
    yield ""
    wide = rows.pivot_table("success", "strategy", "family", sort=False).loc[found["strategy"]]
    yield f"| strategy | {' | '.join(name.replace('_', ' ') for name in wide)} |"
    yield "|---" * (len(wide.columns) + 1) + "|"
    for name, values in wide.iterrows():
        yield f"| {name} | {' | '.join(f'{100 * value:.0f}' for value in values)} |"


LEVELS = ("exam", "presence", "bound")
FAR_APART = 0.1
OVER = 0.05
SHARE = TrialSpec().share


def agreed(words: Sequence[str], _: bool) -> Mapping[str, pd.DataFrame]:
    """What the metrics say where the tasks' values are needed, of the uncompacted conversations under each strategy.

    A strategy compacts in the window of its trials; a task with fewer questions than a metric asks for counts all the
    same, since means are over tasks.
    """
    found = [row for family in FAMILIES for task in tasks(family, range(int(words[0]))) for row in _levels(task)]
    by = pd.DataFrame(found).groupby(["strategy", "family"], sort=False)
    return {"": by[["over", *LEVELS]].mean().assign(tasks=int(words[0])).reset_index()}


def _levels(task: TrialTask) -> Iterator[dict[str, object]]:
    with opened(task, sandbox=False) as workspace, TemporaryDirectory() as folder:
        way = wb.preset("none")
        plain = work(task, ReaderAgent(), way, workspace, window=UNBOUNDED, tariff=known_tariff(ASSUMED))
        file = Path(folder) / f"{task.name}.json"
        file.write_text(json.dumps({"messages": plain.messages}), encoding="utf-8")
        ready = wb.prepared(wb.load(file)[0], int(SHARE * plain.peak))
    users = [place for place, message in enumerate(ready.session.messages) if message.role == "user"]
    asks = [users[n] + 1 for n, turn in enumerate(task.turns) if any(step.holes for step in turn.steps)]
    for name in STRATEGIES:
        replay = natural(ready.session, wb.preset(name), Extractive(), ready.sizing, window=ready.window, score_at=asks)
        for shot in replay.snapshots:
            seen, exam = view(ready.session, shot.context), Exams.of(ready.index).at(shot.at)
            kept = ready.index.demand(shot.at).retained(seen.kept, seen.texts)
            yield {
                "strategy": name, "family": task.family, "over": float(shot.context.tokens > ready.window),
                "exam": exam.score(seen) if exam.items else None,
                **{level: kept.mean(level) if len(kept.demand) else None for level in LEVELS[1:]},
            }  # fmt: skip


def agreement(rows: pd.DataFrame) -> Iterator[str]:
    """How each metric orders the strategies against their success, over all families and in each."""
    both = rows.drop(columns="tasks").merge(read("trials")[["strategy", "family", "success"]])
    over = both.groupby("strategy", sort=False)["over"].mean()
    large = list(over.index[over > OVER])
    recall = [name for name in over.index if name.endswith(RECALL)]
    every = both[~both["strategy"].isin(REFERENCES)].groupby("strategy", sort=False)[["success", *LEVELS]].mean()
    both = both[~both["strategy"].isin([*REFERENCES, *large, *recall])]
    families = list(both["family"].unique())
    yield f"| metric | all families | {' | '.join(name.replace('_', ' ') for name in families)} |"
    yield "|---" * (len(families) + 2) + "|"
    whole = both.groupby("strategy", sort=False)[["success", *LEVELS]].mean()
    for level in LEVELS:
        each = (whole, *(both[both["family"] == family] for family in families))
        cells = (
            math.nan
            if min(one["success"].nunique(), one[level].nunique()) < 2
            else one["success"].corr(one[level], method="spearman")
            for one in each
        )
        yield f"| {level} | {' | '.join('' if math.isnan(one) else f'{one:+.2f}' for one in cells)} |"
    yield ""
    yield f"Left out: {', '.join(large)}, which send more than the window where a value is needed; {', '.join(recall)}."
    whole_range = (f"{level} {every['success'].corr(every[level], method='spearman'):+.2f}" for level in LEVELS)
    yield f"With these and all {len(every)} strategies but the references: {', '.join(whole_range)}."
    yield ""
    success = whole["success"]
    pairs = [pair for pair in permutations(whole.index, 2) if success[pair[0]] - success[pair[1]] >= FAR_APART]
    for level in LEVELS:
        wrong = [pair for pair in pairs if whole[level][pair[0]] < whole[level][pair[1]]]
        wrong.sort(key=lambda pair: success[pair[1]] - success[pair[0]])
        cases = "; ".join(
            f"{a} succeeds in {success[a]:.0%} and {b} in {success[b]:.0%}, with {whole[level][a]:.2f} and "
            f"{whole[level][b]:.2f}"
            for a, b in wrong[:3]
        )
        yield (
            f"- `{level}`: {len(wrong)} of {len(pairs)} pairs that lie {100 * FAR_APART:.0f} points of success apart "
            f"are the other way round{f': {cases}' if cases else ''}."
        )


PARTS = {
    "trials": Part(measure=measured, tell=told),
    "bundled": Part(measure=recorded, tell=told),
    "agreement": Part(measure=agreed, tell=agreement),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
