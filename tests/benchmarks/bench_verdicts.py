"""Whether what `compare` recommends is also the best when agents have to do without what was lost.

Usage: python tests/benchmarks/bench_verdicts.py PROJECT... [--window N] [--strategies A,B]
       [--kept FOLDER]

Each PROJECT is a file or folder of recordings of one project. `compare` names a strategy for it, or
several between which it finds no winner; `simulate` works the same sessions with each strategy. Two
results of the simulation are printed beside the best strategy's, each for the worst that was named:

- its bill with everything that was looked up again. A verdict holds where it is at most 5 % dearer;
- its points, as `compare` counts them: 100 times the share of steps that had what they needed, and
  one for each tenth of the bill that is saved. A verdict holds where it has at most 5 points less.

Prints a line a project and the share of verdicts that hold by each; exits with 1 where one of the
shares is below 80 %.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

import workbench as wb
from workbench.base.errors import WorkbenchError
from workbench.evaluation.analysis.trade import WORTH
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.decision import Decision

STRATEGIES = ("truncate", "summarize", "pipeline", "claude_code", "observation_mask")
DEARER = 0.05
"""The share of the cheapest bill by which a good choice may be dearer."""
FEWER_POINTS = 5.0
"""Points that a good choice may have less than the best one."""
BAR = 0.8
"""The share of projects whose verdict must hold."""


@dataclass(frozen=True)
class Verdict:
    """What was named for a project, and what it came to beside the best.

    Attributes:
        project: its file or folder.
        named: the strategies that were named: one, or those without a winner between them.
        cheapest: the strategy with the lowest simulated bill.
        dearer: how much dearer the dearest named one is, as a share of the cheapest bill.
        best: the strategy with most simulated points.
        fewer_points: how many less the worst named one has.
    """

    project: str
    named: tuple[str, ...]
    cheapest: str
    dearer: float
    best: str
    fewer_points: float

    @property
    def holds_by_bill(self) -> bool:
        """Whether nobody pays much more by it."""
        return self.dearer <= DEARER

    @property
    def holds_by_points(self) -> bool:
        """Whether nobody loses much by it, what is told and what is paid together."""
        return self.fewer_points <= FEWER_POINTS

    def __str__(self) -> str:
        bill = "holds" if self.holds_by_bill else "FAILS"
        points = "holds" if self.holds_by_points else "FAILS"
        return (
            f"{self.project}: {' or '.join(self.named)}. Bill {bill}: {100 * self.dearer:.0f} %"
            f" above {self.cheapest}. Points {points}: {self.fewer_points:.1f} below {self.best}"
        )


def main() -> int:
    """Judge the verdict on each project."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--window", type=int, default=32_000, help="Tokens of the window.")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="Names with commas.")
    parser.add_argument(
        "--kept", type=Path, default=Path("verdicts"), help="Where runs are kept, to go on."
    )
    arguments = parser.parse_args()
    strategies = arguments.strategies.split(",")
    verdicts: list[Verdict] = []
    for project in arguments.projects:
        try:
            verdict = judged(project, strategies, arguments.window, arguments.kept)
        except WorkbenchError as error:
            print(f"none   {project.name}: {error}", flush=True)
            continue
        if verdict is None:
            print(f"none   {project.name}: nothing was compacted or scored", flush=True)
            continue
        print(verdict, flush=True)
        verdicts.append(verdict)
    if not verdicts:
        print("no project had a verdict")
        return 1
    by_bill = sum(verdict.holds_by_bill for verdict in verdicts) / len(verdicts)
    by_points = sum(verdict.holds_by_points for verdict in verdicts) / len(verdicts)
    print(
        f"{len(verdicts)} verdicts; by the bill {100 * by_bill:.0f} % hold, by points"
        f" {100 * by_points:.0f} % (bar: {100 * BAR:.0f} %)"
    )
    return int(min(by_bill, by_points) < BAR)


def judged(project: Path, strategies: list[str], window: int, kept: Path) -> Verdict | None:
    """The verdict on one project; None where there is no decision."""
    results = wb.compare(
        [str(project)],
        strategies=strategies,
        model="extractive",
        window=window,
        out=kept / project.name / "compared",
    )
    decision = Findings.of(results).decision
    if decision is None or not decision.points:
        return None
    simulation = wb.simulate(
        [str(project)],
        strategies=strategies,
        model="extractive",
        window=window,
        out=kept / project.name / "simulated",
    )
    table = simulated_results(simulation.simulated)
    named = named_strategies(decision)
    bills, points = table["bill"], table["points"]
    cheapest = str(bills.idxmin())
    best = str(points.idxmax())
    return Verdict(
        project.name,
        named,
        cheapest,
        dearer=float(bills[list(named)].max() / bills[cheapest] - 1),
        best=best,
        fewer_points=float(points[best] - points[list(named)].min()),
    )


def named_strategies(decision: Decision) -> tuple[str, ...]:
    """The strategy that a decision recommends, or all between which it finds no winner."""
    if decision.use:
        return (decision.use,)
    points = decision.points or {}
    return tuple(points)


def simulated_results(simulated: pd.DataFrame) -> pd.DataFrame:
    """By strategy over all sessions: the bill in USD with all that agents had to look up again, and
    points.
    """
    sums = simulated.groupby("strategy").sum(numeric_only=True).astype(float)
    blind = sums["blind_user"] + sums["blind_decision"] + sums["blind_result"]
    saved_share = sums["saved_usd_net"] / sums["usd_uncompacted"]
    return pd.DataFrame(
        {
            "bill": sums["usd_uncompacted"] - sums["saved_usd_net"],
            "points": 100 * (1 - blind / sums["steps"]) + 10 * WORTH * saved_share,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
