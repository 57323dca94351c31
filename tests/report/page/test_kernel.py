import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from workbench import SettingError
from workbench.report.page.notebooks import NotebookError, run_notebook

pytestmark = pytest.mark.notebook


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(*cells: str) -> Any:
        first = nbformat.v4.new_code_cell('name: str = "nobody"  # who')
        first.metadata["tags"] = ["parameters"]
        nb = nbformat.v4.new_notebook(
            cells=[first, *(nbformat.v4.new_code_cell(cell) for cell in cells)]
        )
        path = tmp_path / "template.ipynb"
        nbformat.write(nb, path)
        return path

    return written


def outputs(path: Path) -> Any:
    cells = json.loads(path.read_text())["cells"]
    return "".join(
        "".join(out.get("text", "")) for cell in cells for out in cell.get("outputs", ())
    )


def test_it_runs_this_interpreter_whatever_kernel_the_user_has(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "home" / ".local" / "share" / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text(
        json.dumps({"argv": ["/bin/false"], "display_name": "trap", "language": "python"})
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "home" / ".local" / "share" / "jupyter"))
    template = write("import sys, workbench\nprint(sys.executable, name)")
    assert outputs(run_notebook(template, tmp_path / "out.ipynb", {"name": "ada"})).split() == [
        sys.executable,
        "ada",
    ]


def test_it_leaves_nothing_in_the_users_home(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in (
        "JUPYTER_DATA_DIR",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_RUNTIME_DIR",
        "IPYTHONDIR",
        "MPLCONFIGDIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    run_notebook(
        write("import matplotlib.pyplot as plt; plt.plot([1])"), tmp_path / "out.ipynb", {}
    )
    assert list(home.rglob("*")) == []


def test_a_cell_that_fails_is_named_and_the_notebook_is_kept(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(NotebookError, match="ZeroDivisionError"):
        run_notebook(write("print('so far')", "1 / 0"), tmp_path / "out.ipynb", {})
    assert "so far" in outputs(tmp_path / "out.ipynb")


def test_a_wrong_parameter_starts_nothing(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no parameter 'nam'"):
        run_notebook(write("print(1)"), tmp_path / "out.ipynb", {"nam": "x"})
    assert not (tmp_path / "out.ipynb").exists()
