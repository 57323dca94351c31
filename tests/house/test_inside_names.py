"""Tests bind to what a user can see, and ever less to names of insides."""

from __future__ import annotations

from pathlib import Path

from house.inside_names import ImportedName, documented_modules, imported_names, inside_names

MOST_NAMES = 324
"""May only fall."""


def test_tests_import_no_more_names_of_insides_than_before() -> None:
    count = len(inside_names())
    assert count <= MOST_NAMES, "`python tests/house/inside_names.py` lists them"
    assert count > MOST_NAMES - 10, f"fewer than before: MOST_NAMES can be {count}"


def test_a_name_counts_once_for_all_files_and_once_for_each_module(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("from workbench.engine.models.billing import bill\n")
    (tmp_path / "second.py").write_text(
        "def test() -> None:\n"
        "    from workbench.engine.models.billing import bill\n"
        "    import workbench.report.page.parts\n"
    )
    assert {str(name): len(files) for name, files in inside_names(tmp_path).items()} == {
        "workbench.engine.models.billing bill": 2,
        "workbench.report.page.parts ": 1,
    }


def test_what_users_import_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "test_file.py").write_text(
        "import workbench as wb\n"
        "from workbench import Session, load\n"
        "from workbench.cli import main\n"
        "from workbench.engine.transcript.message import ToolResult\n"
        "from workbench.live.events import CompactionEnded\n"
    )
    assert inside_names(tmp_path) == {}


def test_a_name_of_the_face_counts_where_it_is_imported_from_inside() -> None:
    source = "from workbench.engine.transcript.session import Session\n"
    assert list(imported_names(source)) == [
        ImportedName("workbench.engine.transcript.session", "Session")
    ]
    assert "workbench.engine.transcript.session" not in documented_modules()


def test_a_module_is_public_where_a_page_names_it() -> None:
    assert "workbench.live.dropins.langgraph" in documented_modules()
    assert "workbench.engine.compaction.plan" in documented_modules()
