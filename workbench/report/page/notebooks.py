"""The notebooks that come with the workbench: where they are, what parameters they declare, and
how they are run.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from workbench.base.errors import SettingError, SetupError, WorkbenchError
from workbench.base.package import PACKAGE
from workbench.base.private_files import make_private, make_private_folder, write_private
from workbench.evaluation.experiment.progress import others_bar

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager

PLACES = (PACKAGE.parent / "notebooks", PACKAGE / "notebooks")
"""In a checkout, and in an installed package."""


def notebook(name: str) -> Path:
    """The notebook of that name, without its ending; a `SetupError` where it was not installed."""
    for folder in PLACES:
        file = folder / f"{name}.ipynb"
        if file.is_file():
            return file
    raise SetupError(
        f"the notebook {name}.ipynb is not in {PLACES[0]} or {PLACES[1]}; install the workbench"
        " anew"
    )


def course() -> list[Path]:
    """The course in reading order, and the template for experiments behind it."""
    folder = notebook("01_first_replay").parent
    return [*sorted(folder.glob("[0-9][0-9]_*.ipynb")), notebook("experiment")]


def copy_course(folder: Path) -> tuple[list[Path], list[Path]]:
    """Copy the course into a folder; the notebooks that were copied, and those that were there
    and stay as they are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copied = []
    present = []
    for source in course():
        target = folder / source.name
        if target.exists():
            present.append(target)
        else:
            target.write_bytes(source.read_bytes())
            copied.append(target)
    return copied, present


Value: TypeAlias = str | int | float | bool | list[str] | list[int] | list[float] | None
TYPES = {
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "bool": (bool, "true or false"),
    "str": (str, "a string"),
    "list[int]": (list[int], "whole numbers separated by commas"),
    "list[float]": (list[float], "numbers separated by commas"),
    "list[str]": (list[str], "strings separated by commas"),
}
"""What a parameter may be declared as, and the words for it."""


def declared(notebook: Path) -> dict[str, str]:
    """The types of the parameters of a notebook by name, from the assignments in its cell tagged
    `parameters`.
    """
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{notebook} is not a notebook: {error}") from None
    for cell in cells:
        if "parameters" in cell["metadata"].get("tags", ()):
            return _annotations("".join(cell["source"]))
    raise SettingError(f"{notebook} has no cell tagged 'parameters'")


def _annotations(source: str) -> dict[str, str]:
    """The types that a piece of code declares, by name."""
    types = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.AnnAssign):
            types[ast.unparse(statement.target)] = ast.unparse(statement.annotation)
    return types


