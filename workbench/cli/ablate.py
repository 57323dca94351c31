"""`workbench ablate`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from workbench.analysis.ablation import leave_one_out
from workbench.cli.options import AsJson, Paths, takes
from workbench.cli.output import records, say, say_json, table
from workbench.experiment.spec import RunSpec


@takes(
    RunSpec, only=("window", "model", "shares", "limit", "seed", "redact", "model_settings", "jobs", "quiet"), jobs=None
)
def ablate(
    spec: RunSpec,
    paths: Paths = None,
    strategy: Annotated[str, typer.Option("--strategy", "-s", help="A strategy with several stages.")] = "pipeline",
    as_json: AsJson = False,
) -> int:
    """Measure each stage's contribution: the same strategy with and without it, on the same sessions.

    An effect is the strategy with the stage minus the strategy without it, as a mean over sessions, with its 95 %
    interval where there are enough sessions.

    Examples:

      workbench ablate

      workbench ablate my-sessions/ --strategy ex_athena
    """
    found = leave_one_out(paths or (), strategy, spec=spec.changed(quiet=spec.quiet or as_json))
    if as_json:
        say_json(json.loads(found.to_json(orient="records")))
    else:
        numbers = set(found.select_dtypes("float"))
        say(table(records(found), {name: f"{name}:decimal3" if name in numbers else name for name in found}))
    return 0
