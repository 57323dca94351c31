"""What differs between two runs: their scores, and the needed entities that they lost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.evaluation.analysis.scores import floats, same_baseline, size_gains

PLACE = ["session", "strategy", "mode", "share"]
VALUES = [*PLACE, "metric", "before", "after", "by_size", "difference", "worse_by", "better"]
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
    before: pd.DataFrame,
    after: pd.DataFrame,
    metric: str | None = None,
    at_sizes: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """The scores of two runs that differ, of one metric or (None) of all, largest regression first.

    Args:
        before: the table `scores` of the earlier run.
        after: that of the later one.
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
    names = [*PLACE, "metric"]
    gains_before: pd.Series[float] | float = np.nan
    gains_after: pd.Series[float] | float = np.nan
    if at_sizes is not None and same_baseline(*at_sizes):
        gains_before = size_gains(before, at_sizes[0])
        gains_after = size_gains(after, at_sizes[1])
    columns = [*names, "value", "gain", "better"]
    old = _comparable(before.assign(gain=gains_before)[columns])
    new = _comparable(after.assign(gain=gains_after)[columns])
    both = old.merge(new, on=names, suffixes=("_old", "_new"))
    if metric is not None:
        both = both[both["metric"] == metric]
    old_value = floats(both["value_old"])
    new_value = floats(both["value_new"])
    by_size = both["gain_new"] - both["gain_old"]
    difference = new_value - old_value - by_size.fillna(0.0)
    worse_by = _worse_by(old_value, new_value, difference, both["better_new"])
    table = both.assign(
        before=old_value,
        after=new_value,
        by_size=by_size,
        difference=difference,
        worse_by=worse_by,
        better=both["better_new"],
    )
    is_changed = (worse_by.abs() > 1e-12) | (by_size.abs() > 1e-12)
    return _ordered(table[is_changed], "worse_by", names)[VALUES]


def _worse_by(
    old_value: pd.Series[float],
    new_value: pd.Series[float],
    difference: pd.Series[float],
    better: pd.Series[str],
) -> pd.Series[float]:
    """The column `worse_by` of `changed_values`."""
    larger_value = pd.concat([old_value.abs(), new_value.abs()], axis=1).max(axis=1)
    sign = better.map({"higher": -1.0, "lower": 1.0}).astype("float64")
    worse_by = sign * difference / larger_value.where(larger_value > 0, 1.0)
    worse_by = worse_by.mask(old_value.notna() & new_value.isna(), 1.0)
    worse_by = worse_by.mask(old_value.isna() & new_value.notna(), -1.0)
    return worse_by.fillna(0.0)


def changed_entities(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The needed entities that only one of two runs had lost, by their tables `losses`, worst new
    losses first.

    A run records its thirty worst losses for each session, strategy and budget: an entity counts as
    mended when it is no longer among them.

    Returns:
        A row an entity with `change`: `lost` (new), `worse` (its name was there and is no longer),
        `better` or `mended`; all others as in `losses`, from the later run where it has them.
    """
    old = _comparable(before[LOSS + DETAILS]).drop_duplicates(LOSS)
    new = _comparable(after[LOSS + DETAILS]).drop_duplicates(LOSS)
    both = old.merge(new, on=LOSS, how="outer", suffixes=("_old", "_new"), indicator="side")
    difference = floats(both["weight_new"]).fillna(0.0) - floats(both["weight_old"]).fillna(0.0)
    is_lost = both["side"] == "right_only"
    is_mended = both["side"] == "left_only"
    change = (difference > 0).map({True: "worse", False: "better"})
    both["change"] = change.mask(is_lost, "lost").mask(is_mended, "mended")
    for name in DETAILS:
        both[name] = both[f"{name}_new"].where(~is_mended, both[f"{name}_old"])
    changed = both.assign(difference=difference)[difference.abs() > 1e-12]
    return _ordered(changed, "difference", LOSS)[[*LOSS, "change", *DETAILS]]


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with 0 for the share of natural mode, so that those of two runs can be merged."""
    return rows.assign(share=floats(rows["share"]).fillna(0.0))


def _ordered(table: pd.DataFrame, by: str, names: list[str]) -> pd.DataFrame:
    """The rows by a column, largest first, then by names; without a share in natural mode."""
    table = table.sort_values([by, *names], ascending=[False] + [True] * len(names))
    share = table["share"].astype("Float64").where(table["mode"] == "matched")
    return table.assign(share=share).reset_index(drop=True)
