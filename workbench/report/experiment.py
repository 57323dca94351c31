"""Runs the experiment notebook with parameters that a person wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from workbench.report.kernel import run_notebook
from workbench.report.notebooks import notebook
from workbench.report.parameters import Value, checked
from workbench.report.render import render

REPORTS = Path("reports")
TEMPLATE = "experiment"
"""The notebook that is filled in."""


def run_experiment(parameters: Mapping[str, Value], out: str | Path | None = None, *, progress: bool = False) -> Path:
    """Run `notebooks/experiment.ipynb` with these parameters and render the report of its run.

    Args:
        parameters: by name; a text is read as the type that the notebook declares.
        out: the run's folder; by default one in `reports` that is named after the parameters.
        progress: whether a bar on standard error counts the cells.

    Returns:
        The executed notebook, in the run's folder.

    Raises:
        SettingError: an unknown or ill-typed parameter; no kernel was started.
        NotebookError: a cell failed; the notebook is kept as far as it came.
    """
    template = notebook(TEMPLATE)
    values = checked(template, parameters)
    folder = Path(str(out or values.get("out") or REPORTS / f"experiment-{seal(values)}"))
    done = run_notebook(template, folder / f"{TEMPLATE}.ipynb", {**values, "out": str(folder)}, progress=progress)
    render(folder)
    return done


def seal(values: Mapping[str, Value]) -> str:
    """A short name for these parameters."""
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]
