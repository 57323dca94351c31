"""The table of published claims says what the rows say."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from recorded_files import bundled_files

import workbench as wb

STUDY = Path(__file__).parents[2] / "reports" / "studies" / "claims"
SCRIPT = STUDY / "claims.py"
VERDICTS = ("reproduced", "not reproduced", "cannot be tested here, because ")


def run_script(*words: str) -> subprocess.CompletedProcess[str]:
    """What the study's command answers."""
    command = [sys.executable, str(SCRIPT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def table_rows() -> list[list[str]]:
    """The cells of the page's table."""
    page = (STUDY / "README.md").read_text("utf-8")
    table = page.partition("<!-- claims -->\n")[2].partition("<!-- end of claims -->")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return rows[1:]


@pytest.fixture(scope="module")
def measuring() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(STUDY / "recordings.py")))


def test_the_page_has_the_table_of_the_rows() -> None:
    answer = run_script("table", "--check")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_each_claim_has_a_source_and_a_verdict() -> None:
    rows = table_rows()
    assert len(rows) >= 15
    for claim, source, figures, verdict in rows:
        assert claim
        assert "](https://" in source
        assert figures
        assert verdict.startswith(VERDICTS)


def test_a_bundled_session_gives_the_kept_rows_again() -> None:
    (recording,) = [path for path in bundled_files() if path.parent.name == "nightjar-incident"]
    answer = run_script("measure", "--check", str(recording))
    assert answer.returncode == 0, answer.stdout
    assert "claims costs: 5 rows of 1 sessions" in answer.stdout


def test_a_wrong_command_is_told_how_to_ask() -> None:
    answer = run_script("measure")
    assert answer.returncode == 2
    assert answer.stderr.startswith("claims.py table")


def test_calls_before_the_first_change_of_a_file_are_counted(
    measuring: SimpleNamespace,
) -> None:
    calls = [
        wb.ToolCall(id=str(number), name=name, arguments={"path": "notes.md"})
        for number, name in enumerate(["read_file", "read_file", "edit_file", "read_file"])
    ]
    answers = [wb.AssistantMessage(id=f"answer {call.id}", blocks=(call,)) for call in calls]
    (row,) = measuring.edit_rows(wb.Session.of(answers))
    assert (row["context"], row["actions"]) == ("cold", 2)


def test_masking_and_summaries_change_what_is_sent(measuring: SimpleNamespace) -> None:
    costs = pd.read_csv(STUDY / "rows" / "claims-costs.csv")
    assert set(costs["context"]) == set(measuring.ARMS)
    sent = costs.groupby("context")["sent"].sum()
    assert sent["mask"] < sent["summary"] < sent["raw"]
