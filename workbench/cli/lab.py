"""`workbench lab`: JupyterLab, opened at the course."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.output import say
from workbench.report.notebooks import copy_course

COURSE = Path("workbench-course")
NO_NEWS = ("--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
"""JupyterLab would ask a server for news."""


def lab(
    context: typer.Context,
    folder: Annotated[Path, typer.Option("--folder", "-f", help="Where your copies of the notebooks are.")] = COURSE,
    port: Annotated[int | None, typer.Option("--port", min=1, max=65535, help="Port of the server.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open no browser.")] = False,
) -> int:
    """Open JupyterLab at the course: your own copies of its notebooks, which you may change as you like.

    Notebooks that are there already are left as they are. Options that are not named here go to JupyterLab.

    Examples:

      workbench lab

      workbench lab --folder ~/course --no-browser --port 9000 --ip 0.0.0.0
    """
    copied, there = copy_course(folder)
    say(f"{folder}: {len(copied)} notebooks copied, {len(there)} were there already")
    command = command_line(folder, port=port, no_browser=no_browser, more=context.args)
    if os.name == "posix":  # so that Ctrl-C and signals are JupyterLab's own
        sys.stdout.flush()
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


def command_line(folder: Path, *, port: int | None, no_browser: bool, more: Sequence[str] = ()) -> list[str]:
    """The words that start JupyterLab in this folder, with this interpreter and `more` options of its own."""
    words = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}", *NO_NEWS]
    words += [f"--LabApp.default_url=/lab/tree/{first.name}" for first in sorted(folder.glob("01_*.ipynb"))[:1]]
    words += [f"--port={port}"] if port is not None else []
    return [*words, *(["--no-browser"] if no_browser else []), *more]
