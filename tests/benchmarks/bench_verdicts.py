"""Whether what `compare` recommends is also the best when agents have to do without what was lost.

Usage: python tests/benchmarks/bench_verdicts.py PROJECT... [--window N] [--strategies A,B]
       [--kept FOLDER] [--limit SESSIONS] [--blind-step-cost STEPS] [--held-out | --advise]

Each PROJECT is a file or folder of recordings of one project. `compare`, with the simulation that its
command keeps beside it, names a strategy for it, or several between which it finds no winner. Four
results of the simulation are printed beside the best strategy's, three for the worst that was named:

- its bill with everything that was looked up again. A verdict holds where it is at most 5 % dearer;
- the same bill where each blind step costs so many steps more (--blind-step-cost);
- its points, as `compare` counts them: 100 times the share of steps that had what they needed, and
  one for each tenth of the bill that is saved. A verdict holds where it has at most 5 points less;
- the bill of the strategy that the answer names for those to whom only dollars count.

What each can show:

- the bill, and that with blind steps, hold what is named for somebody who counts points against what is
  best for somebody who counts dollars. They tell what following the points costs. A low share is no
  fault of the answer: both agree only where the best is the cheapest too;
- points are what the answer goes by, but here they count steps of the simulation, there names or the
  work in the contexts. Without --held-out the answer has seen them, so that they hold nearly by
  construction; where they do not, the two disagree, or the search gave a strategy up too early;
- the bill where only dollars count has the same goal, and without --held-out the same bills, so it
  should hold in every project: what fails is a fault of ours.

With --held-out every second session is compared and simulated for the answer, and the results are of
the other sessions: without it the answer has seen what it is judged by.

With --advise it is `advise` that names a strategy, of the same ones and for the same window, and
what to use if only dollars count. It simulates for itself.

Prints a row a project, as a table in Markdown, and the share of verdicts that hold by each; exits
with 1 where one of the shares is below 80 %.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import workbench as wb
from workbench import Findings, Results, WorkbenchError, advise
from workbench.evaluation.findings.decision import Decision
from workbench.evaluation.findings.prices import considered
from workbench.evaluation.findings.tables import Tables
from workbench.lab.advice.advice_spec import AdviceSpec

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


MEASURES = ("bill", "bill with blind steps", "points", "bill, only dollars count")


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
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--held-out", action="store_true", help="Judge by other sessions.")
    ways.add_argument("--advise", action="store_true", help="Judge what `advise` names.")
    parser.add_argument(
        "--kept", type=Path, default=Path("verdicts"), help="Where runs are kept, to go on."
    )
    arguments = parser.parse_args()
    print(f"| project | sessions | named | {' | '.join(MEASURES)} |")
    print("|---|---|---|---|---|---|---|", flush=True)
    verdicts: list[Verdict] = []
    for project in arguments.projects:
        try:
            verdict = judged(project, arguments)
        except WorkbenchError as error:
            print(f"| {project.name} | | none: {error} | | | | |", flush=True)
            continue
        if verdict is None:
            print(f"| {project.name} | | none: nothing to decide | | | | |", flush=True)
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
    sessions = wb.load(str(project), lenient=True)[: arguments.limit]
    for_answer, for_results = sessions, sessions
    if arguments.held_out:
        if len(sessions) < 2:
            return None
        for_answer, for_results = sessions[::2], sessions[1::2]
    folder = arguments.kept / project.name
    answer_folder = folder / ("half" if arguments.held_out else "compared")
    settings: dict[str, Any] = {
        "strategies": arguments.strategies.split(","),
        "model": "extractive",
        "window": arguments.window,
        "quiet": True,
    }
    wb.compare(for_answer, out=answer_folder, **settings)
    settings["blind_step_cost"] = arguments.blind_step_cost
    simulation = wb.simulate(for_answer, out=answer_folder, **settings)
    decision = Findings.of(Results.open(answer_folder)).decision
    if decision is None or not decision.points:
        return None
    named = named_strategies(decision)
    cheapest = decision.cheapest or named[0]
    if arguments.advise:
        named, cheapest = advised_strategies(sessions, folder, arguments)
    if arguments.held_out:
        simulation = wb.simulate(for_results, out=folder / "other half", **settings)
    table = simulated_results(simulation.simulated)
    candidates = decided_between(answer_folder)
    table = table.loc[[name for name in candidates if name in table.index]]
    return Verdict(
        project.name,
        simulation.simulated["session"].nunique(),
        named,
        {
            "bill": Beside.of_bills(table["bill"], named),
            "bill with blind steps": Beside.of_bills(table["bill_blind"], named),
            "points": Beside.of_points(table["points"], named),
            "bill, only dollars count": Beside.of_bills(table["bill"], (cheapest,)),
        },
    )


def advised_strategies(
    sessions: list[wb.Session], folder: Path, arguments: argparse.Namespace
) -> tuple[tuple[str, ...], str]:
    """The strategy that `advise` names, of those that are compared, and the one that it names for
    those to whom only dollars count.
    """
    recordings = folder / "recordings"
    recordings.mkdir(parents=True, exist_ok=True)
    files = []
    for number, session in enumerate(sessions):
        files.append(str(recordings / f"{number}.jsonl"))
        wb.save(session, files[-1])
    candidates = folder / "candidates.toml"
    names = arguments.strategies.split(",")
    candidates.write_text(f"strategies = {names}\n", encoding="utf-8")
    advice = advise(
        files,
        space=candidates,
        window=arguments.window,
        model="extractive",
        out=folder / "advised",
        quiet=True,
    )
    base_by_name = {point.strategy: point.base for point in advice.grid.points()}
    base_by_name[advice.default.strategy] = advice.default.base
    advised = advice.advised.base
    return (advised,), base_by_name.get(advice.cheapest, advised)


def decided_between(folder: Path) -> list[str]:
    """The strategies of a run that a provider would not refuse; also those that the answer left out
    since they end far behind.
    """
    return considered(Tables.of(Results.open(folder)))


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
    points_of_bill = 10 * AdviceSpec().worth * saved_share
    return pd.DataFrame(
        {
            "bill": sums["usd_uncompacted"] - sums["saved_usd_net"],
            "bill_blind": sums["usd_uncompacted"] - sums["saved_usd_blind"],
            "points": 100 * (1 - sums["blind_steps"] / sums["steps"]) + points_of_bill,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
