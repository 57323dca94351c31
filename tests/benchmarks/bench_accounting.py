"""How much the size that strategies really use changes what they are worth against truncate.

    nice -n 5 python tests/benchmarks/bench_accounting.py [PATH ...] [--shares 0.2] [--strategies summarize,ex_athena]

Without paths it takes ../shared/corpora and ../shared/more-projects. For each strategy and metric it prints a row: how
much of the size asked for it used (and truncate), the difference from truncate at the size asked for (as it was counted
before), and from truncate cut to the very size that the strategy used, with 95 % intervals over projects.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from workbench.analysis.compared import compare_table
from workbench.compaction.presets import preset
from workbench.experiment.equal_size import BaselineAtSizes
from workbench.experiment.prepared import Prepared
from workbench.experiment.sources import read, sources_of
from workbench.metrics.metric import MetricInput
from workbench.metrics.recall import exam_recall, recall_bound
from workbench.metrics.size import stays_larger
from workbench.models.extractive import Extractive
from workbench.replay.boundaries import at_shares
from workbench.replay.matched import matched
from workbench.replay.step import Replay

SHARED = Path(__file__).parents[3] / "shared"
STRATEGIES = "summarize,ex_athena,hermes_lean,claude_code"
BASELINE = "truncate"


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
    parser.add_argument("paths", nargs="*", default=[str(SHARED / "corpora"), str(SHARED / "more-projects")])
    parser.add_argument("--shares", default="0.2")
    parser.add_argument("--strategies", default=STRATEGIES)
    given = parser.parse_args()
    shares = tuple(map(float, given.shares.split(",")))
    scores: list[dict[str, object]] = []
    at_sizes: list[dict[str, object]] = []
    filled: dict[str, list[float]] = {}
    for source in sources_of(given.paths):
        for ready in read(source).ready:
            at, model = at_shares(ready.session), ready.reader(Extractive())
            if not at:
                continue
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
    show(pd.DataFrame(scores), pd.DataFrame(at_sizes), filled)


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
