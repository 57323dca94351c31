"""What the tables of answers about contexts of equal size say of strategies that stay larger than that size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from workbench.analysis.over_target import over_target_notes
from workbench.cli.output import printable, say


def with_larger(rows: Sequence[Mapping[str, str]], sessions: Sequence[int]) -> list[Mapping[str, str]]:
    """The rows of a table with one more column, where any strategy stays larger: in how many sessions."""
    if not any(sessions):
        return list(rows)
    return [{**row, "larger": f"in {many}" if many else ""} for row, many in zip(rows, sessions, strict=True)]


def say_over_target(table: pd.DataFrame) -> None:
    """Say of each such strategy where it is larger, and what follows."""
    for line in over_target_notes(table):
        say(printable(line))
