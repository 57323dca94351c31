"""The page of conformance names tests that exist, and says of every row of the tables where it
stands.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "conformance.md").read_text("utf-8")
HEADS = {
    "Opal": "opal", "Operator-Use": "operator_use", "DDx agent": "ddx_agent", "ExAthena": "ex_athena",
    "docker-agent": "docker_agent",
}  # fmt: skip
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def rows(head: str) -> list[tuple[str, str, str]]:
    """Behaviour, state, and the test or reason, of each row of a section."""
    lines = [line for line in SECTIONS[head].splitlines() if line.startswith("| ")][1:]
    return [(cells[0], cells[1], cells[2]) for cells in (line[2:-2].split(" | ") for line in lines)]


@pytest.mark.parametrize("head", HEADS)
def test_every_row_has_a_state_and_every_test_that_it_names_exists(head: str) -> None:
    tests = import_module(f"conformance.test_{HEADS[head]}")
    given = {row.given for row in tests.ROWS}
    named: set[str] = set()
    for behaviour, state, where in rows(head):
        assert state in ("implemented", "differs", "missing") and where, behaviour
        named |= {one for one in given if f"row: {one}" in where}
        functions = re.findall(r"`(test_\w+)`", where)
        assert all(hasattr(tests, name) for name in functions), (behaviour, functions)
        for row in re.findall(r"row: (.+?)(?=; row: |; `|$)", where):
            assert row in given, (behaviour, row)
        assert state != "implemented" or functions or "row: " in where, (
            f"{behaviour}: no test is named"
        )
    assert named == given, "every row of the table stands in the page"
