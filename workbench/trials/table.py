"""The table of trials on disk, and what strategies succeed in, with paired intervals over families."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from workbench.analysis.compared import compare_table
from workbench.errors import SettingError
from workbench.experiment.spec import chosen_baseline
from workbench.experiment.store import write_atomically

COLUMNS = {
    "strategy": "string", "family": "string", "seed": "Int64", "agent": "string", "window": "Int64", "status": "string",
    "success": "Int64", "checks": "Int64", "passed": "Int64", "violations": "Int64", "reason": "string",
    "steps": "Int64", "look_ups": "Int64", "recalls": "Int64", "holes": "Int64", "misread": "Int64", "blind": "Int64",
    "tokens": "Int64", "peak": "Int64", "usd": "Float64", "compactions": "Int64",
}  # fmt: skip
"""The columns of the table `trials`, see docs/tables.md."""
MEANS = ("success", "violations", "steps", "look_ups", "recalls", "misread", "blind", "tokens", "usd", "compactions")


@dataclass(frozen=True)
class TrialResults:
    """A folder with the table `trials`: a row a trial."""

    path: Path
    file: ClassVar[str] = "trials.parquet"

    @classmethod
    def open(cls, folder: str | Path) -> TrialResults:
        """The trials in this folder; a `SettingError` where there are none."""
        if not (Path(folder) / cls.file).is_file():
            raise SettingError(f"{folder} holds no trials; `workbench trial` makes some")
        return cls(Path(folder))

    @classmethod
    def write(cls, folder: Path, rows: Sequence[Mapping[str, Any]], notes: Mapping[str, object]) -> TrialResults:
        """The trials, written into this folder."""
        table = pd.DataFrame({name: pd.array([row.get(name) for row in rows], dtype=COLUMNS[name]) for name in COLUMNS})
        write_atomically(folder / cls.file, table.to_parquet(index=False))
        write_atomically((folder / cls.file).with_suffix(".json"), json.dumps(notes, indent=2) + "\n")
        return cls(folder)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The documented columns."""
        return pd.read_parquet(self.path / self.file)

    @property
    def pending(self) -> str:
        """What waits for a model's provider, in a sentence; empty if nothing does."""
        rows = self.table[self.table["status"] == "pending"]
        return "" if rows.empty else f"{len(rows)} of {len(self.table)} trials wait: {rows['reason'].iloc[-1]}"

    @property
    def failed(self) -> int:
        """How many trials could not be done."""
        return int((self.table["status"] == "failed").sum())


def by_family(trials: pd.DataFrame) -> pd.DataFrame:
    """The success of each strategy in each family: a row of `strategy`, `family`, `success`."""
    done = trials[trials["status"] == "ok"].astype({"success": float})
    return done.groupby(["strategy", "family"], sort=False)["success"].mean().reset_index()


def by_strategy(trials: pd.DataFrame, family: str = "") -> pd.DataFrame:
    """What each strategy succeeds in, beside the baseline (`truncate`, or the first).

    Args:
        trials: the table.
        family: of this family alone: then its tasks are the units of the interval, and else the families.

    Returns:
        A row a strategy, in the order of the table: `strategy`, `trials`, the means `MEANS`, and of the success
        `difference`, `low` and `high` (95 %, paired) against the `baseline`; empty where there are too few units.
    """
    rows = trials[trials["status"] == "ok"]
    rows = rows[rows["family"] == family] if family else rows
    found = rows.groupby("strategy", sort=False)[list(MEANS)].mean()
    found.insert(0, "trials", rows.groupby("strategy", sort=False).size())
    baseline = chosen_baseline("", [str(name) for name in found.index])
    if baseline is None:
        return found.assign(baseline="", difference=None, low=None, high=None).reset_index()
    session = rows["family"] + " " + rows["seed"].astype("string")
    scores = pd.DataFrame(
        {
            "session": session, "project": session if family else rows["family"], "strategy": rows["strategy"],
            "mode": "natural", "share": None, "metric": "success", "value": rows["success"].astype("Float64"),
            "better": "higher",
        }
    )  # fmt: skip
    compared = compare_table(scores, "success", baseline).set_index("strategy")[["difference", "low", "high"]]
    compared[["low", "high"]] = compared[["low", "high"]].clip(-1, 1)
    return found.join(compared).assign(baseline=baseline).reset_index()
