"""`workbench experiment`: a papermill notebook with parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.words import say, say_json
from workbench.errors import SettingError

FLAGS = ("-p", "--parameter")


def joined(words: list[str]) -> list[str]:
    """The command line with `-p NAME VALUE` written as `-p NAME=VALUE`, where the command is `experiment`."""
    if words[:1] != ["experiment"]:
        return words
    found: list[str] = []
    left = iter(words)
    for word in left:
        found.append(word)
        if word in FLAGS and (name := next(left, None)) is not None:
            value = next(left, None) if name.isidentifier() else None
            found.append(name if value is None else f"{name}={value}")
    return found


def experiment(
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="A parameter, as often as wanted.", metavar="NAME VALUE"),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print where the results are as JSON.")] = False,
) -> int:
    """Run the experiment notebook with these parameters; an unknown parameter is an error.

    Examples:

      workbench experiment -p window 32000 -p strategies "opal,pipeline"

      workbench experiment -p window=32000 --out reports/mine
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
