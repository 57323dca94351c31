"""A figure that a page prints and its command makes otherwise is found."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "validity.py"


def checked(part: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, part, "--check"], capture_output=True, text=True, check=False)


def test_the_table_of_judged_items_is_what_its_command_makes() -> None:
    found = checked("needs")
    assert (found.returncode, found.stdout) == (0, "")


def test_another_figure_on_the_page_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(SCRIPT))
    page = tmp_path / "validity.md"
    text = script["PAGE"].read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| all | 300 |"))
    page.write_text(text.replace(row, row.replace("| 300 |", "| 301 |")), encoding="utf-8")
    script["main"].__globals__["PAGE"] = page
    assert script["main"]("needs", [], check=True) == 1
    assert "validity.md says: | all | 301 |" in capsys.readouterr().out
