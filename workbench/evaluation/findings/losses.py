"""What was lost and needed again, the worst first."""

from __future__ import annotations

import re

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.findings.tables import Tables


def worst_losses(run: Tables, row_limit: int = 60, each: int = 0) -> pd.DataFrame:
    """What was lost and needed again, worst first; an entity that several strategies lost at one
    boundary is one row.

    First stands what one strategy lost and another kept, then what all lost; last what is
    boilerplate.

    Columns: those of the `losses` table, with `lost_by`: a tuple of `(strategy, stage, level)`.
    Under the strategies' own triggers where that lost anything, else at equal size. The references
    are left out. Beyond the `most` rows, each session has so many of its worst.
    """
    rows = run.losses[~run.losses["strategy"].isin(REFERENCES)]
    is_natural = rows["mode"] == "natural"
    if is_natural.any():
        rows = rows[is_natural]
    if rows.empty:
        return rows.assign(lost_by=[])
    losses = rows.drop_duplicates(LOSS).set_index(LOSS, drop=False)
    largest_weights = rows.groupby(LOSS)["weight"].max()
    losses = losses.assign(lost_by=_losers(run, rows), weight=largest_weights)
    losses = losses.reset_index(drop=True)
    losses["times"] = losses["lost_by"].map(len)
    losses["by_all"] = losses["times"] >= losses["session"].map(_strategies_by_session(run))
    losses["boilerplate"] = [
        _is_boilerplate(str(kind), str(entity), str(evidence))
        for kind, entity, evidence in zip(
            losses["kind"], losses["entity"], losses["evidence"], strict=True
        )
    ]
    # so that no session fills it
    alike = losses.groupby(["weight", "times", "session"], sort=False)
    losses["turn"] = alike.cumcount()
    losses = losses.sort_values(
        ["boilerplate", "by_all", "weight", "times", "turn"],
        ascending=[True, True, False, False, True],
        kind="stable",
        ignore_index=True,
    )
    place_in_session = losses.groupby("session", sort=False).cumcount()
    is_shown = (losses.index < row_limit) | (place_in_session < each)
    return losses[is_shown].reset_index(drop=True)


LOSS = ["session", "kind", "entity", "needed_at"]
"""The columns by which the losses of several strategies are one row."""


def _losers(run: Tables, rows: pd.DataFrame) -> pd.Series:
    """By loss the strategies that had it, best first, each as `(strategy, stage, level)`."""
    losers = rows.drop_duplicates([*LOSS, "strategy"]).sort_values(
        "strategy", key=lambda names: names.map(run.strategies.index), kind="stable"
    )
    columns = losers[["strategy", "stage", "level"]]
    lost_by = list(columns.itertuples(index=False, name=None))
    losers = losers.assign(lost_by=lost_by)
    return losers.groupby(LOSS)["lost_by"].agg(tuple)


def _strategies_by_session(run: Tables) -> pd.Series:
    """How many strategies, without the references, were replayed in each session."""
    replays = run.replays[run.replays["status"] == "ok"]
    replays = replays[~replays["strategy"].isin(REFERENCES)]
    return replays.groupby("session")["strategy"].nunique()


_KEY_ENDS = re.compile(r"[\"']?\??:(?![:=])")
_CLASSES = re.compile(r"\bclass(?:Name)?=[\"'`{][^\"'`]*$")


def _is_boilerplate(kind: str, entity: str, evidence: str) -> bool:
    """Whether an entity is stated as the key of a field, as a class of a page's style, or inside
    a longer word.
    """
    text_before, match, text_after = evidence.partition(entity)
    if not match:
        return False
    is_quoted_key = text_before.endswith('"') and text_after.startswith('":')
    begins_line = not any(map(str.isalnum, text_before.rpartition("\n")[2]))
    is_key = begins_line and _KEY_ENDS.match(text_after) is not None
    is_inside = kind in ("identifier", "error", "id") and text_before[-1:].isalnum()
    is_class = _CLASSES.search(text_before) is not None
    return is_quoted_key or is_key or is_inside or is_class
