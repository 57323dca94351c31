"""Writes the report of a run: the notebook with its outputs, and one HTML file that needs
nothing else.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from workbench.base.markup import render as filled
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings import Findings
from workbench.report.page.html import Html
from workbench.report.page.notebooks import Value, notebook
from workbench.report.page.report import ON_LIGHT, Chart, Report

_PART = re.compile(r"\breport\.(\w+)")
"""Where a cell of the report notebook shows a part of the report."""
_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
_HASHED_ID = re.compile(r"\b([a-z])[0-9a-f]{10}\b")


def render(
    run: str | Path,
    baseline: str = "",
    other: str | Path = "",
    *,
    findings: Findings | None = None,
) -> Path:
    """Fill the report notebook from a run's folder and write `report.ipynb` and `report.html`
    there.

    The outputs are made in this process, so that no kernel has to start; papermill runs the same
    notebook. The page is there first; the notebook follows with its pictures.
    With another run, both are named `report-against-<its folder>`, and begin with what changed.

    Args:
        run: the folder of a finished run.
        baseline: the strategy that all others are compared with; by default `truncate`, or the one
            named first.
        other: the folder of a run over the same sessions that this one is compared with; empty for
            none.
        findings: of this run with this baseline, where they were worked out already.

    Raises:
        SettingError: the folder holds no finished run.
        UnknownName: the run has no strategy of the baseline's name.
    """
    results = Results.open(run)
    folder = Path(run)
    other_results = None
    name = "report"
    title = f"Compaction report: {folder.resolve().name}"
    if other:
        other_results = Results.open(Path(other))
        other_name = Path(other).resolve().name
        name = f"report-against-{other_name}"
        title = f"{title} against {other_name}"
    report = Report(results, baseline, other_results, findings=findings)
    parameters = {
        "run_folder": str(folder),
        "baseline": baseline,
        "other_folder": str(other),
    }
    filled_notebook = _filled(report, parameters)
    page = filled_notebook.page
    is_masked = _is_masked(results) or _is_masked(other_results)
    if is_masked:
        _remove_places(page)
    html_file = to_html(page, folder / f"{name}.html", title=title)
    if not is_masked:
        for shown_chart in filled_notebook.charts:
            picture = shown_chart.chart.picture()
            shown_chart.output["data"] |= picture
    text = json.dumps(page, indent=1, ensure_ascii=False)
    content = f"{text}\n".encode("utf-8", "backslashreplace")
    write_atomically(folder / f"{name}.ipynb", content)
    return html_file


def _is_masked(results: Results | None) -> bool:
    """Whether a run is a copy without session text, or its sessions were redacted."""
    if results is None:
        return False
    settings = results.manifest.get("settings") or {}
    return bool(results.manifest.get("shared") or settings.get("redact"))


@dataclass(frozen=True, slots=True)
class ShownChart:
    """A chart of the report, and the output of a cell that shows it."""

    output: dict[str, Any]
    chart: Chart


@dataclass(frozen=True, slots=True)
class FilledNotebook:
    """The report notebook with outputs, and the charts among these."""

    page: dict[str, Any]
    charts: list[ShownChart]


def _filled(report: Report, parameters: Mapping[str, Value]) -> FilledNotebook:
    """The report notebook with these parameters, and as outputs the parts of the report that its
    cells name.
    """
    page: dict[str, Any] = json.loads(notebook("report").read_text(encoding="utf-8"))
    cells: list[dict[str, Any]] = []
    charts: list[ShownChart] = []
    for cell in page["cells"]:
        cell["source"] = "".join(cell["source"])
        cells.append(cell)
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            for part in _parts(report, cell["source"]):
                output = _output(part)
                cell["outputs"].append(output)
                if isinstance(part, Chart):
                    charts.append(ShownChart(output, part))
        if "parameters" in _tags(cell):
            cells.append(_injected(cell, parameters))
    page["cells"] = cells
    return FilledNotebook(page, charts)


def _tags(cell: Mapping[str, Any]) -> Sequence[str]:
    """What a cell is marked as."""
    tags: Sequence[str] = cell["metadata"].get("tags", ())
    return tags


def _parts(report: Report, source: str) -> Iterator[Html | Chart]:
    """The parts of the report that a cell names."""
    for name in _PART.findall(source):
        part = getattr(report, name)
        if callable(part):
            part = part()
        yield part


def _injected(
    cell: Mapping[str, Any],
    parameters: Mapping[str, Value],
) -> dict[str, Any]:
    """The cell that sets the parameters, behind the one that declares them."""
    assignments = [f"{name} = {value!r}" for name, value in parameters.items()]
    return {
        **cell,
        "id": "injected",
        "metadata": {"tags": ["injected-parameters"]},
        "source": "\n".join(assignments),
    }


def _output(part: Html | Chart) -> dict[str, Any]:
    """A part of the report as a notebook keeps what a cell showed."""
    output: dict[str, Any] = {"output_type": "display_data"}
    if isinstance(part, Chart):
        output["data"] = part.drawing()
        output["metadata"] = ON_LIGHT
    else:
        output["data"] = {
            "text/html": part._repr_html_(),
            "text/plain": repr(part),
        }
        output["metadata"] = {}
    return output


def _remove_places(page: dict[str, Any]) -> None:
    """Remove from a notebook with outputs what names this machine or may look like words of a
    recording.

    The notebook can be run again in its folder. It gets no PNG of a chart: its bytes as text
    contain any four letters by chance. So do the ids in an SVG.
    """
    kernelspec = page["metadata"].get("kernelspec", {})
    page["metadata"] = {"kernelspec": kernelspec}
    for cell in page["cells"]:
        if "injected-parameters" in _tags(cell):
            source = cell["source"]
            source = re.sub(r"(?m)^run_folder = .*$", 'run_folder = "."', source)
            source = re.sub(r"(?m)^other_folder = .*$", 'other_folder = ""', source)
            cell["source"] = source
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            drawing = data.get("image/svg+xml")
            if drawing is not None:
                data["image/svg+xml"] = _numbered_ids(drawing)


def _numbered_ids(drawing: str) -> str:
    """The SVG with numbers in the place of the hashes in its ids."""
    numbered: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        hashed_id = match[0]
        letter = match[1]
        if hashed_id not in numbered:
            numbered[hashed_id] = f"{letter}{len(numbered)}"
        return numbered[hashed_id]

    return _HASHED_ID.sub(number, drawing)


def to_html(page: dict[str, Any], out: Path, *, title: str) -> Path:
    """One HTML file of a notebook with outputs: text and outputs, no code, no request to any
    network.
    """
    html = filled(
        "page/index.html.j2",
        cells=page["cells"],
        contents=_headings(page["cells"]),
        title=title,
        prose=_prose,
    )
    write_atomically(out, html.encode("utf-8", "xmlcharrefreplace"))
    return out


def _prose(source: str) -> str:
    """HTML of a notebook's Markdown, with an id on each heading."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt()
    tokens = reader.parse(source)
    for opening, inner in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", _place(inner.content))
    return str(reader.renderer.render(tokens, reader.options, {}))


def _place(heading: str) -> str:
    return heading.replace(" ", "-")


def _headings(cells: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Id and words of each section of the page: from the notebook's Markdown, and from its
    outputs.
    """
    for cell in cells:
        if cell["cell_type"] == "markdown":
            for words in re.findall(r"(?m)^## (.+)$", cell["source"]):
                yield _place(words), words
        for output in cell.get("outputs", ()):
            html = output["data"].get("text/html", "")
            yield from _HEADING.findall(html)
