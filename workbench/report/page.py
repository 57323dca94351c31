"""Writes the report of a run: the notebook, executed, and one HTML file that needs nothing else."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workbench.experiment.atomic import write_atomically
from workbench.experiment.store import Results
from workbench.markup import TEMPLATES
from workbench.report.notebooks import notebook, run_notebook
from workbench.report.tables import Tables

_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
_HASHED_ID = re.compile(r"\b([a-z])[0-9a-f]{10}\b")


def render(run: str | Path, baseline: str = "", other: str | Path = "") -> Path:
    """Fill the report notebook from a run's folder and write `report.ipynb` and `report.html` there.

    With another run, both are named `report-against-<its folder>`, and begin with what changed.

    Args:
        run: the folder of a finished run.
        baseline: the strategy that all others are compared with; by default `truncate`, or the one named first.
        other: the folder of a run over the same sessions that this one is compared with; empty for none.

    Raises:
        SettingError: the folder holds no finished run.
        UnknownName: the run has no strategy of the baseline's name.
        NotebookError: a cell of the notebook failed.
    """
    folder = Path(run)
    Tables.of(Results.open(folder), baseline)  # an unknown baseline is refused before any kernel starts
    name, title, runs = "report", f"Compaction report: {folder.resolve().name}", [folder]
    if other:
        against = Path(other).resolve().name
        name, title, runs = f"report-against-{against}", f"{title} against {against}", [folder, Path(other)]
    manifests = [Results.open(one).manifest for one in runs]
    parameters = {"run_folder": str(folder), "baseline": baseline, "other_folder": str(other)}
    filled = run_notebook(notebook("report"), folder / f"{name}.ipynb", parameters)
    if any(made.get("shared") or (made.get("settings") or {}).get("redact") for made in manifests):
        _remove_places(filled)
    return to_html(filled, folder / f"{name}.html", title=title)


def _remove_places(filled: Path) -> None:
    """Remove from an executed notebook what names this machine or may look like words of a recording.

    The notebook can be run again in its folder. A PNG is removed where there is an SVG of it: its bytes as text, and
    the ids in the SVG, contain any four letters by chance.
    """
    page = json.loads(filled.read_text(encoding="utf-8"))
    page["metadata"] = {"kernelspec": page["metadata"].get("kernelspec", {})}
    for cell in page["cells"]:
        cell["metadata"].pop("papermill", None)
        if "injected-parameters" in cell["metadata"].get("tags", ()):
            here = re.sub(r"(?m)^run_folder = .*$", 'run_folder = "."', "".join(cell["source"]))
            cell["source"] = re.sub(r"(?m)^other_folder = .*$", 'other_folder = ""', here)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                data.pop("image/png", None)
                data["image/svg+xml"] = _numbered_ids("".join(data["image/svg+xml"]))
    filled.write_text(json.dumps(page, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _numbered_ids(drawing: str) -> str:
    """The SVG with numbers in the place of the hashes in its ids."""
    numbers: dict[str, str] = {}
    return _HASHED_ID.sub(lambda found: numbers.setdefault(found.group(), f"{found[1]}{len(numbers)}"), drawing)


def to_html(filled: Path, out: Path, *, title: str) -> Path:
    """One HTML file of an executed notebook: text and outputs, no code, no request to any network."""
    from nbconvert.exporters import HTMLExporter

    made: Callable[..., Any] = HTMLExporter  # its package has no types
    exporter = made(template_name="page", extra_template_basedirs=[str(TEMPLATES)], filters={"headings": _headings})
    page, _ = exporter.from_filename(str(filled), {"metadata": {"name": title}})
    write_atomically(out, page.encode("utf-8", "xmlcharrefreplace"))
    return out


def _headings(cells: list[Any]) -> Iterator[tuple[str, str]]:
    """Id and words of each section of the page: from the notebook's Markdown, and from its outputs."""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            words = re.findall(r"(?m)^## (.+)$", cell["source"])
            yield from ((word.replace(" ", "-"), word) for word in words)
        for output in cell.get("outputs", ()):
            yield from _HEADING.findall(output.get("data", {}).get("text/html", ""))
