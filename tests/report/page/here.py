"""Runs notebooks in this process, and reports without workers: a kernel of its own takes seconds
to start.
"""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
import pytest
from IPython.core.formatters import DisplayFormatter

from workbench import render
from workbench.report.page.notebooks import checked


def run_here(template: Path, out: Path, parameters: Mapping[str, Any]) -> Path:
    """As `run_notebook`: the notebook's cells with these parameters, and what each prints, shows
    and draws.
    """
    page = nbformat.read(template, 4)
    space: dict[str, Any] = {"__name__": "__main__"}
    with patch.dict(os.environ):  # a kernel would keep to itself what a cell sets there
        for cell in page.cells:
            if cell.cell_type == "code":
                cell.outputs = _outputs(cell.source, space, out.name)
                if "parameters" in cell.metadata.get("tags", ()):
                    space |= checked(template, parameters)
    out.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(page, out)
    return out


def _outputs(source: str, space: dict[str, Any], name: str) -> list[Any]:
    shown: list[object] = []
    space["display"] = lambda *values: shown.extend(values)
    *lines, last = ast.parse(source).body
    value = isinstance(last, ast.Expr)
    with contextlib.redirect_stdout(StringIO()) as printed:
        exec(compile(ast.Module([*lines, *(() if value else (last,))], []), name, "exec"), space)
        if isinstance(last, ast.Expr):
            space["display"](eval(compile(ast.Expression(last.value), name, "eval"), space))
    text = [nbformat.v4.new_output("stream", text=printed.getvalue())] if printed.getvalue() else []
    return [*text, *(_output(one) for one in shown if one is not None), *_pictures()]


def _output(value: object) -> Any:
    data, metadata = DisplayFormatter().format(value)
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)


def _pictures() -> Iterator[Any]:
    """The figures that a cell left open, as a kernel shows them after the cell."""
    import matplotlib.pyplot as plt
    from IPython.core.pylabtools import print_figure

    for number in plt.get_fignums():
        yield nbformat.v4.new_output(
            "display_data", data={"image/png": print_figure(plt.figure(number), base64=True)}
        )
        plt.close(number)


@contextlib.contextmanager
def without_kernels() -> Iterator[None]:
    """Runs have no workers."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "cpu_count", lambda: 1)
        yield


def rendered(run: Path, **how: Any) -> Path:
    """As `render`."""
    with without_kernels():
        return render(run, **how)
