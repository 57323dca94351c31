"""Ragged tables: rows of different lengths in flat arrays, asked without a loop."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
"""Whole numbers. Tables with an item for each line of a session are kept as `narrow`, in half the size."""
Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]


def narrow(values: NDArray[np.integer[Any]]) -> Ints:
    """The numbers in 32 bits, for what is kept long. Whoever multiplies them makes them wide first."""
    return cast("Ints", values.astype(np.int32, copy=False))


def gather(starts: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The items of some rows of a ragged table.

    Args:
        starts: where each row begins, one more entry than rows.
        rows: the wanted rows, in any order.

    Returns:
        For each item the position of its row in `rows`, and the item's index.
    """
    counts = starts[rows + 1] - starts[rows]
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    owner = np.repeat(np.arange(len(rows)), counts)
    return owner, np.arange(total) + np.repeat(starts[rows] - (ends - counts), counts)


def table_of(rows: Ints, size: int) -> tuple[Ints, Ints]:
    """The ragged table that groups items 0..k-1 by their row: starts (size + 1), and the items row by row in order."""
    return row_starts(rows, size), np.argsort(rows, kind="stable")


def row_starts(rows: Ints, size: int) -> Ints:
    """Where each of `size` rows begins, given the row of each item in order; `size` + 1 entries."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(rows, minlength=size))))


def distinct(values: Ints) -> Ints:
    """The values in order, each once. `numpy.unique` hashes them first, which is slower for this many."""
    ordered: Ints = np.sort(values)
    found: Ints = ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0]
    return found


def found_at(ordered: Ints, values: Ints, numbers: Ints | None = None) -> Ints:
    """For each value where it stands among others, -1 where it does not.

    Args:
        ordered: those others, each once, in order.
        values: what is looked for.
        numbers: what to give for each of the others, instead of its place.
    """
    if not len(ordered):
        return np.full(len(values), -1)
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[at] == values, at if numbers is None else numbers[at], -1)


def hits(
    table: Flags, columns: Ints, rows_of_table: Ints, word_start: Ints, span_word: Ints, rows: Ints
) -> tuple[Ints, Ints]:
    """For each word of each pair's span that its row of the table has: the pair's number, and the word.

    Args:
        table: flags.
        columns: the word of each of its columns, in order.
        rows_of_table: the row of each pair.
        word_start: where each span's words begin.
        span_word: the words, span by span.
        rows: the span of each pair.
    """
    owner, found = gather(word_start, rows)
    words = span_word[found]
    column = found_at(columns, words)
    known = column >= 0
    owner, words, column = owner[known], words[known], column[known]
    hit = table[rows_of_table[owner], column]
    return owner[hit], words[hit]


def group_starts(slots: Ints, n: int) -> Ints:
    """Where each group begins in slots that are in order and leave none of 0..n-1 out."""
    return np.searchsorted(slots, np.arange(n))


Number = TypeVar("Number", np.int64, np.float64)


def at_most(values: NDArray[Number], starts: Ints) -> NDArray[Number]:
    """The largest value of each group."""
    if not len(starts):
        return values[:0]
    largest: NDArray[Number] = np.maximum.reduceat(values, starts)
    return largest


def kept_mask(kept: Collection[int] | Flags, n: int) -> Flags:
    """One flag for each of n messages."""
    if isinstance(kept, np.ndarray) and kept.dtype == bool:
        return kept
    mask = np.zeros(n, dtype=bool)
    mask[np.fromiter(kept, dtype=np.int64, count=len(kept))] = True
    return mask
