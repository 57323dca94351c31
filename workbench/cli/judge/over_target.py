"""What the tables of answers about contexts of equal size say of strategies that stay larger than that size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from workbench.analysis.over_target import over_target_notes
from workbench.cli.output import printable, say, table


def table_with_larger(rows: Sequence[Mapping[str, object]], columns: Mapping[str, str]) -> str:
    """The table, where any strategy stays larger with one more column: in how many sessions."""
    if not any(row["over_target"] for row in rows):
        return table(rows, columns)
    larger = [{**row, "larger": f"in {row['over_target']}" if row["over_target"] else ""} for row in rows]
    return table(larger, {**columns, "larger": "larger"})


def say_over_target(answers: pd.DataFrame) -> None:
    """Say of each such strategy where it is larger, and what follows."""
    for line in over_target_notes(answers):
        say(printable(line))
