"""A grid of experiments: checked before anything runs, each in its own folder, gone on with
where it broke off.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import answer, ended
from report.page.here import run_here

from profiles import FULL
from workbench import SettingError
from workbench.cli import main
from workbench.report.page import experiments
from workbench.report.page.experiments import run_experiment, run_experiments
from workbench.report.page.notebooks import NotebookError, run_notebook

DONE = "done.json"


def run_nothing(template: object, target: Path, *_: object, **__: object) -> Path:
    return target


def test_a_grid_is_every_combination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "run_notebook", run_nothing)
    grid = ["-g", "window", "16000,32_000", "-g", "strategies", "opal,pipeline;summarize"]
    points = answer("lab", "experiment", "-p", "limit", "1", *grid, "--out", tmp_path)
    values = [point["values"] for point in points]
    assert [(one["window"], one["strategies"]) for one in values] == [
        (16_000, ["opal", "pipeline"]),
        (16_000, ["summarize"]),
        (32_000, ["opal", "pipeline"]),
        (32_000, ["summarize"]),
    ]
    assert all(one["limit"] == 1 for one in values)
    assert len({point["folder"] for point in points}) == 4


def test_a_point_is_kept_until_the_package_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "run_notebook", run_nothing)
    words = ["lab", "experiment", "-g", "window", "16000", "--out", tmp_path]
    (first,), (again,) = answer(*words), answer(*words)
    assert (first["outcome"], again["outcome"]) == ("done", "kept")
    file = Path(first["folder"]) / DONE
    file.write_text(json.dumps(json.loads(file.read_text()) | {"code": "another"}, indent=1))
    (anew,) = answer(*words)
    assert anew["outcome"] == "done"


@pytest.mark.parametrize(
    ("fixed", "grid", "word"),
    [
        ({}, {"wnidow": "1,2"}, "wnidow"),
        ({}, {"window": "16000,many"}, "whole number"),
        ({"limit": "few"}, {"window": "16000"}, "whole number"),
        ({"window": "8000"}, {"window": "16000"}, "set twice"),
        ({}, {"out": "a,b"}, "--out"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(
    fixed: dict[str, str], grid: dict[str, str], word: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingError, match=word):
        run_experiments(fixed, grid, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_the_command_line_says_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert (
        main(["lab", "experiment", "-g", "window", "16000,many", "--out", str(tmp_path / "runs")])
        == 2
    )
    assert "whole number" in capsys.readouterr().err and not (tmp_path / "runs").exists()


def template_of(folder: Path, *sources: str) -> Path:
    """A notebook of these cells, the first of which has its parameters."""
    cells: list[dict[str, object]] = []
    for number, source in enumerate(sources):
        metadata: dict[str, list[str]] = {"tags": ["parameters"]} if number == 0 else {}
        cell: dict[str, object] = {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": metadata,
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        cells.append(cell)
    template = folder / "template.ipynb"
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    template.write_text(json.dumps(document))
    return template


@pytest.mark.notebook
def test_a_notebook_whose_kernel_is_killed_is_an_error_and_is_kept(tmp_path: Path) -> None:
    template = template_of(tmp_path, "n: int = 9", "import os\nos.kill(os.getpid(), n)")
    out = tmp_path / "out.ipynb"
    with pytest.raises(NotebookError, match="its kernel died"):
        run_notebook(template, out, {})
    marked = json.loads(out.read_text())
    assert "The kernel died in cell 2" in marked["cells"][0]["source"][0]


@pytest.mark.notebook
def test_a_notebook_that_is_stopped_says_where_and_how_it_goes_on(tmp_path: Path) -> None:
    stop = "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(60)"
    template = template_of(tmp_path, "n: int = 9", stop, "n + 1")
    out = tmp_path / "out.ipynb"
    code = (
        "import signal, sys; from pathlib import Path;"
        " signal.signal(signal.SIGINT, signal.default_int_handler);"  # a shell's "&" ignores it
        " from workbench.report.page.notebooks import run_notebook;"
        " run_notebook(Path(sys.argv[1]), Path(sys.argv[2]), {}, progress=True)"
    )
    command = [sys.executable, "-c", code, str(template), str(out)]
    stopped = subprocess.run(command, check=False, capture_output=True, text=True)
    assert stopped.returncode
    assert "running template.ipynb: 1 of 3 cells" in stopped.stderr
    marked = json.loads(out.read_text())
    (words,) = marked["cells"][0]["source"]
    assert "This run was stopped in cell 2" in words
    assert "The same command runs it again" in words
    assert marked["metadata"]["papermill"]["exception"]


def here_if_it_can(template: Path, out: Path, values: dict[str, Any], **how: Any) -> Path:
    return (
        run_notebook(template, out, values, **how)
        if values["window"] == 500
        else run_here(template, out, values)
    )


@pytest.mark.notebook
def test_a_grid_runs_keeps_what_is_done_and_does_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not FULL:  # the notebook that fails runs in a kernel all the same
        monkeypatch.setattr("workbench.report.page.experiments.run_notebook", here_if_it_can)
    out = tmp_path / "runs"
    fixed = {"limit": "1", "shares": "0.2", "strategies": "truncate"}
    grid = {"window": "16000,500"}
    grid_point, failed = run_experiments(fixed, grid, out, jobs=2)
    assert (grid_point.outcome, failed.outcome) == (
        "done",
        "failed",
    ) and "must be at least 1000" in failed.reason
    left = {
        "experiment.ipynb",
        "manifest.json",
        "scores.parquet",
        "report.ipynb",
        "report.html",
        DONE,
    }
    assert left <= {path.name for path in Path(grid_point.folder).iterdir()}
    assert "truncate was the only strategy" in (
        Path(grid_point.folder) / "experiment.ipynb"
    ).read_text(encoding="utf-8")
    page = (Path(failed.folder) / "experiment.ipynb").read_text(encoding="utf-8")
    assert "papermill-error-cell-tag" in page and not (Path(failed.folder) / DONE).exists()

    tried: list[Path] = []

    def fails(template: Path, path: Path, values: object, **how: object) -> Path:
        tried.append(path)
        raise NotebookError("as before")

    monkeypatch.setattr("workbench.report.page.experiments.run_notebook", fails)
    again = run_experiments(fixed, grid, out, jobs=2)
    assert [one.outcome for one in again] == ["kept", "failed"] and again[1].reason == "as before"
    assert tried == [Path(failed.folder) / "experiment.ipynb"]
    words = ["-p", "limit", "1", "-p", "shares", "0.2", "-p", "strategies", "truncate"]
    command = ended("lab", "experiment", *words, "-g", "window", "16000,500", "--out", out)
    assert command.code == 1
    assert "kept" in command.printed and Path(grid_point.folder).name in command.printed


def test_each_point_of_a_grid_is_told_as_soon_as_it_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_may_end = threading.Event()

    def run(values: Mapping[str, Any], out: Path) -> Path:
        if values["window"] == 16_000:
            assert slow_may_end.wait(60)
        out.mkdir(parents=True)
        return out

    monkeypatch.setattr(experiments, "run_experiment", run)
    told: list[object] = []

    def tell(window: object) -> None:
        told.append(window)
        slow_may_end.set()

    points = run_experiments(
        {},
        {"window": "16000,32000"},
        tmp_path,
        jobs=2,
        quiet=True,
        tell=lambda point: tell(point.values["window"]),
    )
    assert told == [32_000, 16_000]
    assert [point.values["window"] for point in points] == [16_000, 32_000]


def test_a_run_whose_notebook_fails_behind_its_tables_has_a_report_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_behind_the_run(template: object, target: Path, *_: object, **__: object) -> Path:
        for name in ("manifest.json", "replays.parquet"):
            (target.parent / name).write_text("{}")
        raise NotebookError("the last cell failed")

    rendered: list[Path] = []
    monkeypatch.setattr(experiments, "run_notebook", fail_behind_the_run)
    monkeypatch.setattr(experiments, "render", rendered.append)
    with pytest.raises(NotebookError, match="the last cell failed"):
        run_experiment({}, tmp_path)
    assert rendered == [tmp_path]


def test_the_notebook_of_a_run_that_another_may_not_replace_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(template: object, target: Path, *_: object, **__: object) -> Path:
        target.write_text("as far as it came")
        raise NotebookError("it holds a finished run, which this one would replace")

    (tmp_path / "manifest.json").write_text("{}")
    notebook_of_the_run = tmp_path / "experiment.ipynb"
    notebook_of_the_run.write_text("finished")
    monkeypatch.setattr(experiments, "run_notebook", refused)
    with pytest.raises(NotebookError, match="holds a finished run"):
        run_experiment({}, tmp_path)
    assert notebook_of_the_run.read_text() == "finished"
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(NotebookError, match="holds a finished run"):
        run_experiment({}, tmp_path)
    assert notebook_of_the_run.read_text() == "as far as it came"


def test_the_report_of_a_run_that_another_may_not_replace_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(template: object, target: Path, *_: object, **__: object) -> Path:
        raise NotebookError("it holds a finished run, which this one would replace")

    rendered: list[Path] = []
    monkeypatch.setattr(experiments, "run_notebook", refused)
    monkeypatch.setattr(experiments, "render", rendered.append)
    for name in ("manifest.json", "replays.parquet", "experiment.ipynb"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(NotebookError, match="holds a finished run"):
        run_experiment({}, tmp_path)
    assert rendered == [tmp_path]
    (tmp_path / "report.html").write_text("finished")
    with pytest.raises(NotebookError, match="holds a finished run"):
        run_experiment({}, tmp_path)
    assert rendered == [tmp_path]
