"""What differs between two runs: their scores, and the needed entities that they lost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.evaluation.analysis.scores import (
    floats,
    same_baseline,
    shares_of,
    size_gains,
)

PLACE = ["session", "strategy", "mode", "share"]
SCORES = [*PLACE, "metric", "value", "gain", "better"]
VALUES = [
    *PLACE,
    "metric",
    "before",
    "after",
    "by_size",
    "difference",
    "worse_by",
    "better",
]
LOSS = [*PLACE, "kind", "entity"]
DETAILS = [
    "weight",
    "recoverable",
    "level",
    "said_by",
    "evidence_at",
    "evidence",
    "needed_at",
    "use",
    "stage",
]


def changed_values(
    earlier_scores: pd.DataFrame,
    later_scores: pd.DataFrame,
    metric: str | None = None,
    at_sizes: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """The scores of two runs that differ, of one metric or (None) of all, largest regression first.

    Args:
        earlier_scores: the table `scores` of the earlier run.
        later_scores: that of the later one.
        metric: one of its metrics.
        at_sizes: the tables `baseline_at_sizes` of both, in that order.

    Returns:
        `session`, `strategy`, `mode`, `share` and `metric` of the score; `before` and `after` in
        the metric's unit; `by_size`: what the baseline gains from the size used before to the size
        used after, missing where that is unknown; `difference`: what is left of after - before
        without it; `worse_by`: that difference as a share of the larger of the two values, in [-2,
        2], above 0 where the metric has become worse, 1 where a value is missing now, by which rows
        of different units are ordered.
    """
    old, new = _with_gains(earlier_scores, later_scores, at_sizes)
    names = [*PLACE, "metric"]
    pairs = old.merge(
        new,
        on=names,
        suffixes=("_old", "_new"),
    )
    if metric is not None:
        is_of_metric = pairs["metric"] == metric
        pairs = pairs[is_of_metric]
    old_value = floats(pairs["value_old"])
    new_value = floats(pairs["value_new"])
    better = pairs["better_new"]
    by_size = pairs["gain_new"] - pairs["gain_old"]
    difference = new_value - old_value - by_size.fillna(0.0)
    worse_by = _worse_by(old_value, new_value, difference, better)
    table = pairs.assign(
        before=old_value,
        after=new_value,
        by_size=by_size,
        difference=difference,
        worse_by=worse_by,
        better=better,
    )
    is_changed = _is_not_zero(worse_by) | _is_not_zero(by_size)
    changed = _ordered(table[is_changed], "worse_by", names)
    return changed[VALUES]


def _with_gains(
    earlier: pd.DataFrame,
    later: pd.DataFrame,
    at_sizes: tuple[pd.DataFrame, pd.DataFrame] | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scores of both runs with their `gain`, see `size_gains`; missing where it is unknown."""
    gains_before: pd.Series[float] | float = np.nan
    gains_after: pd.Series[float] | float = np.nan
    if at_sizes is not None and same_baseline(*at_sizes):
        sizes_before, sizes_after = at_sizes
        gains_before = size_gains(earlier, sizes_before)
        gains_after = size_gains(later, sizes_after)
    earlier = earlier.assign(gain=gains_before)
    later = later.assign(gain=gains_after)
    earlier_scores = _comparable(earlier[SCORES])
    later_scores = _comparable(later[SCORES])
    return earlier_scores, later_scores


def _is_not_zero(numbers: pd.Series[float]) -> pd.Series[bool]:
    """Which numbers differ from 0 by more than the last digits of a sum."""
    sizes = numbers.abs()
    return sizes > 1e-12


def _worse_by(
    old_value: pd.Series[float],
    new_value: pd.Series[float],
    difference: pd.Series[float],
    better: pd.Series[str],
) -> pd.Series[float]:
    """The column `worse_by` of `changed_values`."""
    old_size = old_value.abs()
    new_size = new_value.abs()
    sizes = pd.concat([old_size, new_size], axis=1)
    larger_size = sizes.max(axis=1)
    unit = larger_size.where(larger_size > 0, 1.0)
    signs = better.map({"higher": -1.0, "lower": 1.0})
    worse_by = signs.astype("float64") * difference / unit
    is_gone = old_value.notna() & new_value.isna()
    is_fresh = old_value.isna() & new_value.notna()
    worse_by = worse_by.mask(is_gone, 1.0)
    worse_by = worse_by.mask(is_fresh, -1.0)
    return worse_by.fillna(0.0)


def changed_entities(
    earlier_losses: pd.DataFrame,
    later_losses: pd.DataFrame,
) -> pd.DataFrame:
    """The needed entities that only one of two runs had lost, by their tables `losses`, worst new
    losses first.

    A run records its thirty worst losses for each session, strategy and budget: an entity counts as
    mended when it is no longer among them.

    Returns:
        A row an entity with `change`: `lost` (new), `worse` (its name was there and is no longer),
        `better` or `mended`; all others as in `losses`, from the later run where it has them.
    """
    old = _losses(earlier_losses)
    new = _losses(later_losses)
    pairs = old.merge(
        new,
        on=LOSS,
        how="outer",
        suffixes=("_old", "_new"),
        indicator="side",
    )
    old_weight = floats(pairs["weight_old"])
    new_weight = floats(pairs["weight_new"])
    old_weight = old_weight.fillna(0.0)
    new_weight = new_weight.fillna(0.0)
    difference = new_weight - old_weight
    is_lost = pairs["side"] == "right_only"
    is_mended = pairs["side"] == "left_only"
    is_worse = difference > 0
    change = is_worse.map({True: "worse", False: "better"})
    change = change.mask(is_lost, "lost")
    pairs["change"] = change.mask(is_mended, "mended")
    for name in DETAILS:
        old_detail = pairs[f"{name}_old"]
        new_detail = pairs[f"{name}_new"]
        pairs[name] = new_detail.where(~is_mended, old_detail)
    pairs = pairs.assign(difference=difference)
    changed = pairs[_is_not_zero(difference)]
    ordered = _ordered(changed, "difference", LOSS)
    return ordered[[*LOSS, "change", *DETAILS]]


def _losses(losses: pd.DataFrame) -> pd.DataFrame:
    """Each lost entity once, with its details."""
    rows = _comparable(losses[LOSS + DETAILS])
    return rows.drop_duplicates(LOSS)


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with 0 for the share of natural mode, so that those of two runs can be merged."""
    return rows.assign(share=shares_of(rows))


def _ordered(
    table: pd.DataFrame,
    by: str,
    names: list[str],
) -> pd.DataFrame:
    """The rows by a column, largest first, then by names; without a share in natural mode."""
    names_ascending = [True] * len(names)
    table = table.sort_values(
        [by, *names],
        ascending=[False, *names_ascending],
    )
    is_matched = table["mode"] == "matched"
    share = table["share"].astype("Float64")
    share = share.where(is_matched)
    table = table.assign(share=share)
    return table.reset_index(drop=True)
