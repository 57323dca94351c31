"""The strategies of a run that broke rules of the engine, by their scores."""

from __future__ import annotations

from typing import NamedTuple

from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.sized_tables import PartOf
from workbench.evaluation.findings.tables import Tables

VIOLATIONS = "violations"
"""The metric that counts broken rules, and says which was broken first."""


class BrokenStrategy(NamedTuple):
    """A strategy of which some results were not used, since they broke a rule of the engine.

    Attributes:
        sessions: in how many, and of how many.
        session: the first of them.
        reason: which stage broke which rule there.
    """

    strategy: str
    sessions: PartOf
    session: str
    reason: str


def broken_strategies(run: Tables) -> list[BrokenStrategy]:
    """Those strategies, in the order of the report."""
    rows = rows_with(run.scores, metric=VIOLATIONS)
    broken: list[BrokenStrategy] = []
    for name in run.contenders:
        of_strategy = rows_with(rows, strategy=name)
        faults = of_strategy[of_strategy["value"] > 0]
        if faults.empty:
            continue
        first_fault = faults.iloc[0]
        sessions = PartOf(faults["session"].nunique(), of_strategy["session"].nunique())
        reason = str(first_fault["why"]) or "a stage was undone"
        broken.append(BrokenStrategy(name, sessions, str(first_fault["session"]), reason))
    return broken


def rules_broken(run: Tables) -> dict[str, int]:
    """By strategy how many rules it broke, on its own trigger and at the same size."""
    rows = rows_with(run.scores, metric=VIOLATIONS)
    counts = rows.groupby("strategy")["value"].sum()
    return {str(name): int(count) for name, count in counts.items()}
