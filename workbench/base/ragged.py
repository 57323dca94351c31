"""Names for numpy's arrays, and flags for messages."""

from collections.abc import Collection, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]


def integers(numbers: Iterable[int]) -> Ints:
    """Whole numbers as an array, also where there are none."""
    return np.fromiter(numbers, np.int64)


def together(rows: Iterable[Ints]) -> Ints:
    """Arrays of whole numbers one behind the other, also where there are none."""
    return np.concatenate((integers(()), *rows))


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Each row with each of its places: so many from its start on, row after row."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    first_of_row = np.cumsum(sizes) - sizes
    shift = np.repeat(starts - first_of_row, sizes)
    return rows, np.arange(len(rows)) + shift


def growing(numbers: Ints) -> Ints:
    """The order in which numbers, 0 or larger, grow; equal ones keep theirs."""
    largest = numbers.max(initial=0)
    smallest_type = np.min_scalar_type(largest)
    # small numbers are sorted many times as fast
    small_numbers = numbers.astype(smallest_type)
    return np.argsort(small_numbers, kind="stable")


def kept_mask(flags_or_places: Collection[int] | Ints | Flags, n: int) -> Flags:
    """One flag for each of n things, from flags or from the places of those that are kept."""
    if isinstance(flags_or_places, np.ndarray):
        places = flags_or_places
    else:
        places = np.fromiter(flags_or_places, dtype=np.int64, count=len(flags_or_places))
    if places.dtype == bool:
        return places.astype(bool, copy=False)
    mask = np.zeros(n, dtype=bool)
    mask[places] = True
    return mask
