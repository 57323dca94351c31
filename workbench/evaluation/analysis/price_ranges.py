"""Prices of a tenth of the bill, and the strategies to use over ranges of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workbench.base.ragged import Flags

PRICES = tuple(step / 4 for step in range(121))
"""Points that a tenth of the bill may be worth: 0 to 30, a quarter apart."""


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Prices at which one strategy is the one to use.

    Attributes:
        use: the strategy.
        low: the lowest such price, in points a tenth of the bill.
        high: the price from which on another one is to be used; None for the last range.
        chance: how likely it is that no other one is better, a mean over the range.
        level: how likely it is that none is better by `MARGIN` points or more: the least over the
            range.
        level_most: the most.
        loss: points that are lost on average where one is; 0 where none may be.
    """

    use: str
    low: float
    high: float | None
    chance: float
    level: float
    level_most: float
    loss: float


def prices_within(low: float, high: float | None) -> Flags:
    """(prices,) which of `PRICES` lie in a range; the nearest to its beginning where none does."""
    prices = np.array(PRICES)
    is_within: Flags = prices >= low
    if high is not None:
        is_within &= prices <= high
    if not is_within.any():
        distances = np.abs(prices - low)
        nearest = distances.argmin()
        is_within[nearest] = True
    return is_within


def stretches(is_level: pd.DataFrame, use: str) -> list[str]:
    """The strategies to use from one price to the last, with as few changes as possible.

    Args:
        is_level: (prices, strategies) whether nobody would notice that another one is better.
        use: the first of them.
    """
    names = [use]
    covered = _level_from_the_first(is_level[use])
    while covered < len(is_level):
        remaining = is_level.iloc[covered:]
        longest = use
        longest_reach = -1
        for name in remaining.columns:
            reach = _level_from_the_first(remaining[name])
            if reach > longest_reach:
                longest = str(name)
                longest_reach = reach
        names.append(longest)
        covered += longest_reach
    return names


def _level_from_the_first(is_level: pd.Series[bool]) -> int:
    """For how many prices on end."""
    prices = 0
    for is_level_at_price in is_level:
        if not is_level_at_price:
            break
        prices += 1
    return prices
