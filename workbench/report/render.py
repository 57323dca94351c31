"""Writes the report of a run: the notebook, executed, and one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.errors import SettingError
from workbench.report.kernel import run_notebook
from workbench.report.notebooks import notebook

TEMPLATES = Path(__file__).parent / "templates"


def render(run: str | Path) -> Path:
    """Fill the report notebook from a run's folder and write `report.ipynb` and `report.html` there.

    Args:
        run: the folder of a finished run.

    Returns:
        The HTML file.

    Raises:
        SettingError: the folder holds no finished run.
        NotebookError: a cell of the notebook failed.
    """
    folder = Path(run)
    if not (folder / "manifest.json").is_file():
        raise SettingError(f"{folder} holds no finished run; a run's folder has a manifest.json")
    filled = run_notebook(notebook("report"), folder / "report.ipynb", {"run_folder": str(folder)})
    return to_html(filled, folder / "report.html", title=f"Compaction report: {folder.resolve().name}")


def to_html(filled: Path, out: Path, *, title: str) -> Path:
    """One HTML file of an executed notebook: text and outputs, no code, no request to any network."""
    from nbconvert.exporters import HTMLExporter

    made: Callable[..., Any] = HTMLExporter  # its package says nothing of types
    exporter = made(template_name="workbench_report", extra_template_basedirs=[str(TEMPLATES)])
    page, _ = exporter.from_filename(str(filled), {"metadata": {"name": title}})
    part = out.with_name(f".{out.name}.part")
    part.write_text(page, encoding="utf-8", errors="xmlcharrefreplace")
    part.replace(out)
    return out
