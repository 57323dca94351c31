"""A finished run: its tables and its manifest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SettingError
from workbench.base.registry import extension
from workbench.base.remote import address_of, name_of
from workbench.base.typed_value import check_instance
from workbench.evaluation.experiment.bounded import text_of
from workbench.evaluation.experiment.column_units import units_of
from workbench.evaluation.experiment.run_copies import (
    address_of_copy,
    fetched_where_there,
)
from workbench.evaluation.experiment.table_columns import COLUMNS, SCHEMA, frame
from workbench.evaluation.experiment.table_folder import read_table

if TYPE_CHECKING:
    import pandas as pd


class ResultTables:
    """The tables of a run, each a DataFrame with the documented columns
    (docs/reference/tables.md), and its units in `attrs["units"]`.
    """

    sessions: pd.DataFrame
    steps: pd.DataFrame
    compactions: pd.DataFrame
    retention: pd.DataFrame
    survival: pd.DataFrame
    scores: pd.DataFrame
    baseline_at_sizes: pd.DataFrame
    costs: pd.DataFrame
    paging: pd.DataFrame
    reconciliation: pd.DataFrame
    losses: pd.DataFrame
    rules: pd.DataFrame
    boundaries: pd.DataFrame
    replays: pd.DataFrame
    replicates: pd.DataFrame
    variants: pd.DataFrame


class SimulationTables:
    """The tables of a simulation in the folder of a run; where there is none, these are no
    attributes.
    """

    simulated: pd.DataFrame
    look_ups: pd.DataFrame


SIMULATION_TABLES = ("simulated", "look_ups")
"""Their names."""


@dataclass(frozen=True)
class Results(ResultTables, SimulationTables):
    """A finished run: its tables as attributes, each a DataFrame; docs/reference/tables.md
    describes them.

    The tables are sessions, steps, compactions, retention, survival, scores, baseline_at_sizes,
    costs, paging, reconciliation, losses, rules, boundaries, replays, replicates (empty where
    nothing was repeated) and variants (of a sweep); beside them simulated and look_ups, where the
    run was simulated.
    """

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> Results:
        """The run in this folder.

        Raises:
            SettingError: there is no finished run, or one of another version.
        """
        check_instance("the run", path, (str, PathLike), "the path of its folder")
        results = cls(fetched_where_there(path))
        if not address_of(path) and not results.path.exists():
            raise SettingError(
                f"there is no folder {path}; `workbench runs list` shows the runs of one"
            )
        if not (results.path / "manifest.json").is_file():
            raise SettingError(
                f"{name_of(path)} holds no finished run; a run's folder has a manifest.json"
            )
        version = results.manifest.get("schema")
        if version != SCHEMA:
            newer = isinstance(version, int) and version > SCHEMA
            advice = (
                "install the workbench that wrote it, or a newer one"
                if newer
                else "run its command again"
            )
            raise SettingError(
                f"{path} has tables of version {version!r}, and this workbench reads version"
                f" {SCHEMA}; {advice}"
            )
        return results

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """How the run was made."""
        path = self.path / "manifest.json"
        try:
            manifest = json.loads(text_of(path))
        except (OSError, ValueError, RecursionError):
            manifest = None
        if not isinstance(manifest, dict):
            raise SettingError(f"{path} is no manifest of a run; run its command again")
        return manifest

    def table(self, name: str) -> pd.DataFrame:
        """One table by name, with every documented column; those of an older run that had none are
        empty.

        Raises:
            SettingError: the file is no table.
        """
        path, empty = self.path / f"{name}.parquet", frame(name, ())
        if not path.exists():
            return empty
        table = read_table(path)
        for column in empty.columns.difference(table.columns):
            table[column] = empty[column].reindex(table.index)
        return table

    if not TYPE_CHECKING:  # a type checker knows the tables, and then finds a wrong name

        def __getattr__(self, name: str) -> pd.DataFrame:
            """A table as an attribute; it is read when it is first looked at."""
            if name in SIMULATION_TABLES:
                table = self._simulation_table(name)
            elif name in COLUMNS:
                table = self.table(name)
            else:
                names = ", ".join([*COLUMNS, *SIMULATION_TABLES])
                raise AttributeError(f"a run has no table {name!r}; it has {names}")
            self.__dict__[name] = table
            table.attrs["units"] = units_of(table.columns, name)
            return table

    def _simulation_table(self, name: str) -> pd.DataFrame:
        """A table of the simulation in the run's folder."""
        path = self._simulation_path(name)
        if not path.exists():
            raise AttributeError(
                f"{self.path} has no table {name}; `workbench lab simulate` with this folder as"
                " --out makes it"
            )
        return read_table(path)

    def _simulation_path(self, name: str) -> Path:
        return self.path / f"{name}.parquet"

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the decision, the table and the chart, as the report has them;
        None without the report.
        """
        results_html = extension("results_html")
        if results_html is None:
            return None
        html: str = results_html(self)
        return html

    def __dir__(self) -> list[str]:
        """The attributes, with every table."""
        names = {*super().__dir__(), *COLUMNS}
        for name in SIMULATION_TABLES:
            if self._simulation_path(name).exists():
                names.add(name)
        return sorted(names)

    @property
    def failed(self) -> int:
        """How many replays failed."""
        return int((self.replays["status"] == "failed").sum())

    @property
    def pending(self) -> int:
        """How many replays wait for answers of their model; the same command asks for them
        again.
        """
        return int((self.replays["status"] == "pending").sum())

    @property
    def report(self) -> Path:
        """Where its report is once it is rendered."""
        return self.path / "report.html"

    @property
    def place(self) -> str:
        """Its folder, or its address in a store."""
        return address_of_copy(self.path) or str(self.path)

    def __repr__(self) -> str:
        read = int((self.sessions["status"] == "ok").sum())
        strategies = self.replays["strategy"].nunique()
        replays = f"replays {len(self.replays):,}" + (
            f", failed {self.failed:,}" if self.failed else ""
        )
        replays += f", pending {self.pending:,}" if self.pending else ""
        return f"<Results in {self.place}: sessions {read:,}, strategies {strategies:,}, {replays}>"
