"""The reference says what the package says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.cli import main
from workbench.evaluation.experiment.table_columns import COLUMNS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "reference.py")))


def test_no_page_of_the_reference_is_stale(reference: SimpleNamespace) -> None:
    assert reference.stale_pages() == [], "run python docs/reference.py"


def test_each_feature_of_a_format_has_a_column(reference: SimpleNamespace) -> None:
    carried = {feature for importer in reference.formats() for feature in importer.carries}
    assert carried == set(reference.FEATURES)


def test_each_table_of_a_run_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "columns", "--json"]) == 0
    listed = {row["table"] for row in json.loads(capsys.readouterr().out)}
    assert set(COLUMNS) <= listed


@pytest.mark.parametrize("table", COLUMNS)
def test_the_columns_of_a_table_are_printed(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "columns", table]) == 0
    text = capsys.readouterr().out
    assert "](" not in text
    everywhere = {"session", "strategy", "mode", "share", "at"}
    assert [
        column for column in COLUMNS[table] if column not in everywhere and f"{column}" not in text
    ] == []


def test_an_unknown_table_is_one_sentence_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["list", "columns", "nothing"]) == 2
    assert "no table is named 'nothing'; known are agreement" in capsys.readouterr().err
