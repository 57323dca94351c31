"""What was lost and needed again, the worst first."""

from __future__ import annotations

import re

import pandas as pd

from workbench.evaluation.analysis.table_rows import rows_of_contenders, rows_with
from workbench.evaluation.findings.tables import Tables


def worst_losses(run: Tables, row_limit: int = 60, each: int = 0) -> pd.DataFrame:
    """What was lost and needed again, worst first; an entity that several strategies lost at one
    boundary is one row.

    First stands what one strategy lost and another kept, then what all lost; last what is
    boilerplate.

    Columns: those of the `losses` table, with `lost_by`: a tuple of `(strategy, stage, level)`.
    Under the strategies' own triggers where that lost anything, else at equal size. The references
    are left out. Beyond the first `row_limit` rows, each session has so many of its worst.
    """
    rows = listed_rows(run)
    if rows.empty:
        return rows.assign(lost_by=[])
    losses = _worst_first(_grouped(run, rows))
    in_session = losses.groupby("session", sort=False)
    is_of_worst = losses.index < row_limit
    is_of_worst_in_session = in_session.cumcount() < each
    listed = losses[is_of_worst | is_of_worst_in_session]
    return listed.reset_index(drop=True)


def listed_rows(run: Tables) -> pd.DataFrame:
    """The rows of `losses` that are listed: the contenders', under their own triggers where that
    lost anything.
    """
    rows = rows_of_contenders(run.losses)
    is_natural = rows["mode"] == "natural"
    if is_natural.any():
        return rows[is_natural]
    return rows


LOSS = [
    "session",
    "kind",
    "entity",
    "needed_at",
]
"""The columns by which the losses of several strategies are one row."""
ORDER = {
    "boilerplate": True,
    "by_all": True,
    "weight": False,
    "times": False,
    "turn": True,
}
"""The columns that losses are ordered by, each with whether the smallest comes first."""


def _grouped(run: Tables, rows: pd.DataFrame) -> pd.DataFrame:
    """One row a loss, with the strategies that had it, whether these are all, and whether it is
    boilerplate.
    """
    losses = rows.drop_duplicates(LOSS)
    losses = losses.set_index(LOSS, drop=False)
    by_loss = rows.groupby(LOSS)
    losses = losses.assign(
        lost_by=_losers(run, rows),
        weight=by_loss["weight"].max(),
    )
    losses = losses.reset_index(drop=True)
    times = losses["lost_by"].map(len)
    strategy_counts = losses["session"].map(_strategies_by_session(run))
    return losses.assign(
        times=times,
        by_all=times >= strategy_counts,
        boilerplate=_are_boilerplate(losses),
    )


def _are_boilerplate(losses: pd.DataFrame) -> list[bool]:
    """Of each loss whether it is boilerplate."""
    columns = losses[["kind", "entity", "evidence"]].astype(str)
    are_boilerplate: list[bool] = []
    for kind, entity, evidence in columns.itertuples(index=False, name=None):
        are_boilerplate.append(_is_boilerplate(kind, entity, evidence))
    return are_boilerplate


def _worst_first(losses: pd.DataFrame) -> pd.DataFrame:
    """The losses in their order; alike ones take turns by session, so that no session fills it."""
    alike = losses.groupby(["weight", "times", "session"], sort=False)
    losses = losses.assign(turn=alike.cumcount())
    return losses.sort_values(
        list(ORDER),
        ascending=list(ORDER.values()),
        kind="stable",
        ignore_index=True,
    )


def _losers(run: Tables, rows: pd.DataFrame) -> pd.Series:
    """By loss the strategies that had it, best first, each as `(strategy, stage, level)`."""
    losers = rows.drop_duplicates([*LOSS, "strategy"])
    ranks = losers["strategy"].map(run.strategies.index)
    losers = losers.assign(rank=ranks)
    losers = losers.sort_values("rank", kind="stable")
    columns = losers[["strategy", "stage", "level"]]
    lost_by = columns.itertuples(index=False, name=None)
    losers = losers.assign(lost_by=list(lost_by))
    by_loss = losers.groupby(LOSS)
    return by_loss["lost_by"].agg(tuple)


def _strategies_by_session(run: Tables) -> pd.Series:
    """How many strategies, without the references, were replayed in each session."""
    finished = rows_with(run.replays, status="ok")
    by_session = rows_of_contenders(finished).groupby("session")
    return by_session["strategy"].nunique()


KINDS_OF_WHOLE_WORDS = ("identifier", "error", "id")
_KEY_ENDS = re.compile(r"[\"']?\??:(?![:=])")
_CLASSES = re.compile(r"\bclass(?:Name)?=[\"'`{][^\"'`]*$")


def _is_boilerplate(kind: str, entity: str, evidence: str) -> bool:
    """Whether an entity is stated as the key of a field, as a class of a page's style, or inside
    a longer word.
    """
    text_before, match, text_after = evidence.partition(entity)
    if not match:
        return False
    if text_before.endswith('"') and text_after.startswith('":'):
        return True
    _, _, start_of_line = text_before.rpartition("\n")
    begins_line = not any(map(str.isalnum, start_of_line))
    if begins_line and _KEY_ENDS.match(text_after):
        return True
    if kind in KINDS_OF_WHOLE_WORDS and text_before[-1:].isalnum():
        return True
    return _CLASSES.search(text_before) is not None
