"""The table of trials on disk, and what strategies succeed in, with paired intervals over
families.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from workbench.base.formats import some
from workbench.evaluation.analysis.compared import compare_table
from workbench.evaluation.experiment.spec import chosen_baseline
from workbench.evaluation.experiment.table_folder import TableFolder

COLUMNS = {
    "strategy": "string",
    "family": "string",
    "seed": "Int64",
    "agent": "string",
    "window": "Int64",
    "status": "string",
    "success": "Int64",
    "checks": "Int64",
    "passed": "Int64",
    "violations": "Int64",
    "reason": "string",
    "steps": "Int64",
    "calls": "Int64",
    "again": "Int64",
    "look_ups": "Int64",
    "recalls": "Int64",
    "holes": "Int64",
    "misread": "Int64",
    "blind": "Int64",
    "tokens": "Int64",
    "peak": "Int64",
    "usd": "Float64",
    "compactions": "Int64",
}
"""The columns of the table `trials`, see docs/reference/tables.md."""
MEANS = (
    "success",
    "violations",
    "steps",
    "look_ups",
    "recalls",
    "misread",
    "blind",
    "tokens",
    "usd",
    "compactions",
)


@dataclass(frozen=True)
class TrialResults(TableFolder):
    """A folder with the table `trials`: a row a trial."""

    file: ClassVar[str] = "trials.parquet"
    columns: ClassVar[Mapping[str, str]] = COLUMNS
    absent: ClassVar[str] = "no trials; `workbench lab trial` makes some"

    @property
    def pending(self) -> str:
        """What waits for a model's provider, in a sentence; empty if nothing does."""
        rows = self.table[self.table["status"] == "pending"]
        if rows.empty:
            return ""
        trials_wait = some(len(self.table), "trial waits", "trials wait")
        return f"{len(rows)} of {trials_wait}: {rows['reason'].iloc[-1]}"

    @property
    def failed(self) -> int:
        """How many trials could not be done."""
        is_failed = self.table["status"] == "failed"
        return int(is_failed.sum())


def by_family(trials: pd.DataFrame) -> pd.DataFrame:
    """The success of each strategy in each family: a row of `strategy`, `family`, `success`."""
    finished = trials[trials["status"] == "ok"].astype({"success": float})
    groups = finished.groupby(["strategy", "family"], sort=False)
    return groups["success"].mean().reset_index()


def by_strategy(trials: pd.DataFrame, family: str = "") -> pd.DataFrame:
    """What each strategy succeeds in, beside the baseline (`truncate`, or the first).

    Args:
        trials: the table.
        family: of this family alone: then its tasks are the units of the interval, and else the
            families.

    Returns:
        A row a strategy, in the order of the table: `strategy`, `trials`, the means `MEANS`, and of
        the success `difference`, `low` and `high` (95 %, paired) against the `baseline`; empty
        where there are too few units.
    """
    rows = trials[trials["status"] == "ok"]
    if family:
        rows = rows[rows["family"] == family]
    groups = rows.groupby("strategy", sort=False)
    by_name = groups[list(MEANS)].mean()
    by_name.insert(0, "trials", groups.size())
    baseline = chosen_baseline("", [str(name) for name in by_name.index])
    if baseline is None:
        return by_name.assign(baseline="", difference=None, low=None, high=None).reset_index()
    session = rows["family"] + " " + rows["seed"].astype("string")
    scores = pd.DataFrame(
        {
            "session": session,
            "project": session if family else rows["family"],
            "strategy": rows["strategy"],
            "mode": "natural",
            "share": None,
            "metric": "success",
            "value": rows["success"].astype("Float64"),
            "better": "higher",
        }
    )
    compared = compare_table(scores, "success", baseline).set_index("strategy")
    compared = compared[["difference", "low", "high"]]
    compared[["low", "high"]] = compared[["low", "high"]].clip(-1, 1)
    return by_name.join(compared).assign(baseline=baseline).reset_index()
