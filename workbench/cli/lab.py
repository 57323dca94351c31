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

COURSE = Path("workbench-course")
PASSING = {"allow_extra_args": True, "ignore_unknown_options": True}
"""How typer is told that what it does not know is for JupyterLab."""
QUIET = '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}'
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
    from workbench.report.notebooks import copy_course

    copied, there = copy_course(folder)
    say(f"{folder}: {len(copied)} notebooks copied, {len(there)} were there already")
    command = command_line(folder, port=port, no_browser=no_browser, more=context.args)
    around = environment(folder.resolve() / ".jupyter")
    if os.name == "posix":  # so that Ctrl-C and signals are JupyterLab's own
        sys.stdout.flush()
        os.execve(command[0], command, around)
    return subprocess.run(command, env=around, check=False).returncode


def command_line(folder: Path, *, port: int | None, no_browser: bool, more: Sequence[str] = ()) -> list[str]:
    """The words that start JupyterLab in this folder, with this interpreter.

    Args:
        folder: its root.
        port: None lets it look for a free one.
        no_browser: whether none is opened.
        more: further options of JupyterLab.
    """
    words = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    words += [f"--LabApp.default_url=/lab/tree/{first.name}" for first in sorted(folder.glob("01_*.ipynb"))[:1]]
    words += [f"--port={port}"] if port is not None else []
    return [*words, *(["--no-browser"] if no_browser else []), *more]


def environment(own: Path) -> dict[str, str]:
    """This process's environment, with this package importable and JupyterLab's news switched off.

    Args:
        own: a folder for that setting, which no other JupyterLab reads.
    """
    (own / "labconfig").mkdir(parents=True, exist_ok=True)
    (own / "labconfig" / "page_config.json").write_text(QUIET, encoding="utf-8")
    found = {**os.environ, "JUPYTER_CONFIG_PATH": _paths(str(own), os.environ.get("JUPYTER_CONFIG_PATH", ""))}
    root = Path(__file__).parents[2]
    if not root.is_relative_to(sys.prefix):
        found["PYTHONPATH"] = _paths(str(root), os.environ.get("PYTHONPATH", ""))
    return found


def _paths(*paths: str) -> str:
    return os.pathsep.join(path for path in paths if path)
