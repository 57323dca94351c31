"""A module that is imported by a string lies on the importer's floor or below it: the contracts of
imports do not see such an arrow.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workbench"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
IMPORTERS = {"import_module", "__import__"}
OPEN = {"base/registry.py", "engine/models/weights.py"}
"""The files that import what somebody else names: a floor's extensions, and weights in a package of
their own.
"""


def floors_from_the_ground() -> list[set[str]]:
    """The floors of the package as the first contract has them, the lowest first."""
    contract = PROJECT["tool"]["importlinter"]["contracts"][0]
    assert contract["name"].startswith("Floors:")
    return [set(layer.split(" | ")) for layer in reversed(contract["layers"])]


def height(module: str) -> int:
    """The number of the floor that a module of the package lies on, such as
    `workbench.report.page`.
    """
    floor = module.split(".")[1]
    heights = [number for number, names in enumerate(floors_from_the_ground()) if floor in names]
    return heights[0]


def beginning(name: ast.expr, file: Path) -> str:
    """What is known of an imported name before the program runs, such as `workbench.cli.`."""
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return name.value
    if isinstance(name, ast.JoinedStr):
        return beginning(name.values[0], file)
    if isinstance(name, ast.FormattedValue):
        return beginning(name.value, file)
    if isinstance(name, ast.Name) and name.id == "__name__":
        return ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return ""


def imports_by_string(text: str, file: Path) -> Iterator[str]:
    """How each name begins that a file imports by a string."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            function = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if function in IMPORTERS:
                yield beginning(node.args[0], file)


def upward(text: str, file: Path) -> list[str]:
    """The names that a file imports by a string from a floor above its own, or that nobody can
    know.
    """
    own_height = height(".".join(file.relative_to(ROOT).parts))
    names = []
    for name in imports_by_string(text, file):
        is_known = name.startswith("workbench.") and name.count(".") > 1
        is_foreign = bool(name) and not name.startswith("workbench.")
        if not is_foreign and not (is_known and height(name) <= own_height):
            names.append(name)
    return names


FILES = [file for file in sorted(PACKAGE.rglob("*.py")) if file.parent != PACKAGE]


def test_no_file_imports_by_a_string_from_a_floor_above() -> None:
    for file in FILES:
        if str(file.relative_to(PACKAGE)) not in OPEN:
            assert not upward(file.read_text("utf-8"), file), file


@pytest.mark.parametrize(
    "line",
    [
        'import_module("workbench.report.page.report")',
        'import_module(f"workbench.lab.{name}")',
        'import_module(f"workbench.{floor}")',
        "importlib.import_module(name)",
    ],
)
def test_a_planted_upward_import_is_seen(line: str) -> None:
    assert upward(line, PACKAGE / "evaluation" / "experiment" / "results.py")


@pytest.mark.parametrize(
    "line",
    [
        'import_module("workbench.engine.models")',
        'import_module(f"{__name__}.files")',
        'import_module("pandas")',
    ],
)
def test_an_import_from_the_same_floor_or_below_is_none(line: str) -> None:
    assert not upward(line, PACKAGE / "evaluation" / "experiment" / "results.py")
