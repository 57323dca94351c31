"""What the tables of the judge commands have in common: intervals, and strategies larger than the size that was set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from workbench.analysis.over_target import over_target_notes
from workbench.analysis.paired import Estimate
from workbench.cli.output import printable, say, table
from workbench.experiment.filler import ModelUse
from workbench.formats import decimal, dollars


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


def estimated(one: Estimate | None) -> str:
    """A mean with its interval, if it has one."""
    if one is None or one.low is None:
        return decimal(None if one is None else one.mean)
    return f"{one.mean:.2f} ({one.low:.2f} to {one.high:.2f})"


def use_at_most(found: ModelUse, purpose: str) -> str:
    """What a model would be asked at most, in a sentence."""
    cost = "its price is not known; docs/my-provider.md says how to give one"
    if found.usd is not None:
        cost = f"at most about {dollars(found.usd)}"
    return (
        f"{found.requests:,} requests to {found.model} for {purpose}: {found.input_tokens:,} tokens to read, "
        f"{found.output_tokens:,} to write; {cost}, less what is in the cache."
    )
