"""Text of a recording stays text also in a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from command import printed
from planted_run import Row, written


def exported(folder: Path, table: str, rows: Sequence[Row]) -> Path:
    """The table of a run as a file for a spreadsheet."""
    run = written(folder / "run", {table: rows})
    printed("runs", "export", run, "--to", "csv", "--out", folder / "csv")
    return folder / "csv" / f"{table}.csv"


def test_what_a_spreadsheet_would_compute_gets_an_apostrophe_and_the_rest_stays(
    tmp_path: Path,
) -> None:
    said = ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "\t=1", "a = b", "", None]
    rows = [{"why": text, "value": -0.5} for text in said]
    found = pd.read_csv(exported(tmp_path, "scores", rows), keep_default_na=False)
    assert list(found["why"]) == [*(f"'{text}" for text in said[:5]), "a = b", "", ""]
    assert list(found["value"]) == [-0.5] * len(said)


def test_what_would_steer_a_terminal_is_made_visible(tmp_path: Path) -> None:
    hostile = "bad\x1b[31m\x1b]0;pwn\x07\x9b2J\u202e"
    rows = [{"path": hostile}, {"path": "two\nlines"}]
    text = exported(tmp_path, "sessions", rows).read_text("utf-8")
    assert not set(text) & set("\x1b\x07\x9b\u202e")
    assert "pwn" in text and '"two\nlines"' in text
