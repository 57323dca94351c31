"""Writes the report of a run: the notebook, executed, and one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.markup import TEMPLATES
from workbench.report.kernel import run_notebook
from workbench.report.notebooks import notebook

_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)(?:<a class="anchor-link".*?</a>)?</h2>', re.DOTALL)
_HASHED_ID = re.compile(r"\b([a-z])[0-9a-f]{10}\b")


def render(run: str | Path, baseline: str = "", other: str | Path = "") -> Path:
    """Fill the report notebook from a run's folder and write `report.ipynb` and `report.html` there.

    With another run, both are named `report-against-<its folder>`, and begin with what changed.

    Args:
        run: the folder of a finished run.
        baseline: the strategy that all others are compared with; by default `truncate`, or the one named first.
        other: the folder of a run over the same sessions that this one is compared with; empty for none.

    Returns:
        The HTML file.

    Raises:
        SettingError: the folder holds no finished run.
        UnknownName: the run has no strategy of the baseline's name.
        NotebookError: a cell of the notebook failed.
    """
    folder = Path(run)
    if not (folder / "manifest.json").is_file():
        raise SettingError(f"{folder} holds no finished run; a run's folder has a manifest.json")
    if baseline:
        _check(folder, baseline)
    name, title = "report", f"Compaction report: {folder.resolve().name}"
    manifests = [Results.open(folder).manifest]
    if other:
        manifests.append(Results.open(other).manifest)
        name, title = f"report-against-{Path(other).resolve().name}", f"{title} against {Path(other).resolve().name}"
    parameters = {"run_folder": str(folder), "baseline": baseline, "other_folder": str(other)}
    filled = run_notebook(notebook("report"), folder / f"{name}.ipynb", parameters)
    if any(map(_private, manifests)):
        _forget_places(filled)
    return to_html(filled, folder / f"{name}.html", title=title)


def _check(folder: Path, baseline: str) -> None:
    """Say what is wrong with a baseline before any kernel is started."""
    from workbench.report.tables import Tables

    Tables.of(Results.open(folder), baseline)


def _private(manifest: Mapping[str, Any]) -> bool:
    """Whether nothing may say where on this machine the run was."""
    settings = manifest.get("settings")
    return bool(manifest.get("shared") or (isinstance(settings, Mapping) and settings.get("redact")))


def _forget_places(filled: Path) -> None:
    """Take out of an executed notebook what is of this machine, and what could be taken for words of a recording.

    It can be run again in its own folder. Pictures go where the same are there as drawings: their bytes as text, and
    the drawings' own ids, hold any four letters by chance.
    """
    page = json.loads(filled.read_text(encoding="utf-8"))
    page["metadata"] = {"kernelspec": page["metadata"].get("kernelspec", {})}
    for cell in page["cells"]:
        cell["metadata"].pop("papermill", None)
        if "injected-parameters" in cell["metadata"].get("tags", ()):
            cell["source"] = _own_folder("".join(cell["source"]))
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                data.pop("image/png", None)
                data["image/svg+xml"] = _numbered_ids("".join(data["image/svg+xml"]))
    filled.write_text(json.dumps(page, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _own_folder(parameters: str) -> str:
    """The notebook's parameters without the places of this machine."""
    here = re.sub(r"(?m)^run_folder = .*$", 'run_folder = "."', parameters)
    return re.sub(r"(?m)^other_folder = .*$", 'other_folder = ""', here)


def _numbered_ids(drawing: str) -> str:
    """The drawing with numbers in the place of the hashes that its ids are made of."""
    numbers: dict[str, str] = {}
    return _HASHED_ID.sub(lambda found: numbers.setdefault(found.group(), f"{found[1]}{len(numbers)}"), drawing)


def to_html(filled: Path, out: Path, *, title: str) -> Path:
    """One HTML file of an executed notebook: text and outputs, no code, no request to any network."""
    from nbconvert.exporters import HTMLExporter

    made: Callable[..., Any] = HTMLExporter  # its package says nothing of types
    exporter = made(template_name="page", extra_template_basedirs=[str(TEMPLATES)])
    page, _ = exporter.from_filename(str(filled), {"metadata": {"name": title}})
    page = page.replace("<!--contents-->", _contents(page), 1)
    part = out.with_name(f".{out.name}.part")
    part.write_text(page, encoding="utf-8", errors="xmlcharrefreplace")
    part.replace(out)
    return out


def _contents(page: str) -> str:
    """Where the sections of a page are; words of a recording stand in it escaped, and make no heading."""
    links = "".join(f'<li><a href="#{place}">{name}</a></li>' for place, name in _HEADING.findall(page))
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>' if links else ""
