"""What `compare` prints when a run is done."""

import pytest
from report.made import made

from workbench.cli.headline import show


def test_the_answer_comes_first_and_no_line_is_longer_than_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    show(made(9, shares=(0.05, 0.1, 0.2, 0.5)), no_report=False, baseline="")
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[0].startswith("summarize keeps most.")
    assert max(map(len, lines)) <= 80
    assert lines[-1].endswith("report.html")


def test_a_run_without_equal_size_has_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    show(made(9, shares=()), no_report=True, baseline="")
    shown = capsys.readouterr().out
    assert "same share of the history" not in shown and shown.count("strategy") == 1
