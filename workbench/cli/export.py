"""`workbench export`: a run's scores for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.options import AsJson, Run
from workbench.cli.output import say, say_json
from workbench.experiment.inspect_logs import to_inspect
from workbench.experiment.store import Results
from workbench.experiment.tables import COLUMNS


class To(StrEnum):
    """Where a run can go."""

    inspect = "inspect"
    csv = "csv"


def export(
    run: Run,
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the files.")],
    to: Annotated[To, typer.Option("--to", help="inspect: a log a strategy; csv: a file a table.")] = To.inspect,
    as_json: AsJson = False,
) -> int:
    """Write a run's scores as logs of Inspect, or all of its tables as CSV.

    Examples:

      workbench export reports/compare-1a2b3c4d --out logs

      workbench export reports/compare-1a2b3c4d --to csv --out tables
    """
    results = Results.open(run)
    if to is To.inspect:
        files = to_inspect(results, out)
    else:
        out.mkdir(parents=True, exist_ok=True)
        files = [out / f"{name}.csv" for name in COLUMNS]
        for name, file in zip(COLUMNS, files, strict=True):
            results.table(name).to_csv(file, index=False)
    say_json({"files": [str(file) for file in files]}) if as_json else say("\n".join(map(str, files)))
    return 0
