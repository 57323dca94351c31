"""Rows of a table by what stands in its columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd

from workbench.base.palette import REFERENCES


@contextmanager
def quick_texts() -> Iterator[None]:
    """Inside, the texts of new tables and their indexes are kept as Python's: pandas' default,
    pyarrow's, takes a third longer for findings, whose tables are small. What they say is the same.
    """
    with pd.option_context("mode.string_storage", "python"):
        yield


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
