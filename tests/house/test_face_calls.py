"""A type checker sees every wrong call of the public face, and nothing wrong in a right one."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import workbench as wb

ROOT = Path(__file__).parents[2]
CALLS = Path(__file__).with_name("face_calls.py")
EMBEDDER = Path(__file__).with_name("embedder.py")
MARK = re.compile(r"# type: ignore\[([a-z-]+)\]")
TAKES_NOTHING = {"bundled"}
FUNCTIONS = sorted(name for name in wb.__all__ if inspect.isfunction(getattr(wb, name)))


def marks_by_function() -> dict[str, set[str]]:
    """For each function that is called there, the errors that its calls are marked with; empty
    for a right call.
    """
    source = CALLS.read_text("utf-8")
    lines = source.splitlines()
    marks: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        mark = MARK.search(lines[node.lineno - 1])
        marks[ast.unparse(node.func)].add(mark[1] if mark else "")
    return marks


MARKS = marks_by_function()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_public_function_has_a_right_call_a_wrong_name_and_a_wrong_type(name: str) -> None:
    expected = {"", "call-arg"} if name in TAKES_NOTHING else {"", "call-arg", "arg-type"}
    assert MARKS[f"wb.{name}"] == expected


@pytest.mark.parametrize(
    "name",
    [
        "compare.forecast",
        "sweep.forecast",
        "simulate.forecast",
        "advise.forecast",
        "judge_work",
        "write_exams",
        "leave_one_out",
        "compaction_gate",
    ],
)
def test_so_has_each_other_entry_that_takes_settings(name: str) -> None:
    assert MARKS[name] == {"", "call-arg", "arg-type"}


@pytest.mark.slow
def test_a_type_checker_finds_exactly_the_marked_errors() -> None:
    """Neither in an embedder's own code. At each push `.ci/types` reads both files as strictly. The
    cache stays in `build/`: the first run takes a minute, later ones seconds.
    """
    files = [str(CALLS), str(EMBEDDER)]
    command = ["mypy", "--strict", "--cache-dir", "build/mypy-face", *files]
    checked = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
