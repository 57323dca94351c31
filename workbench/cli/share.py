"""`workbench share`: a copy of a run that others may see."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.options import AsJson, NoReport, Run
from workbench.cli.output import say, say_json
from workbench.experiment.share import share as shared
from workbench.report import render


def share(
    run: Run,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder for the copy.")],
    no_report: NoReport = False,
    as_json: AsJson = False,
) -> int:
    """Export a run without any session text: texts become keyed hashes, numbers stay as they are.

    Example:

      workbench share reports/compare-1a2b3c4d --out shared
    """
    copy = shared(run, out)
    report = None if no_report else str(render(copy.path))
    say_json({"run": str(copy.path), "report": report}) if as_json else say(report or str(copy.path))
    return 0
