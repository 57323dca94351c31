"""Runs the experiment notebook, once or at every point of a grid, and continues where it was
interrupted.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Literal

from workbench.base.errors import SettingError, error_text
from workbench.base.private_files import write_private
from workbench.evaluation.experiment.code_versions import package_version
from workbench.evaluation.experiment.progress import progress
from workbench.report.page.notebooks import (
    NotebookError,
    Value,
    checked,
    declared,
    notebook,
    run_notebook,
)
from workbench.report.page.rendering import render

REPORTS = Path("reports")
TEMPLATE = "experiment"
"""The notebook that is filled in."""
MANIFEST = "manifest.json"
DONE = "done.json"
LISTS = ";"
"""Separates the values of a parameter that is a list; commas separate the items of each."""


def run_experiment(
    parameters: Mapping[str, Value],
    out: str | Path | None = None,
    *,
    progress: bool = False,
) -> Path:
    """Run `notebooks/experiment.ipynb` with these parameters and render the report of its run, also
    where a later cell failed.

    Returns:
        The executed notebook, in the run's folder: by default one in `reports` that is named after
        the parameters.

    Raises:
        SettingError: an unknown or ill-typed parameter; no kernel was started.
        NotebookError: a cell failed; the notebook is kept as far as it came.
    """
    template = notebook(TEMPLATE)
    values = checked(template, parameters)
    usual_folder = REPORTS / f"experiment-{seal(values)}"
    folder = Path(str(out or values.get("out") or usual_folder))
    values["out"] = str(folder)
    target = folder / f"{TEMPLATE}.ipynb"
    finished_page = _content_of(target)
    finished_run = _content_of(folder / MANIFEST)
    is_as_before = False
    try:
        return run_notebook(template, target, values, progress=progress)
    except NotebookError:
        run_stands = finished_run is not None and finished_run == _content_of(folder / MANIFEST)
        if finished_page is not None and run_stands:  # such as one that this would have replaced
            write_private(target, finished_page)
            is_as_before = (folder / "report.html").is_file()
        raise
    finally:
        if _has_tables(folder) and not is_as_before:
            render(folder)


def _content_of(file: Path) -> bytes | None:
    """What a file holds; None where there is none."""
    if not file.is_file():
        return None
    return file.read_bytes()


def _has_tables(folder: Path) -> bool:
    """Whether a run in this folder came as far as its tables."""
    manifest = folder / MANIFEST
    replays = folder / "replays.parquet"
    return manifest.is_file() and replays.is_file()


def seal(values: object) -> str:
    """A short name for these parameters."""
    text = json.dumps(values, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One point of the grid: its parameters and its run's folder; `kept` from an earlier run, or
    why it failed.
    """

    values: Mapping[str, Value]
    folder: str
    outcome: Literal["done", "kept", "failed"]
    reason: str = ""


def points(fixed: Mapping[str, str], grid: Mapping[str, str]) -> list[dict[str, Value]]:
    """Every combination of the grid's values with the fixed ones, all checked; see
    `run_experiments`.
    """
    template = notebook(TEMPLATE)
    types = declared(template)
    for name in grid:
        if name in fixed:
            raise SettingError(f"`{name}` is set twice: as a value and as a grid; set it once")
    if "out" in fixed or "out" in grid:
        raise SettingError("`out` is the folder of one run; use --out for the folder of all runs")
    choices = []
    for name, text in grid.items():
        separator = ","
        if types.get(name, "").startswith("list["):
            separator = LISTS
        choices.append(_words(text, separator))
    combinations = []
    for choice in product(*choices):
        varied = dict(zip(grid, choice, strict=True))
        combinations.append(checked(template, {**fixed, **varied}))
    return combinations


def _words(text: str, separator: str) -> list[str]:
    """The words between separators, without empty ones."""
    words = [word.strip() for word in text.split(separator)]
    return [word for word in words if word]


def run_experiments(
    fixed: Mapping[str, str],
    grid: Mapping[str, str],
    out: str | Path | None = None,
    *,
    jobs: int = 1,
    quiet: bool = False,
    tell: Callable[[GridPoint], None] = lambda point: None,
) -> list[GridPoint]:
    """Run the experiment notebook at every point of a grid; what is finished already is not run
    again.

    Each point has its own kernel and its own folder, in `out` or in one in `reports` that is named
    after the grid. One that fails keeps its notebook as far as it came, with the error marked on
    top, and does not stop the others.

    Args:
        fixed: parameters that are the same everywhere, as a person wrote them.
        grid: values between commas by parameter; between semicolons where the parameter is a list.
        out: the folder of all runs.
        jobs: notebooks at a time, >= 1.
        quiet: no progress bar.
        tell: hears of each point as soon as it is finished, in whatever order.

    Raises:
        SettingError: an unknown or ill-typed parameter, or one both fixed and varied; no kernel was
            started.
    """
    combinations = points(fixed, grid)
    if out is None:
        out = REPORTS / f"experiments-{seal(combinations)}"
    folder = Path(out)
    folders = [folder / _slug(values, grid) for values in combinations]
    run = partial(_run, package_version(folder))
    with (
        ThreadPoolExecutor(max_workers=jobs) as pool,
        progress(len(combinations), "running", "notebook", quiet=quiet) as bar,
    ):
        jobs_of_points = []
        for values, point_folder in zip(combinations, folders, strict=True):
            job_of_point = pool.submit(run, values, point_folder)
            jobs_of_points.append(job_of_point)
        for job in as_completed(jobs_of_points):
            tell(job.result())
            bar.update()
    finished_points: list[GridPoint] = []
    for job in jobs_of_points:
        finished_points.append(job.result())
    return finished_points


def _run(code: str, values: Mapping[str, Value], folder: Path) -> GridPoint:
    template = notebook(TEMPLATE).read_bytes()
    template_key = sha256(template).hexdigest()
    facts = {
        "values": dict(values),
        "code": code,
        "template": template_key[:16],
    }
    state = json.dumps(facts, indent=1)
    state_file = folder / DONE
    if state_file.is_file():
        state_on_disk = state_file.read_text(encoding="utf-8")
        if state_on_disk == state:
            return GridPoint(values, str(folder), "kept")
    try:
        run_experiment(values, folder)
    except Exception as error:  # noqa: BLE001 - a point's fault of any kind must not stop the others
        reason = error_text(error)
        return GridPoint(values, str(folder), "failed", reason)
    write_private(state_file, state)
    return GridPoint(values, str(folder), "done")


def _slug(values: Mapping[str, Value], grid: Mapping[str, str]) -> str:
    """A folder's name that a person can read, and that no other point has."""
    words = []
    for name in grid:
        text = _text(values[name], "+")
        value = re.sub(r"[^A-Za-z0-9.+]+", "-", text)
        words.append(f"{name}-{value}")
    readable = "_".join(words)[:60]
    slug = f"{readable}-{seal(values)}"
    return slug.lstrip("-")


def table_rows(ran: Iterable[GridPoint], varied: Collection[str]) -> Iterator[dict[str, str]]:
    """A row of words for each point: its parameters, its outcome and its folder."""
    for point in ran:
        row = {name: _text(point.values[name], ",") for name in varied}
        row["outcome"] = point.outcome
        row["folder"] = point.folder
        yield row


def _text(value: Value, joint: str) -> str:
    if isinstance(value, list):
        return joint.join(map(str, value))
    return str(value)
