"""Which strategy is likely to be best at each price that a user gives to the bill, which others are
level with it, and how much is lost by the wrong one.

All of it comes from the same draws: of projects and of the reader's errors, for all strategies
together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pandas as pd

from workbench.base.ragged import Floats
from workbench.evaluation.analysis.drawn_figures import (
    DrawnFigures,
    ProjectFigures,
    drawn_projects,
)
from workbench.evaluation.analysis.paired import FEWEST, Estimate
from workbench.evaluation.analysis.price_ranges import PRICES, PriceRange, prices_within, stretches
from workbench.evaluation.analysis.trade import MARGIN, WORTH, complete_sessions

LIKELY = 0.8
"""A strategy may be recommended if it is the best, or less than `MARGIN` points below it, in at
least this share of the draws.
"""
POSSIBLE = 0.1
"""A strategy is level with the best one if that holds in at least this share."""


@dataclass(frozen=True)
class LikelyBest:
    """How likely each strategy is to be best at each price.

    Attributes:
        points: (prices, strategies) mean points over the draws; 100 times what a context tells and
            the price for each tenth of the bill that is saved.
        chances: (prices, strategies) the share of the draws in which it has most points.
        level: (prices, strategies) the share in which it lies less than `MARGIN` points below that.
        losses: (prices, strategies) points that it lies below that in the others, a mean over all
            draws.
        projects: that were drawn.
        sessions: of them, that have a figure for all strategies.
        draws: (draws, strategies) the points of each draw at the price `WORTH`.
    """

    points: pd.DataFrame
    chances: pd.DataFrame
    level: pd.DataFrame
    losses: pd.DataFrame
    projects: int
    sessions: int
    draws: pd.DataFrame

    @property
    def is_general(self) -> bool:
        """Whether it says something of other projects: fewer than `FEWEST` are not drawn."""
        return self.projects >= FEWEST

    def at(self, price: float = WORTH) -> dict[str, float]:
        """By strategy how likely it is the best or less than `MARGIN` points below it, likeliest
        first.
        """
        level = self.level.loc[price]
        likeliest_first = level.sort_values(ascending=False, kind="stable")
        chances: dict[str, float] = {}
        for name, chance in likeliest_first.items():
            chances[str(name)] = float(chance)
        return chances

    def loss(self, strategy: str, price: float = WORTH) -> float:
        """Points that a strategy is behind the best one on average, where it is `MARGIN` behind or
        more; 0 where it never is.
        """
        loss = float(self.losses.loc[price, strategy])
        share_level = float(self.level.loc[price, strategy])
        return _loss_where_behind(loss, share_level)

    def lead(self, strategy: str, rival: str) -> Estimate:
        """How many points one strategy is ahead of another at the price `WORTH`; no interval with
        fewer than `FEWEST` projects.
        """
        at_price = self.points.loc[WORTH]
        mean = at_price[strategy] - at_price[rival]
        lead = Estimate(
            float(mean),
            n=self.sessions,
            projects=self.projects,
        )
        if not self.is_general:
            return lead
        leads = self.draws[strategy] - self.draws[rival]
        low = float(leads.quantile(0.025))
        high = float(leads.quantile(0.975))
        return replace(lead, low=low, high=high)

    def likely(self, price: float = WORTH) -> list[str]:
        """The strategies that may be recommended, likeliest first; often none or several."""
        return self._at_least(LIKELY, price)

    def level_with_best(self, price: float = WORTH) -> list[str]:
        """The strategies that may be as good as the best one, likeliest first; at least one."""
        names = self._at_least(POSSIBLE, price)
        if names:
            return names
        likeliest_first = list(self.at(price))
        return likeliest_first[:1]

    def _at_least(self, least_share: float, price: float) -> list[str]:
        shares = self.at(price)
        return [name for name, share in shares.items() if share >= least_share]

    def ranges(self, use: str, price: float) -> list[PriceRange]:
        """As few ranges as possible that cover all prices, lowest first.

        A range's strategy stays less than `MARGIN` below the best one, which nobody would notice,
        or is the likeliest to. Two ranges meet where their strategies have as many points.

        Args:
            use: the strategy of the range that holds this price.
            price: one at which it may be used.
        """
        names = self._strategies_by_price(use, price)
        bounds = [0.0]
        for name, successor in pairwise(names):
            low = bounds[-1]
            bound = self._crossing(name, successor, low)
            bounds.append(bound)
        ranges: list[PriceRange] = []
        highs = [*bounds[1:], None]
        for name, low, high in zip(names, bounds, highs, strict=True):
            price_range = self._range(name, low, high)
            ranges.append(price_range)
        return ranges

    def _strategies_by_price(self, use: str, price: float) -> list[str]:
        """The strategies of the ranges, from the lowest price to the highest.

        Args:
            use: the strategy at this price.
            price: one at which it may be used.
        """
        most_points = self.points.max(axis=1)
        distance = self.points.rsub(most_points, axis=0)
        likeliest = self.level.max(axis=1)
        is_level = distance < MARGIN
        is_level |= self.level.eq(likeliest, axis=0)
        is_level.loc[price, use] = True
        start = int(np.searchsorted(PRICES, price))
        upwards = stretches(is_level.iloc[start:], use)
        downwards = stretches(is_level.iloc[start::-1], use)
        lower_names = reversed(downwards[1:])
        return [*lower_names, *upwards]

    def _crossing(self, use: str, successor: str, low: float) -> float:
        """The price from `low` on at which the successor has as many points."""
        ahead = self.points[use] - self.points[successor]
        ahead_at_first = ahead.iloc[0]
        ahead_at_last = ahead.iloc[-1]
        highest_price = PRICES[-1]
        lost_a_price = (ahead_at_first - ahead_at_last) / highest_price
        crossing = ahead_at_first / lost_a_price
        return float(np.clip(crossing, low, highest_price))

    def _range(self, use: str, low: float, high: float | None) -> PriceRange:
        within = prices_within(low, high)
        chances = self.chances[use][within]
        level = self.level[use][within]
        losses = self.losses[use][within]
        loss = float(losses.mean())
        share_level = float(level.mean())
        return PriceRange(
            use,
            low,
            high,
            chance=float(chances.mean()),
            level=float(level.min()),
            level_most=float(level.max()),
            loss=_loss_where_behind(loss, share_level),
        )


ReaderLevels: TypeAlias = Callable[
    [Sequence[str], int, np.random.Generator],
    Mapping[str, Floats] | None,
]
"""For strategies and a number of projects: by strategy (`DRAWS`,) what the reader may promise too
much, as a share; None where nobody knows.
"""


def likely_best(
    rows: pd.DataFrame,
    reader_levels: ReaderLevels,
    seed: int = 0,
) -> LikelyBest | None:
    """How likely each candidate is to be best: projects and the reader's errors are drawn with
    replacement. Fewer than `FEWEST` projects are taken as they are.

    Args:
        rows: as `trade.Trade.points` takes them.
        reader_levels: what the reader may be off by.
        seed: of the draws.

    Returns:
        None where no session has a figure for all candidates, or nobody knows the reader's error.
    """
    rows = complete_sessions(rows)
    if rows.empty:
        return None
    figures = ProjectFigures.of(rows)
    names = [str(name) for name in figures.recall.columns]
    projects = len(figures.recall)
    random = np.random.default_rng(seed)
    levels = reader_levels(names, projects, random)
    if levels is None:
        return None
    weights = drawn_projects(projects, random)
    draws = DrawnFigures.of(figures, weights, levels)
    by_price: list[_AtPrice] = []
    for price in PRICES:
        by_price.append(_AtPrice.of(draws, price))
    return LikelyBest(
        points=_table(by_price, "points", names),
        chances=_table(by_price, "chances", names),
        level=_table(by_price, "level", names),
        losses=_table(by_price, "losses", names),
        projects=projects,
        sessions=rows["session"].nunique(),
        draws=pd.DataFrame(draws.points(WORTH), columns=names),
    )


@dataclass(frozen=True, slots=True)
class _AtPrice:
    """(strategies,) what `LikelyBest` has of one price."""

    points: Floats
    chances: Floats
    level: Floats
    losses: Floats

    @classmethod
    def of(cls, draws: DrawnFigures, price: float) -> _AtPrice:
        points = draws.points(price)
        # column by column: numpy reduces short rows slowly
        best = reduce(np.maximum, points.T)[:, None]
        is_best = points == best
        sharers = reduce(np.add, is_best.T.astype(int))[:, None]
        best_shares = is_best / sharers
        below = best - points
        is_level = below < MARGIN
        lost_points = np.where(is_level, 0.0, below)
        return cls(
            points=draws.mean_points(price),
            chances=best_shares.mean(0),
            level=is_level.mean(0),
            losses=lost_points.mean(0),
        )


def _loss_where_behind(loss: float, share_level: float) -> float:
    """A mean loss over all draws as one over those that are not level; 0 where all are."""
    share_behind = 1 - share_level
    if share_behind <= 0:
        return 0.0
    return loss / share_behind


def _table(
    by_price: Sequence[_AtPrice],
    figure: str,
    names: list[str],
) -> pd.DataFrame:
    """One figure of each strategy (columns) at each price (rows)."""
    return pd.DataFrame(
        [getattr(at_price, figure) for at_price in by_price],
        index=pd.Index(PRICES, name="price"),
        columns=names,
    )
