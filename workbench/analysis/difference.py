"""What changed from one run to another: value by value, and entity by entity."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.analysis.scores import floats, same_baseline, size_gains

PLACE = ["session", "strategy", "mode", "share"]
VALUES = [*PLACE, "metric", "before", "after", "by_size", "difference", "worse_by", "better"]
LOSS = [*PLACE, "kind", "entity"]
DETAILS = ["weight", "recoverable", "level", "said_by", "evidence_at", "evidence", "needed_at", "use", "stage"]


def changed_values(
    before: pd.DataFrame, after: pd.DataFrame, metric: str | None = None,
    at_sizes: tuple[pd.DataFrame, pd.DataFrame] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The scores of two runs that differ, of one metric or (None) of all, largest regression first.

    Args:
        before: the table `scores` of the earlier run.
        after: that of the later one.
        metric: one of its metrics.
        at_sizes: the tables `baseline_at_sizes` of both, in that order.

    Returns:
        `session`, `strategy`, `mode`, `share` and `metric` of the score; `before` and `after` in the metric's unit;
        `by_size`: what the baseline gains from the size used before to the size used after, missing where that is
        unknown; `difference`: what is left of after - before without it; `worse_by`: that difference as a share of the
        larger of the two values, in [-2, 2], above 0 where the metric has become worse, 1 where a value is missing now,
        by which rows of different units are ordered.
    """
    names = [*PLACE, "metric"]
    even = at_sizes is not None and same_baseline(*at_sizes)
    old, new = (
        _comparable(
            table.assign(gain=size_gains(table, known) if even else np.nan)[[*names, "value", "gain", "better"]]
        )
        for table, known in zip((before, after), at_sizes or (before, after), strict=True)
    )
    both = old.merge(new, on=names, suffixes=("_old", "_new"))
    if metric is not None:
        both = both[both["metric"] == metric]
    one, other = (floats(both[f"value_{side}"]) for side in ("old", "new"))
    by_size = both["gain_new"] - both["gain_old"]
    gap = other - one - by_size.fillna(0.0)
    scale = pd.concat([one.abs(), other.abs()], axis=1).max(axis=1)
    sign = both["better_new"].map({"higher": -1.0, "lower": 1.0}).astype("float64")
    worse = (sign * gap / scale.where(scale > 0, 1.0)).mask(one.notna() & other.isna(), 1.0)
    worse = worse.mask(one.isna() & other.notna(), -1.0).fillna(0.0)
    table = both.assign(
        before=one, after=other, by_size=by_size, difference=gap, worse_by=worse, better=both["better_new"]
    )
    moved = (worse.abs() > 1e-12) | (by_size.abs() > 1e-12)
    return _ordered(table[moved], "worse_by", names)[VALUES]


def changed_entities(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The needed entities that only one of two runs had lost, by their tables `losses`, worst new losses first.

    A run records its thirty worst losses for each session, strategy and budget: an entity counts as mended when it is
    no longer among them.

    Returns:
        A row an entity with `change`: `lost` (new), `worse` (its name was there and is no longer), `better` or
        `mended`; all others as in `losses`, from the later run where it has them.
    """
    old, new = (_comparable(table[LOSS + DETAILS]).drop_duplicates(LOSS) for table in (before, after))
    both = old.merge(new, on=LOSS, how="outer", suffixes=("_old", "_new"), indicator="side")
    gap = floats(both["weight_new"]).fillna(0.0) - floats(both["weight_old"]).fillna(0.0)
    lost, mended = both["side"] == "right_only", both["side"] == "left_only"
    both["change"] = (gap > 0).map({True: "worse", False: "better"}).mask(lost, "lost").mask(mended, "mended")
    for name in DETAILS:
        both[name] = both[f"{name}_new"].where(~mended, both[f"{name}_old"])
    return _ordered(both.assign(gap=gap)[gap.abs() > 1e-12], "gap", LOSS)[[*LOSS, "change", *DETAILS]]


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with 0 for the share of natural mode, so that those of two runs can be merged."""
    return rows.assign(share=floats(rows["share"]).fillna(0.0))


def _ordered(table: pd.DataFrame, by: str, names: list[str]) -> pd.DataFrame:
    order = table.sort_values([by, *names], ascending=[False, *(True for _ in names)])
    shares = order["share"].astype("Float64")
    return order.assign(share=shares.where(order["mode"] == "matched")).reset_index(drop=True)
