"""Tables that grow while they are written: never are all of their rows in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.evaluation.experiment.atomic import replacing

if TYPE_CHECKING:
    import pandas as pd

GROUP_ROWS = 100_000
"""Rows that are written at a time, whatever the pieces in which they came."""
ArrowTable: TypeAlias = Any
"""A table of pyarrow, which has no types."""


def to_arrow(table: pd.DataFrame) -> ArrowTable:
    """A table as pyarrow holds it."""
    import pyarrow

    return pyarrow.Table.from_pandas(table, preserve_index=False)


def to_bytes(table: pd.DataFrame) -> bytes:
    """A table as the content of a Parquet file."""
    from pyarrow import parquet

    stream = BytesIO()
    parquet.write_table(to_arrow(table), stream)
    return stream.getvalue()


def from_bytes(content: bytes) -> ArrowTable:
    """The table in the content of a Parquet file."""
    from pyarrow import parquet

    return parquet.read_table(BytesIO(content))


class GrowingTable:
    """One Parquet file to which rows are added; equal rows give equal bytes, however they came."""

    def __init__(self, file: Path, empty: pd.DataFrame) -> None:
        self._file = file
        self._empty = empty
        self._writer: Any = None
        self._waiting: list[ArrowTable] = []
        self._waiting_rows = 0

    def add(self, rows: ArrowTable) -> None:
        """Add rows behind those that are there."""
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        while self._waiting_rows >= GROUP_ROWS:
            self._write(GROUP_ROWS)

    def close(self) -> None:
        """Write what is still to be written; the file is whole then."""
        if self._waiting_rows or self._writer is None:
            self._write(self._waiting_rows)
        self._writer.close()

    def _write(self, row_count: int) -> None:
        import pyarrow
        from pyarrow import parquet

        tables = [table for table in self._waiting if table.num_rows]
        if not tables:
            tables = self._waiting[:1]
        if not tables:
            tables = [to_arrow(self._empty)]
        rows = pyarrow.concat_tables(tables)
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, rows.schema)
        # in one piece, since the file's bytes would tell the pieces
        self._writer.write_table(rows.slice(0, row_count).combine_chunks())
        later_rows = rows.slice(row_count)
        self._waiting = [later_rows]
        self._waiting_rows = later_rows.num_rows


class GrowingTables:
    """The tables of a run while it is written."""

    def __init__(self, tables: Mapping[str, GrowingTable]) -> None:
        self._tables = tables

    def add(self, name: str, rows: ArrowTable) -> None:
        """Add rows to the table of this name."""
        self._tables[name].add(rows)


@contextmanager
def growing_tables(
    folder: Path, empty_tables: Mapping[str, pd.DataFrame]
) -> Iterator[GrowingTables]:
    """Tables that take the place of those in a folder when the `with` ends without an error."""
    with ExitStack() as stack:
        tables: dict[str, GrowingTable] = {}
        for name, empty in empty_tables.items():
            part = stack.enter_context(replacing(folder / f"{name}.parquet"))
            tables[name] = GrowingTable(part, empty)
        yield GrowingTables(tables)
        for table in tables.values():
            table.close()
