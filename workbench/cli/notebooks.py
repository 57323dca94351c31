"""The experiment notebook with parameters or a grid of them, run by papermill; and JupyterLab at
the course.
"""

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.base.markup import TEMPLATES
from workbench.cli.options import AsJson, ModelOptions, takes
from workbench.cli.output import FAILED, OK, complain, say, say_json, table
from workbench.evaluation.experiment.spec import Masking
from workbench.report.page.experiments import (
    GridPoint,
    run_experiment,
    run_experiments,
    table_rows,
)
from workbench.report.page.notebooks import copy_course

COURSE = Path("workbench-course")
LAB = TEMPLATES / "lab"
"""Defaults of JupyterLab's settings: else it asks at each start whether it may fetch news from a
server.
"""
FLAGS = ("-p", "--parameter", "-g", "--grid")


def joined(words: list[str]) -> list[str]:
    """The words of `experiment`, with `-p NAME VALUE` written as `-p NAME=VALUE`."""
    joined_words: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        joined_words.append(word)
        index += 1
        if word not in FLAGS or index == len(words):
            continue
        name = words[index]
        index += 1
        if name.isidentifier() and index < len(words):
            joined_words.append(f"{name}={words[index]}")
            index += 1
        else:
            joined_words.append(name)
    return joined_words


class ExperimentOptions(Masking, ModelOptions):
    """Parameters of the notebook that are options of their own."""

    def parameters(self) -> dict[str, str]:
        """Those that were given, as a person would write them."""
        parameters = {}
        for name, value in self.model_dump(exclude_defaults=True).items():
            parameters[name] = ",".join(value) if isinstance(value, tuple) else str(value)
        return parameters


@takes(ExperimentOptions)
def experiment(
    spec: ExperimentOptions,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter", "-p", help="A parameter, as often as wanted.", metavar="NAME VALUE"
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            "-g",
            help="Values between commas; lists between semicolons.",
            metavar="NAME VALUES",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the run, or of all runs.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Kernels at once. None: one a core.")
    ] = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> int:
    """Run the experiment notebook with these parameters; an unknown or ill-typed one is an error
    before anything runs.

    With --grid it runs once for every combination, several at a time, each in its own kernel and
    folder. The same command again runs only what is not finished. A notebook that failed is kept,
    with the error marked on top. Limits hold for each notebook's run.

    Examples:

      workbench lab experiment -p window 32000 -p strategies "opal,pipeline"

      workbench lab experiment -g window 16000,32000 -g strategies "opal,pipeline;summarize" --jobs
      2
    """
    fixed = spec.parameters() | _pairs(parameters, "window=32000")
    varied = _pairs(grid, "window=16000,32000")
    if not varied:
        shows_progress = not quiet and not as_json
        notebook = str(run_experiment(fixed, out, progress=shows_progress))
        if as_json:
            say_json({"notebook": notebook})
        else:
            say(notebook)
        return OK
    workers = jobs or os.cpu_count() or 1
    is_silent = quiet or as_json
    points = run_experiments(
        fixed,
        varied,
        out,
        jobs=workers,
        quiet=is_silent,
        tell=_silence if is_silent else _tell_point,
    )
    if as_json:
        say_json([asdict(point) for point in points])
    else:
        say(table(table_rows(points, varied)))
    failed = [point for point in points if point.outcome == "failed"]
    for point in failed:
        complain(f"workbench: {point.reason}")
    return FAILED if failed else OK


def _silence(point: GridPoint) -> None:
    """Say nothing of a point."""


def _tell_point(point: GridPoint) -> None:
    """Say where a point's report is, while others still run."""
    report = Path(point.folder) / "report.html"
    if report.is_file():
        complain(f"{point.outcome}: {report}")


def _pairs(words: list[str] | None, example: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for word in words or ():
        name, mark, value = word.partition("=")
        if not mark or not name.strip():
            raise SettingError(
                f"the parameter {word!r} has no value; write NAME=VALUE, such as {example}"
            )
        values[name.strip()] = value.strip()
    return values


def lab(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Option("--folder", "-f", help="Where your copies of the notebooks are.")
    ] = COURSE,
) -> int:
    """Open JupyterLab at the course: your own copies of its notebooks, which you may change as you
    like.

    Notebooks that are there already stay unchanged. All other options go to JupyterLab.

    Examples:

      workbench lab course

      workbench lab course --folder ~/course --no-browser --port 9000 --ip 0.0.0.0
    """
    copied, present = copy_course(folder)
    say(f"{folder}: {some(len(copied), 'notebook')} copied, {len(present)} there already")
    command = command_line(folder, *context.args)
    if os.name == "posix":  # so that Ctrl-C and signals are JupyterLab's own
        sys.stdout.flush()
        os.execve(command[0], command, lab_environment())
    return subprocess.run(command, check=False, env=lab_environment()).returncode


def lab_environment() -> dict[str, str]:
    """This process's environment, in which JupyterLab finds our defaults below those of the
    user.
    """
    places = [str(LAB)]
    user_places = os.environ.get("JUPYTER_CONFIG_PATH")
    if user_places:
        places.append(user_places)
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(places)}


def command_line(folder: Path, *options: str) -> list[str]:
    """The words that start JupyterLab in this folder, with this interpreter and these options."""
    words = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    first_pages = sorted(folder.glob("01_*.ipynb"))
    if first_pages:
        words.append(f"--LabApp.default_url=/lab/tree/{first_pages[0].name}")
    return [*words, *options]
