from pathlib import Path
from typing import Any

import nbformat
import pytest
from papermill import inspect_notebook

from workbench import SettingError
from workbench.report.page.notebooks import checked, declared, notebook

CELL = """window: int = 24_000  # tokens
shares: list[float] = [0.1]  # budgets
names: list[str] = []
fast: bool = False
model: str = "extractive"  # who writes"""


@pytest.fixture
def template(tmp_path: Path) -> Any:
    cell = nbformat.v4.new_code_cell(CELL)
    cell.metadata["tags"] = ["parameters"]
    path = tmp_path / "template.ipynb"
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("hello"), cell]), path
    )
    return path


def test_names_and_types_are_read(template: Path) -> None:
    found = declared(template)
    assert (found["window"], found["shares"]) == ("int", "list[float]")
    assert list(found) == ["window", "shares", "names", "fast", "model"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("window", "32_000", 32_000),
        ("shares", "0.1, 0.2", [0.1, 0.2]),
        ("names", "opal,pipeline", ["opal", "pipeline"]),
        ("names", "", []),
        ("fast", "yes", True),
        ("model", "none", "none"),
    ],
)
def test_a_text_is_read_as_the_declared_type(
    template: Path, name: str, text: str, value: Any
) -> None:
    assert checked(template, {name: text}) == {name: value}


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("window", "many", "a whole number"),
        ("window", "1.5", "a whole number"),
        ("shares", "0.1,x", "numbers separated by commas"),
        ("fast", "perhaps", "true or false"),
        ("window", [1], "a whole number"),
        ("window", True, "a whole number"),
        ("names", [1], "strings separated by commas"),
    ],
)
def test_another_type_is_an_error_that_says_what_is_accepted(
    template: Path, name: str, value: Any, accepted: str
) -> None:
    with pytest.raises(SettingError, match=f"{name} is .* must be {accepted}"):
        checked(template, {name: value})


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(template: Path) -> None:
    with pytest.raises(SettingError, match="no parameter 'windw'; it has window, shares"):
        checked(template, {"windw": 1})


def test_a_file_that_is_no_notebook_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_text("{")
    with pytest.raises(SettingError, match=r"x\.ipynb is not a notebook"):
        declared(tmp_path / "x.ipynb")


def test_every_parameter_of_the_experiment_is_typed_and_explained() -> None:
    found = inspect_notebook(str(notebook("experiment")))
    assert (
        {"sessions", "strategies", "window", "model", "shares", "limit", "out"}
        <= set(found)
        == set(declared(notebook("experiment")))
    )
    assert all(one["help"] for one in found.values())
