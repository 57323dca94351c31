"""Whether what `compare` recommends is also the best when agents have to do without what was lost.

Usage: python tests/benchmarks/bench_verdicts.py PROJECT... [--window N] [--strategies A,B]
       [--kept FOLDER] [--limit SESSIONS] [--blind-step-cost STEPS]

Each PROJECT is a file or folder of recordings of one project. `compare` names a strategy for it, or
several between which it finds no winner; `simulate` works the same sessions with each strategy. Three
results of the simulation are printed beside the best strategy's, each for the worst that was named:

- its bill with everything that was looked up again. A verdict holds where it is at most 5 % dearer;
- the same bill where each blind step costs so many steps more (--blind-step-cost);
- its points, as `compare` counts them: 100 times the share of steps that had what they needed, and
  one for each tenth of the bill that is saved. A verdict holds where it has at most 5 points less.

Prints a row a project, as a table in Markdown, and the share of verdicts that hold by each; exits
with 1 where one of the shares is below 80 %.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

import workbench as wb
from workbench import WorkbenchError
from workbench.evaluation.analysis.trade import WORTH
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.decision import Decision

POSSIBLE = 0.1

STRATEGIES = ("truncate", "summarize", "pipeline", "claude_code", "observation_mask")
DEARER = 0.05
"""The share of the cheapest bill by which a good choice may be dearer."""
FEWER_POINTS = 5.0
"""Points that a good choice may have less than the best one."""
BAR = 0.8
"""The share of projects whose verdict must hold."""


@dataclass(frozen=True)
class Beside:
    """What was named beside the best strategy, by one measure.

    Attributes:
        best: the best strategy.
        distance: how far the worst that was named is from it: a share of the cheapest bill, or
            points.
        holds: whether that is near enough.
    """

    best: str
    distance: float
    holds: bool

    @classmethod
    def of_bills(cls, bills: pd.Series[float], named: tuple[str, ...]) -> Beside:
        """By what it costs."""
        cheapest = str(bills.idxmin())
        dearer = float(bills[list(named)].max() / bills[cheapest] - 1)
        return cls(cheapest, dearer, dearer <= DEARER)

    @classmethod
    def of_points(cls, points: pd.Series[float], named: tuple[str, ...]) -> Beside:
        """By points."""
        best = str(points.idxmax())
        fewer = float(points[best] - points[list(named)].min())
        return cls(best, fewer, fewer <= FEWER_POINTS)

    def __str__(self) -> str:
        distance = f"{self.distance:.1f}"
        if self.distance < 1:
            distance = f"{self.distance:.2f}"
        return f"{distance} from {self.best}{'' if self.holds else ' **fails**'}"


@dataclass(frozen=True)
class Verdict:
    """What was named for a project, and what it came to beside the best.

    Attributes:
        project: its file or folder.
        sessions: how many were simulated.
        named: the strategies that were named: one, or those without a winner between them.
        by_measure: for each of `MEASURES`.
    """

    project: str
    sessions: int
    named: tuple[str, ...]
    by_measure: dict[str, Beside]

    def __str__(self) -> str:
        cells = [self.project, str(self.sessions), " or ".join(self.named)]
        cells += map(str, self.by_measure.values())
        return f"| {' | '.join(cells)} |"


MEASURES = ("bill", "bill with blind steps", "points")


def main() -> int:
    """Judge the verdict on each project."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--window", type=int, default=32_000, help="Tokens of the window.")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="Names with commas.")
    parser.add_argument("--limit", type=int, help="Sessions of a project at most.")
    parser.add_argument("--blind-step-cost", type=float, default=2.0, help="As of `simulate`.")
    parser.add_argument(
        "--kept", type=Path, default=Path("verdicts"), help="Where runs are kept, to go on."
    )
    arguments = parser.parse_args()
    print(f"| project | sessions | named | {' | '.join(MEASURES)} |")
    print("|---|---|---|---|---|---|", flush=True)
    verdicts: list[Verdict] = []
    for project in arguments.projects:
        try:
            verdict = judged(project, arguments)
        except WorkbenchError as error:
            print(f"| {project.name} | | none: {error} | | | |", flush=True)
            continue
        if verdict is None:
            print(f"| {project.name} | | none: nothing to decide | | | |", flush=True)
            continue
        print(verdict, flush=True)
        verdicts.append(verdict)
    if not verdicts:
        print("no project had a verdict")
        return 1
    shares: list[float] = []
    for measure in MEASURES:
        holding = sum(verdict.by_measure[measure].holds for verdict in verdicts)
        shares.append(holding / len(verdicts))
        print(f"by the {measure}: {holding} of {len(verdicts)} hold (bar: {100 * BAR:.0f} %)")
    return int(min(shares) < BAR)


def judged(project: Path, arguments: argparse.Namespace) -> Verdict | None:
    """The verdict on one project; None where there is no decision."""
    strategies = arguments.strategies.split(",")
    results = wb.compare(
        [str(project)],
        strategies=strategies,
        model="extractive",
        window=arguments.window,
        limit=arguments.limit,
        quiet=True,
        out=arguments.kept / project.name / "compared",
    )
    decision = Findings.of(results).decision
    if decision is None or not decision.points:
        return None
    simulation = wb.simulate(
        [str(project)],
        strategies=strategies,
        model="extractive",
        window=arguments.window,
        limit=arguments.limit,
        blind_step_cost=arguments.blind_step_cost,
        quiet=True,
        out=arguments.kept / project.name / "simulated",
    )
    # what a provider would refuse is nobody's choice
    table = simulated_results(simulation.simulated).loc[list(decision.points)]
    named = named_strategies(decision)
    return Verdict(
        project.name,
        simulation.simulated["session"].nunique(),
        named,
        {
            "bill": Beside.of_bills(table["bill"], named),
            "bill with blind steps": Beside.of_bills(table["bill_blind"], named),
            "points": Beside.of_points(table["points"], named),
        },
    )


def named_strategies(decision: Decision) -> tuple[str, ...]:
    """The strategy that a decision recommends, or all between which it finds no winner."""
    if decision.use:
        return (decision.use,)
    likely = [name for name, share in decision.level.items() if share >= POSSIBLE]
    return tuple(likely or decision.points or {})


def simulated_results(simulated: pd.DataFrame) -> pd.DataFrame:
    """By strategy over all sessions: the bill in USD with all that agents had to look up again, and
    points.
    """
    sums = simulated.groupby("strategy").sum(numeric_only=True).astype(float)
    saved_share = sums["saved_usd_net"] / sums["usd_uncompacted"]
    return pd.DataFrame(
        {
            "bill": sums["usd_uncompacted"] - sums["saved_usd_net"],
            "bill_blind": sums["usd_uncompacted"] - sums["saved_usd_blind"],
            "points": 100 * (1 - sums["blind_steps"] / sums["steps"]) + 10 * WORTH * saved_share,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
