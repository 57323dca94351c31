"""`workbench export` and `workbench share`: a run for other tools, and for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from workbench.cli.options import AsJson, NoReport, Run
from workbench.cli.output import say, say_json
from workbench.experiment.exports import share as shared
from workbench.experiment.exports import to_inspect
from workbench.experiment.store import COLUMNS, Results
from workbench.report import render


def export(
    run: Run,
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the files.")],
    to: Annotated[
        Literal["inspect", "csv"], typer.Option("--to", help="inspect: a log a strategy; csv: a file a table.")
    ] = "inspect",
    as_json: AsJson = False,
) -> int:
    """Write a run's scores as logs of Inspect, or all of its tables as CSV.

    Examples:

      workbench export reports/compare-1a2b3c4d --out logs

      workbench export reports/compare-1a2b3c4d --to csv --out tables
    """
    results = Results.open(run)
    if to == "inspect":
        files = to_inspect(results, out)
    else:
        out.mkdir(parents=True, exist_ok=True)
        files = [out / f"{name}.csv" for name in COLUMNS]
        for name, file in zip(COLUMNS, files, strict=True):
            results.table(name).to_csv(file, index=False)
    say_json({"files": [str(file) for file in files]}) if as_json else say("\n".join(map(str, files)))
    return 0


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
