"""A folder with one table and notes beside it, and a table from its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from workbench.base.errors import SettingError
from workbench.base.remote import name_of
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.bounded import check_table
from workbench.evaluation.experiment.run_copies import (
    fetched_where_there,
    local_folder,
)
from workbench.evaluation.experiment.table_columns import typed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TableFolder:
    """A folder with one table and notes beside it.

    Attributes:
        file, columns: the table's name, and its documented columns with their types.
        absent: what is missing where there is none, and the command that makes it.
    """

    path: Path
    file: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    absent: ClassVar[str]

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """What is in this folder; a `SettingError` where there is nothing."""
        path = fetched_where_there(folder)
        if not (path / cls.file).is_file():
            raise SettingError(f"{name_of(folder)} holds {cls.absent}")
        return cls(path)

    @classmethod
    def write(
        cls, folder: Path, rows: Sequence[Mapping[str, Any]], notes: Mapping[str, object]
    ) -> Self:
        """Rows, written into this folder: the table first, so that notes belong to one that is
        there.
        """
        write_atomically(folder / cls.file, typed(rows, cls.columns).to_parquet(index=False))
        write_atomically(
            (folder / cls.file).with_suffix(".json"), json.dumps(notes, indent=2) + "\n"
        )
        return cls(local_folder(folder))

    @cached_property
    def table(self) -> pd.DataFrame:
        """The documented columns."""
        return read_table(self.path / self.file)


def read_table(path: Path) -> pd.DataFrame:
    """The table in a file; else a `SettingError` that names the file."""
    import pandas as pd

    try:
        check_table(path)
        return pd.read_parquet(path)
    except SettingError:
        raise
    except Exception as error:  # noqa: BLE001 - what pyarrow and pandas raise on damaged bytes is of many kinds
        raise SettingError(f"{path} cannot be read as a table: {error}") from None
