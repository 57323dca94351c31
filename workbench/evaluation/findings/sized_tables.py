"""Which strategies and sessions the means at equal size of a run count. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.equal_size import OverTarget, evenly, over_target
from workbench.evaluation.analysis.one_basis import PLACE
from workbench.evaluation.analysis.scores import shares_of
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.run_tables import RunTables


class PartOf(NamedTuple):
    """Some sessions or boundaries: how many, and of how many."""

    part: int
    total: int


@dataclass(frozen=True, slots=True)
class SizedPlaces:
    """The places that the means at the same size count; a place is a session at one share.

    Attributes:
        scored: places in which a contender has a figure.
        in_means: those of them that the means count.
        uncut: those left out since the baseline cannot be cut to the size that another one keeps.
        unshared: those left out since a compared strategy has no figure.
    """

    scored: int
    in_means: int
    uncut: int
    unshared: int


class SizedTables(RunTables):
    """The tables of a run, and which strategies and sessions its means at equal size count."""

    def over_target(self, share: float | None = None) -> dict[str, PartOf]:
        """The strategies that stay larger than a share, or than any: in how many sessions, and of
        how many.

        Sessions in which too little is needed later for a score count in neither.
        """
        counts: dict[str, PartOf] = {}
        for name, strategy in self._over_target(share).items():
            counts[name] = PartOf(len(strategy.inside), strategy.of)
        return counts

    def unranked(self, share: float | None = None) -> dict[str, PartOf]:
        """Those of `over_target` in too many sessions for a mean that compares with the others'."""
        counts: dict[str, PartOf] = {}
        for name, strategy in self._over_target(share).items():
            if not strategy.compared:
                counts[name] = PartOf(len(strategy.inside), strategy.of)
        return counts

    def _over_target(self, share: float | None) -> dict[str, OverTarget]:
        if share is None:
            return self._over_any_target
        metric = self.leading("matched")
        rows = self._at_size(metric, share)
        return over_target(rows)

    @cached_property
    def _over_any_target(self) -> dict[str, OverTarget]:
        metric = self.leading("matched")
        rows = self._at_size(metric, None)
        return over_target(rows)

    @property
    def left_out(self) -> set[str]:
        """The sessions in which a ranked strategy stays larger than a share: no mean at equal
        size counts them.
        """
        sessions: set[str] = set()
        for strategy in self._over_target(None).values():
            if strategy.compared:
                sessions |= strategy.inside
        return sessions

    @property
    def too_small(self) -> dict[float, PartOf]:
        """By share, the boundaries in no figure, since what must stay is larger: how many, and
        of how many.
        """
        rows = rows_with(self.boundaries, mode="matched")
        counts: dict[float, PartOf] = {}
        for share, boundaries in rows.groupby("share"):
            left_out_count = int(boundaries["left_out"].sum())
            if left_out_count:
                counts[float(share)] = PartOf(left_out_count, len(boundaries))
        return counts

    @cached_property
    def same_size_places(self) -> SizedPlaces:
        """The places that the means of the leading number at the same size count, and why not
        all.
        """
        metric = self.leading("matched")
        compared = self._on_one_basis.get((metric, "matched"), self.scores.iloc[:0])
        scored = self._scored_places(metric)
        in_means = scored.intersection(_places(compared))
        left_out = scored.difference(in_means)
        at_sizes = rows_with(self.at_used_sizes, metric=metric)
        is_uncut = at_sizes["value"].isna()
        uncut = left_out.intersection(_places(at_sizes[is_uncut]))
        return SizedPlaces(
            scored=len(scored),
            in_means=len(in_means),
            uncut=len(uncut),
            unshared=len(left_out) - len(uncut),
        )

    def _scored_places(self, metric: str) -> pd.MultiIndex:
        """The places in which a contender has a figure at one size."""
        tables = [self.scores.iloc[:0]]
        for share in self.shares:
            tables.append(evenly(self._at_size(metric, share)))
        rows = pd.concat(tables)
        is_scored = rows["value"].notna()
        is_reference = rows["strategy"].isin(REFERENCES)
        return _places(rows[is_scored & ~is_reference])


def _places(rows: pd.DataFrame) -> pd.MultiIndex:
    """The places of some rows, each once."""
    rows = rows.assign(share=shares_of(rows))
    return pd.MultiIndex.from_frame(rows[PLACE]).unique()
