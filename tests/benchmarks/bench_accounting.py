"""What figures stand on, before and after: sizes, projects, windows, costs, outages, bills and text that was read.

    nice -n 5 python tests/benchmarks/bench_accounting.py [PATH ...] [--shares 0.2] [--strategies summarize,ex_athena]

Without paths it takes ../shared/corpora and ../shared/more-projects. *Sizes*: for each strategy and metric how much of
the size asked for it used (and truncate), the difference from truncate at the size asked for (as it was counted
before), and from truncate cut to the very size that the strategy used, with 95 % intervals over projects; and the
boundaries at which what must stay is larger than the size, which were scored before. *Projects*: coverage and false
alarms with sessions as the unit (before) and projects, by simulation. *Windows*: from the price table first (before)
and from evidence first, with the compactions of truncate in both. *Cost*: a mean of ratios beside mean dollars
(before), and the ratio of sums. Then come `bench_outages.py`, `bench_reconciliation.py` (bills) and
`bench_text_read.py`, which can be run alone; `--only` names some of the seven.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from workbench.analysis.compared import compare_table
from workbench.analysis.paired import interval, project_means, sign_flip
from workbench.compaction.presets import preset
from workbench.experiment.prepared import Prepared, read, sources_of
from workbench.experiment.references import BaselineAtSizes
from workbench.metrics.builtin import exam_recall, recall_bound
from workbench.metrics.costs.pricing import pricing
from workbench.metrics.metric import MetricInput
from workbench.models.extractive import Extractive
from workbench.models.prices import window as catalog_window
from workbench.replay.boundaries import at_shares
from workbench.replay.matched import matched, sized_histories, stays_larger
from workbench.replay.natural import natural
from workbench.replay.sizing import DEFAULT_WINDOW
from workbench.replay.step import Replay

SHARED = Path(__file__).parents[3] / "shared"
PATHS = [str(SHARED / "corpora"), str(SHARED / "more-projects")]
STRATEGIES = "summarize,ex_athena,hermes_lean,claude_code"
BASELINE = "truncate"
PARTS = ("sizes", "projects", "windows", "costs", "outages", "reconciliation", "text_read")


def scored(ready: Prepared, replay: Replay, shares: Sequence[float]) -> Iterator[dict[str, object]]:
    """A row a size and metric, as in the table `scores`."""
    for share in shares:
        unlike = stays_larger(replay, share)
        for metric in (exam_recall, recall_bound):
            yield {
                "session": ready.session.id, "project": ready.session.project or ready.session.id,
                "strategy": replay.preset, "mode": "matched", "share": share, "metric": metric.name,
                "value": None if unlike else metric.score(MetricInput(replay, ready.index, share)).value,
                "better": metric.better,
            }  # fmt: skip


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=PATHS)
    parser.add_argument("--shares", default="0.2")
    parser.add_argument("--strategies", default=STRATEGIES)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    given = parser.parse_args()
    wanted = [part for part in PARTS if part in given.only]
    every: list[Prepared] = []
    if {"sizes", "windows", "costs"} & set(wanted):
        every = sizes(given) if "sizes" in wanted else list(sessions(given.paths))
    for part in wanted:
        if part == "projects":
            for correlation in (0.1, 0.2, 0.3):
                of_projects(correlation)
        elif part in ("windows", "costs"):
            (windows if part == "windows" else costs)(every)
        elif part != "sizes":
            sys.stdout.flush()
            paths = [] if part == "outages" or given.paths == PATHS else given.paths
            subprocess.run([sys.executable, str(Path(__file__).with_name(f"bench_{part}.py")), *paths], check=False)


def sessions(paths: Sequence[str]) -> Iterator[Prepared]:
    """The sessions of these files."""
    for source in sources_of(paths):
        yield from read(source).ready


def sizes(given: argparse.Namespace) -> list[Prepared]:
    """Print what is used of each size, and the differences at the size asked for and at the size used."""
    shares = tuple(map(float, given.shares.split(",")))
    scores: list[dict[str, object]] = []
    at_sizes: list[dict[str, object]] = []
    filled: dict[str, list[float]] = {}
    left: list[bool] = []
    every: list[Prepared] = []
    for ready in sessions(given.paths):
        at, model = at_shares(ready.session), ready.reader(Extractive())
        every.append(ready)
        if not at:
            continue
        left += [not one.fits for one in sized_histories(ready.session, ready.sizing, at, shares)]
        baseline = BaselineAtSizes(ready, preset(BASELINE), model, at, shares)
        for name in (BASELINE, *given.strategies.split(",")):
            replay = matched(
                ready.session, preset(name), model, ready.sizing, window=ready.window, at=at, shares=shares
            )
            scores += scored(ready, replay, shares)
            place = {"session": ready.session.id, "strategy": name}
            at_sizes += [place | row for row in baseline.rows(replay)] if name != BASELINE else []
            done = [event.compaction for event in replay.events]
            parts = [one.sent.spoken / max(one.budget.target - one.before.overhead, 1) for one in done]
            filled.setdefault(name, []).extend(parts)
    if scores:
        show(pd.DataFrame(scores), pd.DataFrame(at_sizes), filled)
    write(
        f"boundaries where what must stay is larger than the size: {sum(left)} of {len(left)}; before scored, now not"
    )
    return every


def write(text: str) -> None:
    """A line."""
    sys.stdout.write(text + "\n")


def of_projects(correlation: float, projects: int = 14, samples: int = 1_500) -> None:
    """Coverage and false alarms of 37 sessions of 14 projects, as in the review, by unit."""
    dice = np.random.default_rng(15)
    names = np.sort(np.concatenate([np.arange(projects), dice.integers(0, projects, 37 - projects)]))
    alike = np.sqrt(correlation) * dice.normal(size=(samples, projects))[:, names]
    sessions = alike + np.sqrt(1 - correlation) * dice.normal(size=(samples, len(names)))
    means = np.array([project_means(sample, [str(name) for name in names]) for sample in sessions])
    found = []
    for values in (sessions, means):
        low, high = interval(values)
        alarms = (sign_flip(values, draws=999) <= 0.05).mean()
        found.append(f"intervals cover {((low <= 0) & (high >= 0)).mean():.0%}, tests err in {alarms:.0%}")
    write(f"correlation {correlation} in projects: before, by sessions, {found[0]}; by projects, {found[1]}")


def windows(every: Sequence[Prepared]) -> None:
    """The window of each session by both orders, and how often truncate compacts in it."""
    own, sums = preset(BASELINE), [0, 0]
    for ready in every:
        session = ready.session
        old = ready.sizing.window(session.window or catalog_window(session.model) or DEFAULT_WINDOW)
        times = [
            len(natural(session, own, Extractive(), ready.sizing, window=window, score_at=()).events)
            for window in (old, ready.window)
        ]
        sums = [total + n for total, n in zip(sums, times, strict=True)]
        if old != ready.window:
            write(
                f"{session.id[:38]:<38} window before {old:>9,} with {times[0]} compactions, now {ready.window:>9,} "
                f"({ready.wanted.source}) with {times[1]}"
            )
    write(f"windows: {sums[0]} compactions in {len(every)} sessions before, {sums[1]} now")


def costs(every: Sequence[Prepared]) -> None:
    """What truncate costs on its own trigger, by both definitions."""
    bills = []
    for ready in every:
        replay = natural(ready.session, preset(BASELINE), Extractive(), ready.sizing, window=ready.window, score_at=())
        bill = MetricInput(replay, ready.index, prices=pricing(ready.session)).bill
        if bill is not None and bill.usd_plain:
            bills.append((bill.usd_plain, bill.net_saving))
    if bills:
        plain, saved = (sum(part) for part in zip(*bills, strict=True))
        write(
            f"cost: before ${(plain - saved) / len(bills):.2f} a session beside {mean(s / p for p, s in bills):+.0%} "
            f"saved, a mean of ratios; now {saved / plain:+.0%}, the ratio of sums, {len(bills)} sessions"
        )


def show(scores: pd.DataFrame, at_sizes: pd.DataFrame, filled: dict[str, list[float]]) -> None:
    """The rows for each metric; differences in points."""
    sys.stdout.write(f"{BASELINE} uses {mean(filled[BASELINE]):.2f} of the size asked for\n")
    for metric in ("exam_recall", "recall_bound"):
        before = compare_table(scores, metric, BASELINE, "matched").set_index("strategy")
        after = compare_table(scores, metric, BASELINE, "matched", at_sizes).set_index("strategy")
        for name in after.index:
            cells = [cell(table.loc[name]) for table in (before, after)]
            sessions, projects = after.loc[name, "sessions"], after.loc[name, "projects"]
            sys.stdout.write(
                f"{metric:<13} {name:<14} uses {mean(filled[name]):.2f}; {sessions} sessions of {projects} projects: "
                f"at the size asked for {cells[0]}, at the size used {cells[1]}\n"
            )


def cell(row: pd.Series) -> str:
    """A difference in points with its interval, where there is one."""
    ends = "" if pd.isna(row["low"]) else f" ({100 * row['low']:.0f} to {100 * row['high']:.0f})"
    return f"{100 * row['difference']:+.0f}{ends}"


if __name__ == "__main__":
    main()
