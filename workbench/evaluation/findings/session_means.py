"""Means of metrics, one value a session, found by place without a search of the whole table. Pure."""

from __future__ import annotations

import pandas as pd


class SessionMeans:
    """The mean of each metric in each session, by place: metric, mode and strategy, with the share
    between them where the rows have one.
    """

    def __init__(self, rows: pd.DataFrame, place: list[str]) -> None:
        groups = rows.groupby([*place, "session"], sort=True)
        self._means = groups[["value", "scaled"]].mean()
        index = self._means.index
        self._sessions = index.get_level_values("session")
        places = self._means.groupby(level=place)
        self._rows_of = places.indices

    def at(
        self,
        place: tuple[str | float, ...],
        column: str,
    ) -> pd.Series[float]:
        """One value a session, without the missing ones; empty where the place has none."""
        row_numbers = self._rows_of.get(place, [])
        numbers = self._means[column].to_numpy()
        values = pd.Series(
            numbers[row_numbers],
            index=self._sessions[row_numbers],
            name=column,
        )
        return values.dropna()
