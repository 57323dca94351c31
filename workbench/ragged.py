"""Ragged tables: rows of different lengths in flat arrays, asked without a loop."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

Ints: TypeAlias = NDArray[np.int64]
"""Whole numbers. Tables with an item for each line of a session are kept as `narrow`, in half the size."""
Whole: TypeAlias = NDArray[np.integer[Any]]
"""Whole numbers of any size."""
Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]


class Column:
    """A column of numbers that grows.

    It never grows in place: what `values` once gave stays as it was, whoever still holds it. (An `array.array` may not
    grow while somebody holds a view of it, and a sampling profiler or a debugger holds every frame's.)

    Args:
        dtype: of its numbers.
        first: numbers that it begins with.
    """

    __slots__ = ("_buffer", "_size")

    def __init__(self, dtype: DTypeLike, *first: int) -> None:
        self._buffer: Ints = np.array(first, dtype=dtype)
        self._size = len(first)

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> Ints:
        """All numbers so far, to be read only."""
        return self._buffer[: self._size]

    def extend(self, values: Whole) -> None:
        """More numbers, behind those that it has; each must fit the column's type."""
        size = self._size + len(values)
        if size > len(self._buffer):
            grown = np.empty(max(size, 2 * self._size), dtype=self._buffer.dtype)
            grown[: self._size] = self.values
            self._buffer = grown
        self._buffer[self._size : size] = values
        self._size = size


class Table:
    """A ragged table that is filled some rows at a time.

    Args:
        dtype: of its items.
    """

    __slots__ = ("_items", "_starts")

    def __init__(self, dtype: DTypeLike) -> None:
        self._items = Column(dtype)
        self._starts = Column(np.int64, 0)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def starts(self) -> Ints:
        """Where each row begins, one more entry than rows."""
        return self._starts.values

    @property
    def items(self) -> Ints:
        """All items, row by row."""
        return self._items.values

    def add(self, row: Whole, items: Whole, rows: int) -> None:
        """That many more rows; `row` says, in order, to which of them each item belongs."""
        ends = np.cumsum(np.bincount(row, minlength=rows)) + len(self._items)
        self._items.extend(items)
        self._starts.extend(ends)

    def rows(self, rows: Whole) -> tuple[Ints, Ints, Ints]:
        """The items of some rows: for each its position in `rows`, its place in its own row, and the item itself."""
        starts = self.starts
        owner, at = gather(starts, rows)
        return owner, at - starts[rows][owner], self.items[at]


def gather(starts: Ints, rows: Whole) -> tuple[Ints, Ints]:
    """The items of some rows of a ragged table.

    Args:
        starts: where each row begins, one more entry than rows.
        rows: the wanted rows, in any order.

    Returns:
        For each item the position of its row in `rows`, and the item's index.
    """
    first = starts[rows].astype(np.int64)
    counts = starts[rows + 1] - first
    places = np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    return np.repeat(np.arange(len(rows)), counts), places


def kept_mask(kept: Collection[int] | Flags, n: int) -> Flags:
    """One flag for each of n messages."""
    if isinstance(kept, np.ndarray) and kept.dtype == bool:
        return kept
    mask = np.zeros(n, dtype=bool)
    mask[np.fromiter(kept, dtype=np.int64, count=len(kept))] = True
    return mask
