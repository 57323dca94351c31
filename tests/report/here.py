"""Renders reports in this process: tests of the page need no kernel, and a kernel takes seconds to start."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.formatters import DisplayFormatter

from workbench.report import render
from workbench.report.parameters import Value, checked


def run_here(template: Path, out: Path, parameters: Mapping[str, Value]) -> Path:
    """As `run_notebook`: the notebook's cells with these parameters, and what each shows."""
    page = nbformat.read(template, 4)
    space: dict[str, Any] = {}
    for cell in page.cells:
        if cell.cell_type == "code":
            shown: list[object] = []
            space["display"] = lambda *values, shown=shown: shown.extend(values)
            *lines, last = ast.parse(cell.source).body
            value = isinstance(last, ast.Expr)
            exec(compile(ast.Module([*lines, *(() if value else (last,))], []), out.name, "exec"), space)
            if isinstance(last, ast.Expr):
                space["display"](eval(compile(ast.Expression(last.value), out.name, "eval"), space))
            cell.outputs = [_output(one) for one in shown if one is not None]
            if "parameters" in cell.metadata.get("tags", ()):
                space |= checked(template, parameters)
    out.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(page, out)
    return out


def _output(value: object) -> Any:
    data, metadata = DisplayFormatter().format(value)
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)


def rendered(run: Path, **how: Any) -> Path:
    """As `render`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.report.page.run_notebook", run_here)
        return render(run, **how)
