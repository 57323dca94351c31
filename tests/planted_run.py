"""A run made of planted rows, and a table of planted scores: what a run says of them is asked
through the face.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench import Results

TABLES = (
    "sessions",
    "steps",
    "compactions",
    "retention",
    "survival",
    "scores",
    "baseline_at_sizes",
    "costs",
    "paging",
    "reconciliation",
    "losses",
    "rules",
    "boundaries",
    "replays",
    "replicates",
    "variants",
)
"""The names of all tables, in their order."""
VERSION = 1
"""Of the tables."""

SIMULATION = {
    "session": "string",
    "project": "string",
    "strategy": "string",
    "reader": "string",
    "window": "Int64",
    "compactions": "Int64",
    "unrecorded": "Int64",
    "steps": "Int64",
    "look_ups": "Int64",
    "recalls": "Int64",
    "look_up_tokens": "Int64",
    "look_up_usd": "Float64",
    "blind_user": "Int64",
    "blind_decision": "Int64",
    "blind_result": "Int64",
    "spirals": "Int64",
    "steps_until_work": "Float64",
    "usd_uncompacted": "Float64",
    "saved_usd": "Float64",
    "saved_usd_net": "Float64",
    "blind_steps": "Int64",
    "step_usd": "Float64",
    "saved_usd_blind": "Float64",
}
"""The columns of a simulation that lies beside a run's tables, see `workbench list columns
simulated`.
"""

Row = Mapping[str, Any]


class PlantedRun(Results):
    """A run in memory: a manifest, and the rows of its tables by name."""

    rows: dict[str, list[dict[str, Any]]]

    def __init__(self, manifest: dict[str, Any], rows: dict[str, list[dict[str, Any]]]) -> None:
        super().__init__(Path("in-memory"))
        self.__dict__ |= {"manifest": manifest, "rows": rows}

    def table(self, name: str) -> pd.DataFrame:
        return frame(name, self.rows.get(name, ()))

    def written(self, folder: Path) -> Path:
        """The folder, with the manifest and all tables in it."""
        return written(folder, self.rows, self.manifest)


def frame(name: str, rows: Iterable[Row]) -> pd.DataFrame:
    """Rows as a table of a run, with its columns in their types."""
    given = list(rows)
    columns = {}
    for column, column_type in column_types(name).items():
        values = [row.get(column) for row in given]
        if column_type == "string":
            values = [as_written(value) for value in values]
        columns[column] = pd.array(values, dtype=column_type)
    return pd.DataFrame(columns)


@cache
def column_types(name: str) -> dict[str, Any]:
    """The type of each column of a table."""
    types: dict[str, Any] = empty_table(name).dtypes.to_dict()
    return types


def simulation(rows: Iterable[Row]) -> pd.DataFrame:
    """Rows as the table of a simulation."""
    return pd.DataFrame(list(rows), columns=list(SIMULATION)).astype(SIMULATION)


def as_written(value: object) -> object:
    """A value as a file can hold it: text without lone surrogates."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "replace").decode()


def empty_table(name: str) -> pd.DataFrame:
    """A table of a run that has none."""
    return Results(Path("no-run")).table(name)


def written(
    folder: Path,
    tables: Mapping[str, Iterable[Row] | pd.DataFrame],
    manifest: Row | None = None,
) -> Path:
    """The folder, with a run of these tables; it has no file of the others, as an older run."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        table = rows if isinstance(rows, pd.DataFrame) else frame(name, rows)
        table.to_parquet(folder / f"{name}.parquet", index=False)
    text = json.dumps({"schema": VERSION, **(manifest or {})})
    (folder / "manifest.json").write_text(text)
    return folder
