"""`workbench share`: a copy of a run that others may see."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.words import say, say_json


def share(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder for the copy.")],
    no_report: Annotated[bool, typer.Option("--no-report", help="Write the tables, but render no report.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print where the copy is as JSON.")] = False,
) -> int:
    """Copy a run without a word of its recordings: texts become keyed hashes, numbers stay as they are.

    Example:

      workbench share reports/compare-1a2b3c4d --out shared
    """
    from workbench.experiment.share import share as shared
    from workbench.report import render

    copy = shared(run, out)
    report = None if no_report else str(render(copy.path))
    say_json({"run": str(copy.path), "report": report}) if as_json else say(report or str(copy.path))
    return 0
