"""`workbench ablate`."""

from __future__ import annotations

import json
import math
from typing import Annotated

import typer

from workbench.analysis.ablation import leave_one_out
from workbench.cli.options import AsJson, Paths, takes
from workbench.cli.output import say, say_json, table
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
        return 0
    rows = [{name: _shown(value) for name, value in row.items()} for row in found.to_dict("records")]
    say(table(rows, left=("stage", "metric", "mode", "unit")))
    return 0


def _shown(value: object) -> str:
    if not isinstance(value, float):
        return str(value) if value is not None else "-"
    return "-" if math.isnan(value) else f"{value:.4f}".rstrip("0").rstrip(".")
