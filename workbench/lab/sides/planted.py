"""Planted errors: summaries with statements that are there and false. Which measures find them?"""

from __future__ import annotations

from workbench.lab.sides.side import SideTable
from workbench.lab.validation.answers.agreement import by_category
from workbench.lab.validation.answers.exams import verdicts
from workbench.lab.validation.planted_errors import planted_errors

SEEDS = 5


def planted(seeds: int = SEEDS) -> SideTable:
    """The share of true statements that each measure accepts (`intact`), and of each kind of error
    that it finds.

    Args:
        seeds: histories to generate.
    """
    histories = range(1, seeds + 1)
    contexts = planted_errors(histories)
    rows = by_category(verdicts(contexts))
    shares = rows.set_index("category")
    wrong = shares.drop(index="intact")
    statement_count = int(wrong["questions"].sum())
    weights = wrong["questions"] / statement_count
    names = float((wrong["exam"] * weights).sum())
    work = float((wrong["fitted"] * weights).sum())
    says = (
        f"Of {statement_count} false statements the exam of names finds {names:.0%},"
        f" the fitted reader of the work {work:.0%}: a score for the work does not show that a"
        " summary says something false."
    )
    return SideTable(rows, says)
