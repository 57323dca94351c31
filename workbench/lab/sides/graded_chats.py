"""Graded answers of others: questions about compacted chats, and whether a model's answers were
right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workbench.lab.sides.side import SideTable
from workbench.lab.validation.answers.agreement import agreement, by_category
from workbench.lab.validation.answers.exams import verdicts
from workbench.lab.validation.answers.records import graded

NOT_NAMED = (
    "Graded answers of others do not ship: name a folder or file with some to `workbench lab"
    " validate answers`, as reports/studies/validity/README.md says."
)


def graded_chats(folders: Sequence[Path]) -> SideTable:
    """How far each measure agrees with graded answers.

    Args:
        folders: or files with graded answers; see `graded`.
    """
    if not folders:
        return SideTable.absent(NOT_NAMED)
    tables = [verdicts(graded(folder)) for folder in folders]
    rows = pd.concat(tables, ignore_index=True)
    table = agreement(rows)
    ranked = table.dropna(subset="auc").sort_values("auc", ascending=False)
    metrics = [f"{row['metric']} {row['auc']:.2f}" for row in ranked.to_dict("records")]
    says = (
        "Of a right and a wrong answer, the right one has the higher value (AUC):"
        f" {', '.join(metrics)}."
    )
    return SideTable(table, says, {"agreement by category": by_category(rows)})
