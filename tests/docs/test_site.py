"""The documentation site has a page for everything."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import workbench as wb
from workbench.evaluation.experiment.table_columns import COLUMNS

ROOT = Path(__file__).parents[2]


def test_the_api_page_has_every_name_of_the_face_once() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: workbench\.(\w+)$", page, re.MULTILINE)) == sorted(
        {*wb.__all__} - {"__version__"}
    )


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    pages |= {f"reference/{path.name}" for path in (ROOT / "docs" / "reference").glob("*.md")}
    pages |= {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    assert {name for name in pages if f": {name}\n" not in navigation + "\n"} == set()


def test_no_program_beside_the_pages_becomes_a_page_of_its_name() -> None:
    left_out = re.search(
        r"(?m)^exclude_docs: \|\n((?:  .+\n)+)", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    )
    programs = [path.name for path in (ROOT / "docs").glob("*.py")]
    assert left_out and programs
    assert all(any(fnmatch(name, pattern) for pattern in left_out[1].split()) for name in programs)


def test_every_decision_is_in_the_list_of_decisions() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(re.findall(r"\]\((\S+\.md)\)", (folder / "index.md").read_text(encoding="utf-8")))
    assert listed == {path.name for path in folder.glob("*.md")} - {"index.md"}


@pytest.mark.parametrize("table", COLUMNS)
def test_the_page_of_tables_has_every_column_of(table: str) -> None:
    page = (ROOT / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## `{table}`\n")[2].partition("\n#")[0]
    everywhere = {"session", "strategy", "mode", "share", "at"}
    assert {*COLUMNS[table]} - everywhere - {*re.findall(r"`(\w+)`", section)} == set()
