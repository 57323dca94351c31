"""Whether what `compare` names for the work of a trial is what succeeds in it.

    python tests/benchmarks/bench_trial_verdicts.py tasks real bundled seeds

writes the table and its rows into reports/studies/verdicts, of the groups that are named; without
any, and with `--check`, as `docs/validity.py`. The conversations without compaction are compared, and
what is named is judged by the trials that were compacted:

- `real`: the twelve tasks of `reports/studies/real-agents`, from its stored trials: truncation against
  summaries that a rule wrote, which is what `compare` wrote too. Their bill is tokens sent.
- `bundled` and `seeds`: the bundled tasks, and families of tasks made from seeds, a few of each, which
  an agent works that asks no model. What became of them stands in the rows of `reports/studies/trials`.

A verdict holds by success where the worst of what was named succeeds as often as the best that was
tried, or at most 5 points less. It holds by the bill too where what was named is at most 5 % dearer
than the cheapest strategy that succeeds so often.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
sys.path.insert(0, str(Path(__file__).parents[2] / "reports" / "studies" / "real-agents"))

from bench_verdicts import DEARER, named_strategies
from real_agents import conversation, trials
from rows import Frames, Part, run
from scipy.stats import binomtest

import workbench as wb
from workbench import Findings

STUDIES = Path(__file__).parents[2] / "reports" / "studies"
PAGE = STUDIES / "verdicts" / "README.md"
STRATEGIES = ("truncate", "summarize", "pipeline", "claude_code")
LESS_SUCCESS = 0.05
"""The share of tasks by which a good choice may succeed less often than the best."""
GROUPS = {
    "seeds": "tasks made from seeds, an agent without a model",
    "bundled": "bundled tasks, an agent without a model",
    "real": "tasks of real agents",
}
SEEDS = 3
"""Tasks of each family that are compared."""
SHARE = float(inspect.signature(wb.trial).parameters["share"].default)
"""Of the largest request, the window that a trial has where none is given."""
STORED = {"seeds": "trials.csv", "bundled": "bundled.csv"}
"""By group the stored rows of its trials."""
WINDOWS = {"bundled": 12_000, "hard": 6_000}
"""Tokens of the window of real agents, by family."""
ARMS = {"truncate": "truncate", "rules": "summarize"}
"""Strategies by the arm of the study of real agents."""


@dataclass(frozen=True)
class Work:
    """Conversations without compaction, and what became of the work with it.

    Attributes:
        group: of `GROUPS`.
        name: of the family or task.
        files: the conversations.
        window: tokens of the trials' window.
        success: by strategy the share of its trials that succeeded.
        bills: by strategy its mean bill: USD, or tokens.
    """

    group: str
    name: str
    files: tuple[Path, ...]
    window: int
    success: Mapping[str, float]
    bills: Mapping[str, float]

    def rows(self) -> list[dict[str, object]]:
        """A row a strategy, with whether `compare` named it; nothing was named where it had nothing
        to decide.
        """
        results = wb.compare(
            list(map(str, self.files)),
            strategies=list(self.success),
            model="extractive",
            window=self.window,
            quiet=True,
            out=Path("reports") / "trial-verdicts" / self.group / self.name,
        )
        decision = Findings.of(results).decision
        named: tuple[str, ...] = ()
        if decision is not None and decision.points:
            named = named_strategies(decision)
        rows: list[dict[str, object]] = []
        for strategy in self.success:
            rows.append(
                {
                    "group": self.group,
                    "task": self.name,
                    "sessions": len(self.files),
                    "strategy": strategy,
                    "named": int(strategy in named),
                    "success": self.success[strategy],
                    "bill": self.bills[strategy],
                }
            )
        return rows


def measured(groups: Sequence[str], _: bool) -> Frames:
    """A row a strategy and family or task."""
    rows: list[dict[str, object]] = []
    with TemporaryDirectory() as folder:
        works_of = {
            "real": real_works(Path(folder)),
            "bundled": reader_works("bundled", ("bundled",), seeds=1),
            "seeds": reader_works("seeds", (), SEEDS),
        }
        works = chain.from_iterable(works_of[group] for group in groups)
        for work in works:
            rows += work.rows()
    return {"": pd.DataFrame(rows)}


def reader_works(group: str, families: Sequence[str], seeds: int) -> Iterator[Work]:
    """The work of the agent that asks no model, by family."""
    folder = Path("reports") / "trial-verdicts" / f"{group} tasks"
    trial_run = wb.trial(
        families=families,
        seeds=seeds,
        strategies=["none"],
        no_references=True,
        conversations=True,
        out=folder,
    )
    assert trial_run is not None
    stored = pd.read_csv(STUDIES / "trials" / "rows" / STORED[group], comment="#")
    for family, trials_of_family in trial_run.table.groupby("family", sort=False):
        rows = stored[stored["family"] == family].set_index("strategy")
        names = [name for name in STRATEGIES if name in rows.index]
        files = sorted((folder / "conversations").glob(f"none-{family}-*.json"))
        largest_request = float(trials_of_family["peak"].median())
        yield Work(
            group,
            str(family),
            tuple(files),
            int(SHARE * largest_request),
            rows.loc[names, "success"].astype(float).to_dict(),
            rows.loc[names, "usd"].astype(float).to_dict(),
        )


def real_works(folder: Path) -> Iterator[Work]:
    """The work of real agents, by task, from the stored trials."""
    by_task: dict[str, dict[str, float]] = {}
    tokens_by_task: dict[str, dict[str, float]] = {}
    uncompacted = []
    for trial in trials():
        if trial.arm == "none":
            uncompacted.append(trial)
        if trial.arm in ARMS:
            strategy = ARMS[trial.arm]
            by_task.setdefault(trial.task, {})[strategy] = float(trial.success)
            tokens_by_task.setdefault(trial.task, {})[strategy] = float(trial.tokens)
    for trial in uncompacted:
        file = folder / f"{trial.task}.json"
        file.write_text(json.dumps({"messages": conversation(trial)}), encoding="utf-8")
        yield Work(
            "real",
            trial.task,
            (file,),
            WINDOWS[trial.family],
            by_task[trial.task],
            tokens_by_task[trial.task],
        )


@dataclass(frozen=True)
class Judged:
    """What was named for a family or task, beside what succeeded most often.

    Attributes:
        named: the strategies that were named.
        success: the lowest of theirs.
        best_success: of all that were tried.
        best: the cheapest of those that succeed so often.
        dearer: how much dearer the dearest named is, as a share.
    """

    named: tuple[str, ...]
    success: float
    best_success: float
    best: str
    dearer: float

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Judged | None:
        """Of the rows of one family or task; None where nothing was named."""
        by_strategy = rows.set_index("strategy")
        named = by_strategy[by_strategy["named"] > 0]
        if named.empty:
            return None
        best_success = float(by_strategy["success"].max())
        is_good = by_strategy["success"] >= best_success - LESS_SUCCESS
        good_bills = by_strategy.loc[is_good, "bill"]
        return cls(
            tuple(named.index),
            float(named["success"].min()),
            best_success,
            str(good_bills.idxmin()),
            float(named["bill"].max() / good_bills.min() - 1),
        )

    @property
    def holds_by_success(self) -> bool:
        """Whether what was named succeeds as often as the best."""
        return self.success >= self.best_success - LESS_SUCCESS

    @property
    def holds(self) -> bool:
        """Whether it is as cheap too."""
        return self.holds_by_success and self.dearer <= DEARER


def told(rows: pd.DataFrame) -> Iterator[str]:
    """A row a family or task, then how many hold."""
    yield "| | named | success | best tried | success | dearer | holds |"
    yield "|---|---|---|---|---|---|---|"
    verdicts: dict[str, list[Judged]] = {group: [] for group in GROUPS}
    undecided: list[str] = []
    for (group, task), task_rows in rows.groupby(["group", "task"], sort=False):
        judged = Judged.of(task_rows)
        if judged is None:
            undecided.append(str(task))
            continue
        verdicts[str(group)].append(judged)
        cells = [
            str(task).replace("_", " "),
            " or ".join(judged.named),
            f"{judged.success:.2f}",
            judged.best,
            f"{judged.best_success:.2f}",
            f"{judged.dearer:.2f}" if judged.holds_by_success else "",
            "yes" if judged.holds else "by success" if judged.holds_by_success else "no",
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
    for group, words in GROUPS.items():
        if verdicts[group]:
            yield f"- {words}: {held_words(verdicts[group])}"
            yield f"- where success differs: {differing_words(rows[rows['group'] == group])}"
    if undecided:
        yield f"- nothing to decide, {len(undecided)}: {', '.join(undecided).replace('_', ' ')}"


def differing_words(rows: pd.DataFrame) -> str:
    """In how many of the tasks whose strategies do not succeed alike the one that was named does, and
    each strategy if it were always named.
    """
    success = rows.pivot_table("success", "task", "strategy")
    named = rows[rows["named"] > 0].groupby("task")["success"].min()
    best_success = success.max(axis="columns")
    differs = (best_success - success.min(axis="columns")) > LESS_SUCCESS
    least_success = best_success[differs] - LESS_SUCCESS
    named_holds = named.reindex(least_success.index) >= least_success
    ends = binomtest(int(named_holds.sum()), len(named_holds)).proportion_ci()
    parts = []
    for strategy in success:
        holding = (success.loc[least_success.index, strategy] >= least_success).sum()
        parts.append(f"always `{strategy}` {holding}")
    return (
        f"{named_holds.sum()} of {len(named_holds)} hold (95 % interval {ends.low:.2f} to"
        f" {ends.high:.2f}); {', '.join(parts)}"
    )


def held_words(verdicts: Sequence[Judged]) -> str:
    """How many hold, with the exact interval of the share."""
    parts = []
    for name, holding in (
        ("by success", sum(judged.holds_by_success for judged in verdicts)),
        ("by success and bill", sum(judged.holds for judged in verdicts)),
    ):
        ends = binomtest(holding, len(verdicts)).proportion_ci()
        parts.append(
            f"{holding} of {len(verdicts)} hold {name} (95 % interval {ends.low:.2f} to"
            f" {ends.high:.2f})"
        )
    return ", ".join(parts)


PARTS = {"tasks": Part(measure=measured, tell=told)}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
