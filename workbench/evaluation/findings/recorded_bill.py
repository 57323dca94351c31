"""What the recorded agents' own compactions saved of the bill, beside what strategies save in the
same sessions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings.look_ups import UNCOMPACTED
from workbench.evaluation.findings.tables import Tables

SAME_SAVING = 0.005
"""The share of the bill below which two savings print alike."""


@dataclass(frozen=True, slots=True)
class RecordedBill:
    """The bill of the requests as they were recorded, by the rules that price the strategies.

    Attributes:
        sessions: those that report the usage of every request.
        saved: the share of their bill without compaction that the agents' own compactions saved;
            what their summaries cost is not in it, since few recordings say so.
        saved_by: by strategy the share that it saves of the same bill.
    """

    sessions: int
    saved: float
    saved_by: Mapping[str, float]

    @classmethod
    def of(cls, run: Tables, names: Sequence[str]) -> Self | None:
        """Of these strategies of a run; None where no recorded agent made its context smaller, and
        where a strategy has no bill in one of the sessions.
        """
        recorded = _recorded_bills(run)
        if not recorded["is_smaller"].any():
            return None
        uncompacted = float(recorded["usd_uncompacted"].sum())
        saved_by: dict[str, float] = {}
        for name in names:
            bills = _bills_by_session(run, name)
            savings = bills["net_saving"].reindex(recorded.index)
            saved_usd = float(savings.sum(skipna=False))
            if missing(saved_usd):
                return None
            saved_by[name] = saved_usd / uncompacted
        paid = float(recorded["usd"].sum())
        return cls(
            sessions=len(recorded),
            saved=1 - paid / uncompacted,
            saved_by=saved_by,
        )

    def save_more_than(self, name: str) -> bool:
        """Whether the agents' own compactions saved more than a strategy does."""
        return self.saved - self.saved_by[name] >= SAME_SAVING


def _bills_by_session(run: Tables, strategy: str) -> pd.DataFrame:
    """The bills of a strategy."""
    bills = rows_with(run.costs, strategy=strategy)
    return bills.set_index("session")


def _recorded_bills(run: Tables) -> pd.DataFrame:
    """By session that reports every request: `usd` as recorded, `usd_uncompacted`, and whether the
    agent itself made its context smaller.
    """
    requests = run.reconciliation.set_index("session")
    is_whole = requests["left_out"] == 0
    requests = requests[is_whole]
    bills = _bills_by_session(run, UNCOMPACTED)
    bills = bills.reindex(requests.index)
    changes = requests[["compactions", "clearings", "shrunk"]]
    columns = {
        "usd": requests["usd"] + bills["usd_output"],
        "usd_uncompacted": bills["usd_uncompacted"],
        "is_smaller": changes.sum(axis=1) > 0,
    }
    table = pd.DataFrame(columns)
    is_known = table["usd"].notna()
    is_priced = table["usd_uncompacted"] > 0
    return table[is_known & is_priced]
