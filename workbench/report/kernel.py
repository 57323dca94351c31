"""Runs a notebook with this process's own interpreter, and leaves nothing behind but its output."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.report.parameters import Value, checked

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager

INLINE = "module://matplotlib_inline.backend_inline"
"""Where figures go in a notebook, whatever this process does with its own."""


class NotebookError(WorkbenchError):
    """A cell of a notebook failed; the notebook as far as it came is kept."""


def run_notebook(template: Path, out: Path, parameters: Mapping[str, Value], *, progress: bool = False) -> Path:
    """Execute a notebook with parameters and write it, outputs and all, to `out`.

    Of a failed run, the notebook is written as far as it came, with the error marked on top.

    Raises:
        SettingError: an unknown or ill-typed parameter; nothing was started.
        NotebookError: a cell failed.
    """
    values = checked(template, parameters)
    import papermill
    from papermill.exceptions import PapermillExecutionError

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wb-") as folder:
        try:
            papermill.execute_notebook(
                template, out, values, kernel_name="python3", language="python", progress_bar=progress,
                kernel_manager_class=own_kernel(Path(folder)),
            )  # fmt: skip
        except PapermillExecutionError as error:
            raise NotebookError(f"{out}, cell {error.cell_index + 1}: {error.ename}: {error.evalue}") from None
        except RuntimeError as error:  # also of a kernel that did not start
            if not out.exists():
                out.write_bytes(template.read_bytes())
            where = mark_dead(out)
            raise NotebookError(f"{out}: its kernel died {where}, maybe for want of memory: {error}") from None
    return out


def mark_dead(path: Path) -> str:
    """Write on top of a notebook that its kernel died, and return where: in which cell, or before the first one."""
    page = json.loads(path.read_text(encoding="utf-8"))
    states = [cell["metadata"].get("papermill", {}).get("status") for cell in page["cells"]]
    begun = [number for number, state in enumerate(states, 1) if state not in (None, "pending")]
    where = f"in cell {begun[-1]}" if begun else "before the first cell"
    words = f"The kernel died {where}; what follows was not run."
    marker = {"tags": ["papermill-error-cell-tag"]}
    source = [f'<span style="color:red">{words}</span>']
    page["cells"].insert(0, {"cell_type": "markdown", "id": "kernel-died", "metadata": marker, "source": source})
    page["metadata"].setdefault("papermill", {})["exception"] = True
    path.write_text(json.dumps(page, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return where


def own_kernel(folder: Path) -> type[AsyncKernelManager]:
    """A kernel manager whose only kernel is this interpreter, whatever is installed; all its files are in `folder`."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class OwnKernel(AsyncKernelManager):
        """Starts `sys.executable` and nothing else."""

        def __init__(self, **given: object) -> None:
            super().__init__(**given)
            self.connection_file = str(folder / "kernel.json")
            if os.name == "posix":
                self.transport, self.ip = "ipc", str(folder / "kernel-ipc")

        @property
        def kernel_spec(self) -> KernelSpec:
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=command, display_name="Python 3", language="python", env=environment(folder))

        async def _async_interrupt_kernel(self) -> None:
            if not self.shutting_down:  # at the end there is nothing to interrupt, and the kernel would say so
                await super()._async_interrupt_kernel()

    return OwnKernel


def environment(folder: Path) -> dict[str, str]:
    """What the kernel's environment has besides this one's: this package, and all its files in `folder`.

    What matplotlib knows of fonts is kept in the virtual environment, so that it is found out only once.
    """
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    own = {name: str(folder / name.lower()) for name in names}
    paths = os.pathsep.join(path for path in (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")) if path)
    fonts = folder
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        fonts = Path(sys.prefix) / "share" / "workbench"
        fonts.mkdir(parents=True, exist_ok=True)
    own["MPLCONFIGDIR"] = os.environ.get("MPLCONFIGDIR") or str(fonts)
    return {**own, "PYTHONPATH": paths, "MPLBACKEND": INLINE}
