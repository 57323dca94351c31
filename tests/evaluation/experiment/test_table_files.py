"""Tables that grow while they are written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from planted_run import TABLES, frame
from pyarrow import parquet

from workbench.evaluation.experiment import table_files
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.table_files import to_arrow

ROWS = [
    {"session": f"s{number}", "strategy": "a", "value": number / 3 if number % 3 else None}
    for number in range(1_000)
]


def written(folder: Path, *ends: int) -> bytes:
    """The file of scores that were added in pieces that end at these rows."""
    with RunFolder(folder).writing() as tables:
        start = 0
        for end in (*ends, len(ROWS)):
            tables.add("scores", to_arrow(frame("scores", ROWS[start:end])))
            start = end
    return (folder / "scores.parquet").read_bytes()


def test_a_table_of_one_piece_is_the_file_that_pandas_writes(tmp_path: Path) -> None:
    assert written(tmp_path) == frame("scores", ROWS).to_parquet(index=False)
    assert (tmp_path / "steps.parquet").read_bytes() == frame("steps", ()).to_parquet(index=False)


def test_the_pieces_in_which_rows_came_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "GROUP_ROWS", 300)
    whole = written(tmp_path)
    assert written(tmp_path, 10, 20, 700) == whole
    assert written(tmp_path, 0, 0, 999) == whole
    assert parquet.ParquetFile(tmp_path / "scores.parquet").metadata.num_row_groups == 4
    assert pd.read_parquet(tmp_path / "scores.parquet").equals(frame("scores", ROWS))


def test_an_error_leaves_the_earlier_tables_and_nothing_half_written(tmp_path: Path) -> None:
    earlier = written(tmp_path)
    with pytest.raises(ZeroDivisionError), RunFolder(tmp_path).writing() as tables:
        tables.add("scores", to_arrow(frame("scores", ROWS[:5])))
        raise ZeroDivisionError
    assert (tmp_path / "scores.parquet").read_bytes() == earlier
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.parquet" for name in TABLES}
