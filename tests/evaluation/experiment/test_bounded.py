"""A run folder of a stranger: what would take more memory than any run is refused before it is
read.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from planted_run import frame
from pyarrow import parquet

from workbench import Results, SettingError
from workbench.evaluation.experiment import bounded
from workbench.evaluation.experiment.run_folder import RunFolder


def one_long_text(path: Path) -> None:
    """4,200 rows of one text of a megabyte, which the file has once."""
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * 4_200, pa.int32()), pa.array(["x" * 1_000_000])
    )
    parquet.write_table(pa.table({"session": texts}), path, compression="none", store_schema=False)


def one_number(path: Path) -> None:
    """A hundred million rows of one number."""
    numbers = pa.array([7], pa.int64()).take(pa.array([0] * 1_000_000))
    parquet.write_table(pa.table({"at": pa.chunked_array([numbers] * 100)}), path)


def packed_well(path: Path) -> None:
    """Six hundred different texts of a megabyte, packed to little."""
    few = pa.table({"title": [f"{number}" + "x" * 1_000_000 for number in range(6)]})
    with parquet.ParquetWriter(path, few.schema, compression="zstd", use_dictionary=False) as file:
        for _ in range(100):
            file.write_table(few)


def nested(path: Path) -> None:
    """A column of lists."""
    parquet.write_table(pa.table({"session": [[1, 2]] * 5}), path)


BOMBS: dict[str, tuple[Callable[[Path], None], str]] = {
    "one long text": (
        one_long_text,
        r"would take 4,00\d MB of memory as a table; at most 512 MB are read",
    ),
    "one number": (one_number, "has 100,000,000 rows; at most 20,000,000 are read"),
    "packed well": (packed_well, r"would take 57\d MB of memory"),
    "nested": (nested, "has a column in which values lie in others"),
}
MEASURED = """
import resource, sys
from pathlib import Path
from workbench import Results, SettingError
results = Results(Path(sys.argv[1]))
results.table("steps")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    results.table("sessions")
except SettingError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.parametrize(("make", "why"), BOMBS.values(), ids=BOMBS)
def test_a_table_that_would_take_too_much_is_refused_before_it_takes_it(
    tmp_path: Path, make: Callable[[Path], None], why: str
) -> None:
    path = tmp_path / "sessions.parquet"
    make(path)
    assert path.stat().st_size < 4 << 20
    with pytest.raises(SettingError, match=f"sessions.parquet {why}"):
        Results(tmp_path).table("sessions")
    measured = subprocess.run(
        [sys.executable, "-c", MEASURED, tmp_path], check=True, capture_output=True, text=True
    )
    sentence, megabytes = measured.stdout.splitlines()
    assert "sessions.parquet" in sentence and int(megabytes) < 200


@pytest.mark.parametrize("rows", [0, 1, 3_000])
def test_a_table_of_a_run_is_read_as_it_was(tmp_path: Path, rows: int) -> None:
    table = frame(
        "sessions",
        [{"session": f"s{row}", "title": "t" * 500, "messages": row} for row in range(rows)],
    )
    table.to_parquet(tmp_path / "sessions.parquet", index=False)
    assert Results(tmp_path).table("sessions").equals(table)


def test_what_is_looked_up_is_what_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sessions.parquet"
    frame("sessions", [{"session": "s", "title": "t" * 1_000}] * 2_000).to_parquet(
        path, index=False
    )
    monkeypatch.setattr(bounded, "MOST_TABLE", 3 << 20)
    assert len(Results(tmp_path).table("sessions")) == 2_000
    monkeypatch.setattr(bounded, "MOST_TABLE", 1_900_000)
    with pytest.raises(SettingError, match="would take 1 MB"):
        Results(tmp_path).table("sessions")


def test_a_manifest_and_a_replay_of_more_than_the_most_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "MOST_TEXT", 1 << 20)
    (tmp_path / "replays").mkdir()
    for name in ("manifest.json", "replays/key.json"):
        (tmp_path / name).write_text(json.dumps({"schema": 1, "x": "x" * (1 << 20)}))
    with pytest.raises(
        SettingError, match=r"manifest\.json is larger than 1 MB, the most that is read of it"
    ):
        Results.open(tmp_path)
    with pytest.raises(SettingError, match=r"key\.json is larger than 1 MB"):
        RunFolder(tmp_path).replay("key")


def test_a_manifest_of_many_levels_is_none(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[" * 90_000 + "]" * 90_000)
    with pytest.raises(SettingError, match="is no manifest of a run"):
        Results.open(tmp_path)
