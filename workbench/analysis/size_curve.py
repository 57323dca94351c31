"""Recall over the size really used, as a curve, and the one number that is taken from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

LEAST, MOST = 0.05, 0.3
"""The sizes over which the area is taken, as shares of the history."""


class CurveArea(NamedTuple):
    """The mean height of a curve between two sizes, which are shares of the history."""

    mean: float
    start: float
    end: float

    @property
    def spans(self) -> bool:
        """Whether the measured points span all of the range that was wanted."""
        return self.start <= LEAST and self.end >= MOST


def curve_area(
    sizes: Sequence[float], values: Sequence[float], least: float = LEAST, most: float = MOST
) -> CurveArea | None:
    """The area under a curve between two sizes, over its width: a mean.

    Straight lines join the measured points, and nothing is extrapolated: where the points do not span the range, the
    area is taken over the part that they span, which `start` and `end` say. None where that has no width.

    Args:
        sizes: shares of the history that were really used, in any order.
        values: the means at these sizes.
        least: where the range begins, as a share of the history.
        most: where it ends.
    """
    order = np.argsort(sizes, kind="stable")
    x, y = np.asarray(sizes, dtype=float)[order], np.asarray(values, dtype=float)[order]
    start, end = (max(least, float(x[0])), min(most, float(x[-1]))) if len(x) else (1.0, 0.0)
    if end <= start:
        return None
    inner = x[(x > start) & (x < end)]
    at = np.concatenate([[start], inner, [end]])
    heights = np.interp(at, x, y)
    area = ((heights[1:] + heights[:-1]) / 2 * np.diff(at)).sum()
    return CurveArea(float(area / (end - start)), start, end)
