"""The one basis of all means and differences: the same sessions and sizes for every strategy.

A mean less another is then the difference between the two, and a mean of one table that of all.
"""

from __future__ import annotations

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.equal_size import evenly
from workbench.evaluation.analysis.scores import floats, shares_of, size_gains
from workbench.evaluation.replays.matched import MOST_OVER_TARGET

UNCUT = ("none", "null")
"""References that are cut to no size: what they tell is the same at each."""
PLACE = ["session", "share"]
"""The columns by which values of several strategies belong together."""


def on_one_basis(rows: pd.DataFrame, at_sizes: pd.DataFrame | None = None) -> pd.DataFrame:
    """The scores of one metric and mode that are compared, at one size in each place.

    A place is a session and a share of its history. Where a strategy keeps less than the share, all
    are compared at the smallest size that one keeps there: each of the others loses as many points
    as the baseline loses by shrinking from its size to that one. So no value is above what was
    measured, and two strategies differ as they do when each is held against the baseline at its own
    size. Only places in which all compared strategies have a value count. A strategy without a
    value in more than a tenth of the sessions is not compared: it loses only its own places.

    Args:
        rows: of the table `scores`.
        at_sizes: the table `baseline_at_sizes`, with one baseline; without it values stay as they
            are.

    Returns:
        The rows with their `value` at that size, and `gain`: what the baseline gains by being cut
        to it instead of to the share.
    """
    rows = _reaching_their_size(rows)
    gain: pd.Series[float] | float = 0.0
    if at_sizes is not None and len(at_sizes):
        gain = size_gains(rows, at_sizes)
    values = floats(rows["value"]) - gain
    rows = rows.assign(value=values, gain=gain)
    rows = rows[values.notna()]
    is_compared = rows["strategy"].isin(_compared(rows))
    compared_rows = rows[is_compared]
    if compared_rows.empty:
        return rows
    gain_by_place = _common_places(compared_rows)
    places = pd.MultiIndex.from_frame(rows[PLACE])
    is_common = places.isin(gain_by_place.index)
    rows = rows[is_common]
    gains = gain_by_place.reindex(places[is_common])
    gain_there = pd.Series(gains.to_numpy(), rows.index)
    is_uncut = rows["strategy"].isin(UNCUT)
    gain_there = gain_there.mask(is_uncut, 0.0)
    values = rows["value"] + gain_there
    return rows.assign(value=values, gain=gain_there)


def _common_places(rows: pd.DataFrame) -> pd.Series[float]:
    """By place in which every strategy has a value, the gain at the smallest size that one keeps
    there.

    Args:
        rows: of the compared strategies, with their `gain`.
    """
    places = rows.groupby(PLACE)
    smallest_gain = places["gain"].min()
    strategy_counts = places["strategy"].nunique()
    most_strategies = rows["strategy"].nunique()
    has_all = strategy_counts == most_strategies
    return smallest_gain[has_all]


def _reaching_their_size(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without those that stay larger than their share, see `equal_size.evenly`."""
    rows = rows.assign(share=shares_of(rows))
    if "why" not in rows:
        return rows
    is_scored = rows["value"].notna()
    scored_sessions = rows.loc[is_scored, "session"]
    is_of_scored = rows["session"].isin(scored_sessions)
    rows = rows[is_of_scored]
    rows = evenly(rows.assign(reason=rows["why"]))
    return rows.drop(columns="reason")


def _compared(rows: pd.DataFrame) -> list[str]:
    """The strategies, without references, that have a value in nine sessions of ten."""
    is_reference = rows["strategy"].isin(REFERENCES)
    contenders = rows[~is_reference]
    scored_sessions = contenders["session"].nunique()
    most_lacking = MOST_OVER_TARGET * scored_sessions
    strategies = contenders.groupby("strategy")
    session_counts = strategies["session"].nunique()
    names: list[str] = []
    for name, session_count in session_counts.items():
        lacking = scored_sessions - session_count
        if lacking <= most_lacking:
            names.append(str(name))
    return names
