"""What a committed notebook is: a page of reading without outputs, that uses the face and
nothing inner.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from papermill import inspect_notebook

from workbench.report.page.notebooks import declared

FOLDER = Path(__file__).parent.parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PLOTTING = {"matplotlib", "matplotlib.pyplot"}
BESIDES = {
    "04_write_a_stage": {"dataclasses"}, "06_real_models": {"os"},
    "07_in_your_agent": {"json", "litellm", "os", "subprocess", "sys", "tempfile", "time"},
    "09_which_strategy_fits": {"pathlib"},
}  # fmt: skip
"""What a notebook may import besides: the one about an agent's loop has the loop's own client, and
kills an agent.
"""


def cells(path: Path, kind: str = "code") -> list[dict[str, Any]]:
    return [
        cell
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == kind
    ]


def code(path: Path) -> list[ast.Module]:
    return [ast.parse("".join(cell["source"])) for cell in cells(path)]


def test_there_are_notebooks() -> None:
    names = {path.stem for path in NOTEBOOKS}
    course = {
        "01_first_replay",
        "02_compare_strategies",
        "03_explore_session",
        "04_write_a_stage",
        "05_sweep",
        "06_real_models",
        "07_in_your_agent",
        "08_does_the_work_get_done",
        "09_which_strategy_fits",
    }
    assert course | {"experiment", "report"} <= names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_holds_no_outputs_and_no_execution_counts(path: Path) -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_second_cell_declares_its_parameters_each_with_a_type_and_a_comment(path: Path) -> None:
    second = json.loads(path.read_text(encoding="utf-8"))["cells"][1]
    assert second["metadata"].get("tags") == ["parameters"]
    lines = ast.parse("".join(second["source"])).body
    assert all(isinstance(line, ast.AnnAssign) for line in lines)
    assert len(declared(path)) == len(lines) and all(
        one["help"] for one in inspect_notebook(str(path)).values()
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_imports_the_face_and_plotting_only(path: Path) -> None:
    nodes = [node for page in code(path) for node in ast.walk(page)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert not [node for node in nodes if isinstance(node, ast.ImportFrom)]
    assert "workbench" in names and names <= {"workbench", *PLOTTING, *BESIDES.get(path.stem, ())}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_a_page_of_reading(path: Path) -> None:
    # a report has a cell a section, and code is hidden in it
    most = 27 if path.stem == "report" else 15
    assert len(cells(path)) <= most and len(cells(path, "markdown")) >= 4
    functions = [
        node for page in code(path) for node in ast.walk(page) if isinstance(node, ast.FunctionDef)
    ]
    assert all((node.end_lineno or 0) - node.lineno < 8 for node in functions)
