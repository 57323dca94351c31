"""Which of so many messages a context has."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def mask_of(places: Iterable[int], count: int) -> np.ndarray:
    """A flag for each of so many messages."""
    mask = np.zeros(count, dtype=bool)
    mask[list(places)] = True
    return mask
