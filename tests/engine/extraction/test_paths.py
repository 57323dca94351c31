from __future__ import annotations

import pytest

from workbench.engine.extraction.paths import SameFile, normal_path


@pytest.mark.parametrize(
    ("said", "normal"),
    [
        ("./src//a.py", "src/a.py"),
        ("../src/a.py", "src/a.py"),
        ("src/x/../a.py", "src/a.py"),
        ("/w/p/src/a.py", "src/a.py"),
        ("/w/p", ""),
        ("/w/pp/a.py", "/w/pp/a.py"),
        ("b/src/a.py", "src/a.py"),
        ("src/a.py:12-15", "src/a.py"),
        ("src/", "src"),
    ],
)
def test_a_path_has_one_spelling(said: str, normal: str) -> None:
    assert normal_path(said, "/w/p") == normal


def test_a_path_is_the_file_that_alone_ends_with_it() -> None:
    files = SameFile(["/home/me/p/src/a.py", "src/a.py", "a.py", "b.py"])
    assert {files.of(path) for path in ("a.py", "src/a.py", "p/src/a.py")} == {
        "/home/me/p/src/a.py"
    }
    assert files.of("b.py") == "b.py"
    assert files.of("c.py") is None


def test_a_name_that_two_files_share_is_neither() -> None:
    files = SameFile(["src/a.py", "test/a.py", "a.py"])
    assert [files.of(path) for path in ("a.py", "src/a.py", "test/a.py")] == [
        "a.py",
        "src/a.py",
        "test/a.py",
    ]
    assert SameFile(["src/a.py", "test/a.py"]).of("a.py") is None


def test_a_file_of_the_working_directory_goes_first() -> None:
    assert SameFile(["src/a.py", "/other/a.py", "a.py"]).of("a.py") == "src/a.py"


def test_a_longer_spelling_than_any_known_is_the_known_file() -> None:
    assert SameFile(["src/a.py"]).of("/somewhere/src/a.py") == "src/a.py"


def test_the_short_name_is_the_shortest_that_is_unambiguous() -> None:
    files = SameFile(["/p/core/index.ts", "/p/tools/index.ts", "/p/core/main.ts"])
    assert files.short("/p/core/index.ts") == "core/index.ts"
    assert files.short("/p/core/main.ts") == "main.ts"
