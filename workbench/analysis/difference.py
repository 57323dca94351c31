"""What changed from one run to another: value by value, and entity by entity."""

from __future__ import annotations

import pandas as pd

from workbench.analysis.scores import floats

PLACE = ["session", "strategy", "mode", "share"]
VALUES = (*PLACE, "metric", "before", "after", "difference", "worse_by", "better")
ENTITIES = (
    *PLACE, "kind", "entity", "change", "weight", "recoverable", "level", "said_by", "evidence_at", "evidence",
    "needed_at", "use", "stage",
)  # fmt: skip
"""Columns of `changed_values` and `changed_entities`, see there."""


def changed_values(before: pd.DataFrame, after: pd.DataFrame, metric: str | None = None) -> pd.DataFrame:
    """The scores that differ, largest regression first.

    Args:
        before: the table `scores` of the earlier run.
        after: that of the later one.
        metric: one of theirs; None takes all.

    Returns:
        `session`, `strategy`, `mode`, `share` and `metric` of the score; `before`, `after` and their `difference` in
        the metric's unit; `worse_by`: that difference as a share of the larger of the two values, in [-2, 2], above 0
        where the metric has become worse, 1 where a value is missing now, by which rows of different units are ordered.
    """
    names = [*PLACE, "metric"]
    old, new = (_scores(table, metric) for table in (before, after))
    both = old.merge(new, on=names, suffixes=("_old", "_new"))
    one, other = (floats(both[f"value_{side}"]) for side in ("old", "new"))
    scale = pd.concat([one.abs(), other.abs()], axis=1).max(axis=1)
    gap = other - one
    sign = both["better_new"].map({"higher": -1.0, "lower": 1.0}).astype("float64")
    worse = (sign * gap / scale.where(scale > 0, 1.0)).mask(one.notna() & other.isna(), 1.0)
    worse = worse.mask(one.isna() & other.notna(), -1.0)
    table = both[names].assign(
        before=one, after=other, difference=gap, worse_by=worse.fillna(0.0), better=both["better_new"]
    )
    return _ordered(table[table["worse_by"].abs() > 1e-12], "worse_by", names)[list(VALUES)]


def changed_entities(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The needed entities that only one of two runs had lost, new losses first and the worst of them at the top.

    A run writes down its thirty worst losses for each session, strategy and budget: an entity counts as mended when it
    is no more among them.

    Args:
        before: the table `losses` of the earlier run.
        after: that of the later one.

    Returns:
        A row an entity with `change`: `lost` (new), `worse` (its name stood there and does not any more), `better` or
        `mended`; all others as in `losses`, from the later run where it has them.
    """
    names = [*PLACE, "kind", "entity"]
    old, new = (_losses(table, names) for table in (before, after))
    both = old.merge(new, on=names, how="outer", suffixes=("_old", "_new"), indicator=True)
    rows = pd.DataFrame({name: both[name] for name in names})
    weights = {side: floats(both[f"weight_{side}"]).fillna(0.0) for side in ("old", "new")}
    rows["gap"] = weights["new"] - weights["old"]
    lost = both["_merge"] == "right_only"
    mended = both["_merge"] == "left_only"
    rows["change"] = (rows["gap"] > 0).map({True: "worse", False: "better"}).mask(lost, "lost").mask(mended, "mended")
    for column in ENTITIES[len(names) + 1 :]:
        rows[column] = both[f"{column}_new"].where(~mended, both[f"{column}_old"])
    changed = rows[rows["gap"].abs() > 1e-12]
    return _ordered(changed, "gap", names)[list(ENTITIES)]


def _scores(table: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    rows = table if metric is None else table[table["metric"] == metric]
    return _plain(rows[[*PLACE, "metric", "value", "better"]])


def _losses(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    wanted = [column for column in ENTITIES if column != "change"]
    return _plain(table[wanted]).drop_duplicates(names)


def _plain(rows: pd.DataFrame) -> pd.DataFrame:
    """With 0 for the share of natural mode, so that rows of it find each other."""
    return rows.assign(share=floats(rows["share"]).fillna(0.0))


def _ordered(table: pd.DataFrame, by: str, names: list[str]) -> pd.DataFrame:
    order = table.sort_values([by, *names], ascending=[False, *(True for _ in names)])
    shares = order["share"].astype("Float64")
    return order.assign(share=shares.where(order["mode"] == "matched")).reset_index(drop=True)