def checked(notebook: Path, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of parameters, each text read as its parameter's type.

    Raises:
        SettingError: a name that the notebook does not declare, or a value of another type.
    """
    types = declared(notebook)
    for name in values:
        if name not in types:
            raise SettingError(
                f"{notebook.name} has no parameter {name!r}; it has {', '.join(types)}"
            )
    return {name: _read(name, types[name], value) for name, value in values.items()}


def _read(name: str, declared: str, value: Value) -> Value:
    from pydantic import TypeAdapter, ValidationError

    kind, accepted = TYPES[declared]
    plain: Value = value
    if isinstance(value, str) and declared.startswith("list["):
        words = [word.strip() for word in value.split(",")]
        plain = [word for word in words if word]
    try:
        typed: Value = TypeAdapter(kind).validate_python(plain, strict=not isinstance(value, str))
    except ValidationError:
        raise SettingError(f"the parameter {name} is {value!r}; it must be {accepted}") from None
    return typed


INLINE = "module://matplotlib_inline.backend_inline"
"""Where figures go in a notebook, whatever this process does with its own."""


STOPPED = (
    "This run was stopped {where}; what follows was not run. The same command runs it again, and"
    " keeps what is finished."
)
"""What stands on top of a notebook that somebody stopped."""


class NotebookError(WorkbenchError):
    """A cell of a notebook failed; the notebook as far as it came is kept."""


def run_notebook(
    template: Path, out: Path, parameters: Mapping[str, Value], *, progress: bool = False
) -> Path:
    """Execute a notebook with parameters and write it, outputs and all, to `out`.

    Of a failed run, or one that was stopped, the notebook is written as far as it came, with what
    befell it on top.

    Raises:
        SettingError: an unknown or ill-typed parameter; nothing was started.
        NotebookError: a cell failed.
    """
    values = checked(template, parameters)
    import papermill
    from papermill.exceptions import PapermillExecutionError

    make_private_folder(out.parent)
    make_private(out)  # papermill writes into it as it goes
    with (
        tempfile.TemporaryDirectory(prefix="wb-") as folder,
        others_bar(f"running {template.name}", "cell", quiet=not progress) as bar,
    ):
        try:
            papermill.execute_notebook(
                template,
                out,
                values,
                kernel_name="python3",
                language="python",
                progress_bar=bar,
                kernel_manager_class=own_kernel(Path(folder)),
            )
        except PapermillExecutionError as error:
            raise NotebookError(
                f"{out}, cell {error.cell_index + 1}: {error.ename}: {error.evalue}"
            ) from None
        except RuntimeError as error:  # also of a kernel that did not start
            if not out.stat().st_size:
                write_private(out, template.read_bytes())
            where = mark_end(out, "The kernel died {where}; what follows was not run.")
            raise NotebookError(
                f"{out}: its kernel died {where}, maybe for want of memory: {error}"
            ) from None
        except Exception:
            raise
        except BaseException:  # Ctrl-C or SIGTERM
            if out.stat().st_size:
                mark_end(out, STOPPED)
            raise
    return out


def mark_end(path: Path, words: str) -> str:
    """Write on top of a notebook what ended it, and return where: in which cell, or before the
    first one.

    Args:
        path: of the notebook.
        words: what is written; `{where}` is filled in.
    """
    page = json.loads(path.read_text(encoding="utf-8"))
    where = "before the first cell"
    for number, cell in enumerate(page["cells"], 1):
        # papermill calls each cell completed at the end, also those that did not begin
        if cell["metadata"].get("papermill", {}).get("start_time"):
            where = f"in cell {number}"
    marker = {
        "cell_type": "markdown",
        "id": "how-it-ended",
        "metadata": {"tags": ["papermill-error-cell-tag"]},
        "source": [f'<span style="color:red">{words.format(where=where)}</span>'],
    }
    page["cells"].insert(0, marker)
    page["metadata"].setdefault("papermill", {})["exception"] = True
    write_private(path, json.dumps(page, indent=1, ensure_ascii=False) + "\n")
    return where


def own_kernel(folder: Path) -> type[AsyncKernelManager]:
    """A kernel manager whose only kernel is this interpreter, whatever is installed; all its
    files are in `folder`.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class OwnKernel(AsyncKernelManager):
        """Starts `sys.executable` and nothing else."""

        def __init__(self, **settings: object) -> None:
            super().__init__(**settings)
            self.connection_file = str(folder / "kernel.json")
            if os.name == "posix":
                self.transport = "ipc"
                self.ip = str(folder / "kernel-ipc")

        @property
        def kernel_spec(self) -> KernelSpec:
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(
                argv=command,
                display_name="Python 3",
                language="python",
                env=environment(folder),
            )

        async def _async_interrupt_kernel(self) -> None:
            # at the end there is nothing to interrupt, and the kernel would say so
            if not self.shutting_down:
                await super()._async_interrupt_kernel()

    return OwnKernel


def environment(folder: Path) -> dict[str, str]:
    """What the kernel's environment has besides this one's: this package, and all its files in
    `folder`.

    What matplotlib knows of fonts is kept in the virtual environment, so that it is found out only
    once.
    """
    variables = {}
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        variables[name] = str(folder / name.lower())
    fonts = folder
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        fonts = Path(sys.prefix) / "share" / "workbench"
        fonts.mkdir(parents=True, exist_ok=True)
    variables["MPLCONFIGDIR"] = os.environ.get("MPLCONFIGDIR") or str(fonts)
    # ipykernel may drop the first
    places = [str(folder), str(PACKAGE.parent)]
    user_path = os.environ.get("PYTHONPATH")
    if user_path:
        places.append(user_path)
    variables["PYTHONPATH"] = os.pathsep.join(places)
    variables["MPLBACKEND"] = INLINE
    return variables
