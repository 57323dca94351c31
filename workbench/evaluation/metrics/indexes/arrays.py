"""Arrays made of Python's values."""

from collections.abc import Iterable, Sequence

import numpy as np

from workbench.base.ragged import Flags, Ints


def flags(values: Iterable[bool]) -> Flags:
    """Truth values as an array, also where there are none."""
    return np.fromiter(values, np.bool_)


def columns_of(rows: Sequence[Sequence[int]], count: int) -> Ints:
    """(count, rows) the columns of rows of `count` whole numbers, also where there are none."""
    table = np.array(rows, dtype=np.int64)
    return table.reshape(-1, count).T
