"""Which strategies and sessions the means at equal size of a run count. Pure."""

from __future__ import annotations

from typing import NamedTuple

from workbench.evaluation.analysis.equal_size import OverTarget, over_target
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.run_tables import RunTables


class PartOf(NamedTuple):
    """Some sessions or boundaries: how many, and of how many."""

    part: int
    total: int


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
        metric = self.leading("matched")
        rows = self._at_size(metric, share)
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
