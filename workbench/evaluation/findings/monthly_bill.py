"""What the bill of a run's sessions comes to in a month, at the pace of the recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from workbench.base.formats import missing
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.tables import Tables

DAY_SECONDS = 86_400
MONTH_DAYS = 30
LEAST_DAYS = 7
"""From the first recorded time to the last: fewer days say little of a month."""
LEAST_SESSIONS = 5
BUNDLED_FORMAT = "recorded"
"""The format of the bundled sessions, which are the work of nobody's month."""


@dataclass(frozen=True, slots=True)
class MonthlyBill:
    """A month of 30 days at the pace of the recordings.

    Attributes:
        sessions: all that were replayed.
        days: from the first recorded time to the last.
        usd_uncompacted: without compaction.
        usd: by strategy, with its summaries and the look-ups of what was lost.
    """

    sessions: int
    days: int
    usd_uncompacted: float
    usd: Mapping[str, float]

    @classmethod
    def of(cls, run: Tables, names: Sequence[str]) -> Self | None:
        """Of these strategies of a run.

        Returns:
            None where a session has no times or no price, where they are few or of few days, and
            for the bundled sessions.
        """
        replayed = run.replayed
        days = _days(run)
        if days is None:
            return None
        a_month = MONTH_DAYS / days
        usd: dict[str, float] = {}
        usd_uncompacted = 0.0
        for name in names:
            bills = rows_with(run.costs, strategy=name).set_index("session")
            bills = bills.reindex(replayed["session"])
            usd_uncompacted = a_month * float(bills["usd_uncompacted"].sum(skipna=False))
            saved = a_month * float(bills["net_saving"].sum(skipna=False))
            if missing(usd_uncompacted) or missing(saved):
                return None
            usd[name] = usd_uncompacted - saved
        return cls(len(replayed), round(days), usd_uncompacted, usd)


def _days(run: Tables) -> float | None:
    """Days from the first recorded time to the last; None where they say nothing of a month."""
    sessions = run.replayed
    times = sessions[["begun", "ended"]]
    is_whole = not times.isna().to_numpy().any()
    is_bundled = (sessions["format"] == BUNDLED_FORMAT).any()
    if len(sessions) < LEAST_SESSIONS or not is_whole or is_bundled:
        return None
    days = float(times["ended"].max() - times["begun"].min()) / DAY_SECONDS
    if days < LEAST_DAYS:
        return None
    return days
