"""`workbench experiment`: a papermill notebook with parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.words import say, say_json
from workbench.errors import SettingError


def experiment(
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="NAME=VALUE, as often as wanted.", metavar="NAME=VALUE"),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print where the results are as JSON.")] = False,
) -> int:
    """Run the experiment notebook with these parameters; an unknown parameter is an error.

    Example:

      workbench experiment -p window=32000 -p strategies=truncate,summarize
    """
    from workbench.report.experiment import run_experiment

    given: dict[str, str] = {}
    for word in parameters or ():
        name, mark, value = word.partition("=")
        if not mark or not name.strip():
            raise SettingError(f"the parameter {word!r} is not of the form NAME=VALUE, such as window=32000")
        given[name.strip()] = value.strip()
    notebook = run_experiment(given, out)
    say_json({"notebook": str(notebook)}) if as_json else say(str(notebook))
    return 0
