"""Losses that a person marked in `workbench view`, or a model in `workbench lab judge losses`: those
not needed, or of the wrong kind, leave the lists of losses and what is kept of each kind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TypeAlias

import pandas as pd

from workbench.base.formats import joined, some
from workbench.evaluation.analysis.scores import shares_of
from workbench.evaluation.experiment.run_notes import LEFT_OUT, YOU, LossMark, loss_key

PLACE = [
    "session",
    "mode",
    "share",
    "at",
    "kind",
    "recoverable",
]
"""What tells the rows of `retention` apart, beside the strategy."""

Place: TypeAlias = tuple[object, ...]
"""The values of `PLACE` in a row."""


def keys_of(losses: pd.DataFrame) -> list[str]:
    """The `loss_key` of each row of a table `losses`."""
    keys = []
    for loss in losses.itertuples():
        key = loss_key(
            str(loss.session),
            str(loss.kind),
            str(loss.entity),
            int(loss.needed_at),
        )
        keys.append(key)
    return keys


def left_out(
    losses: pd.DataFrame,
    marks: Mapping[str, LossMark],
) -> pd.Series[bool]:
    """Whether each loss is marked as not needed or of the wrong kind."""
    keys_left_out: set[str] = set()
    for key, mark in marks.items():
        if mark.mark in LEFT_OUT:
            keys_left_out.add(key)
    if not keys_left_out:  # nearly always: no key is computed
        return pd.Series(False, index=losses.index, dtype=bool)
    keys = pd.Series(
        keys_of(losses),
        index=losses.index,
        dtype=str,
    )
    return keys.isin(keys_left_out)


def without(
    retention: pd.DataFrame,
    marked: pd.DataFrame,
) -> pd.DataFrame:
    """The table `retention` as if nobody had needed the marked losses.

    At the boundary where a strategy lost one, it is demanded once less of all strategies; those
    that did not lose it have kept it once less.

    Args:
        retention: as in a run.
        marked: the rows of the run's `losses` that leave the figures.
    """
    losers_by_place = _losers_by_place(marked)
    demanded: list[float] = []
    bound: list[float] = []
    places = _places(retention)
    for row, place in zip(retention.itertuples(), places, strict=True):
        losers_of_each = losers_by_place.get(place, [])
        kept_count = 0
        for losers in losers_of_each:
            kept_count += row.strategy not in losers
        still_demanded = row.demanded - len(losers_of_each)
        still_bound = max(row.bound - kept_count, 0.0)
        demanded.append(still_demanded)
        bound.append(still_bound)
    return retention.assign(demanded=demanded, bound=bound)


def _losers_by_place(marked: pd.DataFrame) -> Mapping[Place, list[set[str]]]:
    """By place, for each marked entity that was lost there, the strategies that lost it."""
    losers_of: dict[tuple[Place, object], set[str]] = defaultdict(set)
    places = _places(marked)
    for loss, place in zip(marked.itertuples(), places, strict=True):
        losers = losers_of[place, loss.entity]
        losers.add(str(loss.strategy))
    by_place: dict[Place, list[set[str]]] = defaultdict(list)
    for (place, _), losers in losers_of.items():
        by_place[place].append(losers)
    return by_place


def _places(rows: pd.DataFrame) -> list[Place]:
    """Where each row of `losses` or `retention` belongs; 0 stands for no share."""
    columns = rows[PLACE]
    places = columns.assign(share=shares_of(rows))
    return list(places.itertuples(index=False, name=None))


def note(marked: pd.DataFrame, marks: Mapping[str, LossMark]) -> str:
    """How many marked losses are left out, and who marked them, in a sentence; empty where none
    is.
    """
    if marked.empty:
        return ""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    keys = set(keys_of(marked))
    for key in keys:
        mark = marks[key]
        counts[mark.by][mark.mark] += 1
    parts = []
    for maker in sorted(counts, key=_models_first):
        parts += _losses_of(maker, counts[maker])
    are = "is" if len(keys) == 1 else "are"
    return (
        f"{joined(parts)} {are} left out of what was lost and of what is kept of each"
        " kind; the exam's figures ask other questions."
    )


def _models_first(maker: str) -> tuple[bool, str]:
    return maker == YOU, maker


def _losses_of(maker: str, counts: Counter[str]) -> list[str]:
    """The losses that a person or a model marked, in words."""
    numbers = []
    parts = []
    for mark in LEFT_OUT:
        count = counts[mark]
        if count:
            numbers.append(f"{count} {mark}")
            losses = some(count, "loss", "losses")
            parts.append(f"{losses} called {mark} by {maker}")
    if maker == YOU:
        total = some(counts.total(), "marked loss", "marked losses")
        return [f"{total} ({joined(numbers)})"]
    return parts
