"""Names for numpy's arrays, and flags for messages."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]


def kept_mask(kept: Collection[int] | Ints | Flags, n: int) -> Flags:
    """One flag for each of n things, from flags or from the places of those that are kept."""
    if isinstance(kept, np.ndarray) and kept.dtype == bool:
        return kept
    mask = np.zeros(n, dtype=bool)
    mask[kept if isinstance(kept, np.ndarray) else np.fromiter(kept, dtype=np.int64, count=len(kept))] = True
    return mask
