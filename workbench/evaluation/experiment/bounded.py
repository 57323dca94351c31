"""Reading the files of a run folder that a stranger may have made: what it would take is known
before it is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.base.errors import SettingError

MOST_TEXT = 64 << 20
"""Bytes of a manifest, of a replay, of notes, or of a report."""
MOST_TABLE = 512 << 20
"""Bytes of memory that a table may take."""
MOST_ROWS = 20_000_000
CELL = 16
"""Bytes that the place of a value takes in a table, besides a text itself."""


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        SettingError: it is larger than any that the workbench writes.
        OSError: it cannot be read.
    """
    if path.stat().st_size > MOST_TEXT:
        raise SettingError(
            f"{path} is larger than {MOST_TEXT >> 20} MB, the most that is read of it"
        )
    return path.read_text(encoding="utf-8", errors="replace")


def check_table(path: Path) -> None:
    """Nothing where a table is read within bounds, as its own description says.

    Raises:
        SettingError: it has too many rows, takes too much memory, or has a column in which values
            lie in others.
        Exception: it cannot be read as a table, for which pyarrow raises what it likes.
    """
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        facts, schema = file.metadata, file.schema_arrow
        if facts.num_rows > MOST_ROWS:
            raise SettingError(
                f"{path} has {facts.num_rows:,} rows; at most {MOST_ROWS:,} are read"
            )
        if any(pyarrow.types.is_nested(field.type) for field in schema):
            raise SettingError(
                f"{path} has a column in which values lie in others; only plain columns are read"
            )
        groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
        packed = sum(group.total_byte_size for group in groups)
        _check_size(path, packed + CELL * facts.num_rows * facts.num_columns)
        expanded = sum(_most_expanded(group) for group in groups)
        if packed + expanded > MOST_TABLE:
            _check_size(path, _expanded(path))


def _check_size(path: Path, size: int) -> None:
    if size > MOST_TABLE:
        more = f"at most {MOST_TABLE >> 20} MB are read"
        raise SettingError(f"{path} would take {size >> 20:,} MB of memory as a table; {more}")


def _most_expanded(group: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Bytes that the texts of a group of rows can take at most: each row has all that the group
    holds.

    The columns' own descriptions are not looked at: pyarrow ends the process where one of them is
    damaged.
    """
    return int(group.num_rows * group.total_byte_size)


def _expanded(path: Path) -> int:
    """Bytes that the texts of a table take: each is looked up in its dictionary, and none is
    written out.
    """
    import pyarrow
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    text_columns: list[str] = []
    for field in schema:
        if pyarrow.types.is_string(field.type) or _is_wide(field.type):
            text_columns.append(field.name)
    total = 0
    with parquet.ParquetFile(path, read_dictionary=text_columns) as file:
        for group in range(file.num_row_groups):
            for name in text_columns:
                column = file.read_row_group(group, columns=[name]).column(name)
                for chunk in column.chunks:
                    total += _text_bytes(chunk)
                _check_size(path, total)
    return total


def _text_bytes(chunk: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Bytes that the texts of a part of a column take."""
    import pyarrow
    from pyarrow import compute

    if not hasattr(chunk, "dictionary"):
        chunk = chunk.dictionary_encode()
    lengths = compute.binary_length(chunk.dictionary).cast(pyarrow.int64())
    text_lengths = lengths.take(chunk.indices)
    return int(compute.sum(text_lengths).as_py() or 0)


def _is_wide(kind: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    from pyarrow import types

    return bool(types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind))
