"""Rows of a table by what stands in its columns."""

from __future__ import annotations

import pandas as pd

from workbench.base.palette import REFERENCES


def rows_with(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows that have each value in the column of its name."""
    for column, value in values.items():
        has_value = table[column] == value
        table = table[has_value]
    return table


def rows_of_contenders(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of strategies that are no reference."""
    is_reference = table["strategy"].isin(REFERENCES)
    return table[~is_reference]
