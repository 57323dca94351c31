"""`workbench compare` and `workbench report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.headline import UNUSABLE, finish, outcome, show, show_forecast, warn_of_replicates
from workbench.cli.options import AsJson, DryRun, NoReport, Paths, Run, takes, tell_terms
from workbench.cli.output import say, say_json
from workbench.experiment.compare import compare as run_of
from workbench.experiment.compare import forecast
from workbench.experiment.spec import RunSpec
from workbench.experiment.store import Results
from workbench.report import render

Baseline = Annotated[
    str,
    typer.Option("--baseline", "-b", help="Strategy that all others are compared with. None: that of the run."),
]


@takes(RunSpec, jobs=None)
def compare(
    spec: RunSpec,
    paths: Paths = None,
    dry_run: DryRun = False,
    no_report: NoReport = False,
    as_json: AsJson = False,
) -> int:
    """Replay recorded sessions under several strategies; write a report of what each keeps, saves and loses.

    Examples:

      workbench compare

      workbench compare my-sessions/ --strategies truncate,summarize --window 64000

      workbench compare session.jsonl --model litellm:gpt-4o-mini --dry-run

      workbench compare session.jsonl --model extractive,litellm:gpt-4o-mini --max-dollars 2
    """
    silent = spec.changed(quiet=spec.quiet or as_json)
    if dry_run:
        return show_forecast(forecast(paths or (), spec=silent), as_json)
    tell_terms(*spec.model)
    warn_of_replicates(spec.replicates, *spec.model)
    results = run_of(paths or (), spec=silent)
    code = finish(results, no_report, spec.baseline)
    if code != UNUSABLE:
        if as_json:
            say_json(outcome(results, no_report, spec.baseline))
        elif not spec.quiet:
            show(results, no_report, spec.baseline)
    return code


def report(
    run: Run,
    other: Annotated[
        Path | None, typer.Argument(help="Another run over the same sessions: begin with what changed since it.")
    ] = None,
    baseline: Baseline = "",
    as_json: AsJson = False,
) -> int:
    """Render the report of a finished run again, or of what changed between two.

    Examples:

      workbench report reports/compare-1a2b3c4d

      workbench report reports/new-prompt reports/old-prompt
    """
    path = render(Results.open(run).path, baseline, "" if other is None else Results.open(other).path)
    say_json({"report": str(path)}) if as_json else say(str(path))
    return 0
