"""Means of metrics, one value a session, found by place without a search of the whole table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from workbench.base.ragged import Floats, Ints


class SessionMeans:
    """The mean of each metric in each session, by place: metric, mode and strategy, with the share
    between them where the rows have one.
    """

    def __init__(self, rows: pd.DataFrame, place: list[str]) -> None:
        groups = rows.groupby([*place, "session"], sort=True)
        means = groups[["value", "scaled"]].mean()
        self._columns: dict[str, _KnownMeans] = {}
        for name in ("value", "scaled"):
            self._columns[name] = _KnownMeans.of(means[name])

    def at(
        self,
        place: tuple[str | float, ...],
        column: str,
    ) -> pd.Series[float]:
        """One value a session, without the missing ones; empty where the place has none."""
        means = self._columns[column]
        row_numbers: Ints | list[int] = means.rows_of.get(place, [])
        return pd.Series(
            means.numbers[row_numbers],
            index=means.sessions[row_numbers],
            name=column,
        )


@dataclass(frozen=True, slots=True)
class _KnownMeans:
    """The means of a column that are not missing, with their sessions.

    Attributes:
        rows_of: by place, where its means stand.
    """

    numbers: Floats
    sessions: pd.Index[str]
    rows_of: Mapping[tuple[str | float, ...], Ints]

    @classmethod
    def of(cls, means: pd.Series[float]) -> Self:
        """The means of a column by place and session."""
        known_means = means.dropna()
        *place, session = known_means.index.names
        places = known_means.groupby(level=place)
        return cls(
            numbers=known_means.to_numpy(),
            sessions=known_means.index.get_level_values(session),
            rows_of=places.indices,
        )
