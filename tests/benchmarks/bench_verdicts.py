"""Whether what `compare` recommends is also the best when agents have to do without what was lost.

Usage: python tests/benchmarks/bench_verdicts.py PROJECT... [--window N] [--strategies A,B]
       [--kept FOLDER]

Each PROJECT is a file or folder of recordings of one project. `compare` names a strategy for it;
`simulate` works the same sessions with each strategy and gives its bill with everything that had to
be looked up again. A verdict holds where the named strategy's bill is at most 5 % above the
cheapest; "no difference" holds where the bills of all level strategies are that close. Prints a
line a project, and the share of projects whose verdict holds; exits with 1 below 80 %.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import workbench as wb
from workbench.base.errors import WorkbenchError
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.decision import Decision

STRATEGIES = ("truncate", "summarize", "pipeline", "claude_code", "observation_mask")
TOLERANCE = 0.05
"""The share of the cheapest bill by which a good choice may be dearer."""
BAR = 0.8
"""The share of projects whose verdict must hold."""


@dataclass(frozen=True)
class Verdict:
    """What was named for a project, and what it costs beside the cheapest.

    Attributes:
        project: its file or folder.
        named: the strategies that were named: one, or those without a winner between them.
        cheapest: the strategy with the lowest simulated bill.
        dearer: how much dearer the dearest named one is, as a share of the cheapest bill.
    """

    project: str
    named: tuple[str, ...]
    cheapest: str
    dearer: float

    @property
    def holds(self) -> bool:
        """Whether nobody loses by it."""
        return self.dearer <= TOLERANCE

    def __str__(self) -> str:
        mark = "holds" if self.holds else "FAILS"
        return (
            f"{mark}  {self.project}: {' or '.join(self.named)}; cheapest {self.cheapest},"
            f" by {100 * self.dearer:.0f} %"
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
    share = sum(verdict.holds for verdict in verdicts) / len(verdicts)
    print(f"{100 * share:.0f} % of {len(verdicts)} verdicts hold (bar: {100 * BAR:.0f} %)")
    return int(share < BAR)


def judged(project: Path, strategies: list[str], window: int, kept: Path) -> Verdict | None:
    """The verdict on one project; None where there is no decision."""
    results = wb.compare(
        [str(project)],
        strategies=strategies,
        model="extractive",
        window=window,
        out=kept / project.name,
    )
    decision = Findings.of(results).decision
    if decision is None or not decision.points:
        return None
    bills = simulated_bills(project, strategies, window)
    named = named_strategies(decision)
    cheapest = min(bills, key=lambda name: bills[name])
    dearest = max(bills[name] for name in named)
    return Verdict(project.name, named, cheapest, dearest / bills[cheapest] - 1)


def named_strategies(decision: Decision) -> tuple[str, ...]:
    """The strategy that a decision recommends, or all between which it finds no winner."""
    if decision.use:
        return (decision.use,)
    points = decision.points or {}
    return tuple(points)


def simulated_bills(project: Path, strategies: list[str], window: int) -> dict[str, float]:
    """By strategy what the sessions cost, in USD, with all that agents had to look up again."""
    simulation = wb.simulate(
        [str(project)], strategies=strategies, model="extractive", window=window
    )
    sums = simulation.simulated.groupby("strategy")[["usd_uncompacted", "saved_usd_net"]].sum()
    net = sums["usd_uncompacted"] - sums["saved_usd_net"]
    return {str(name): float(bill) for name, bill in net.items()}


if __name__ == "__main__":
    sys.exit(main())
