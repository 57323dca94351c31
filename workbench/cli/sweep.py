"""`workbench lab sweep` and `workbench lab ablate`: a strategy under other settings, and without
a stage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from workbench.cli.ending import answered, code_of_figures, finish, warn_of_replicates
from workbench.cli.foresee import Foresight, tell_forecast
from workbench.cli.headline import page, show_places, show_sizes
from workbench.cli.headline_notes import size_notes
from workbench.cli.options import AsJson, DryRun, NoReport, Paths, takes, tell_terms, tell_waiting
from workbench.cli.output import (
    OK,
    PENDING,
    UNUSABLE,
    frame_table,
    records,
    say,
    say_json,
    table,
    while_read,
    without_twins,
    write,
)
from workbench.evaluation.analysis.ablation import leave_one_out
from workbench.evaluation.experiment.grid import Point, read
from workbench.evaluation.experiment.spec import Execution, Masking, RunSpec
from workbench.evaluation.experiment.sweep import forecast
from workbench.evaluation.experiment.sweep import sweep as run_of
from workbench.evaluation.findings import Findings
from workbench.evaluation.metrics import HALVES
from workbench.report.page.sweep import shared_words, sweep_table

COLUMNS = {
    "window used": "window", "tokens saved": "tokens_saved:percent",
    "peak tokens": "peak_context:amount", "compactions": "compactions:count",
    "sessions": "rests on", "unbeaten": "unbeaten",
}  # fmt: skip


class SweepOptions(Masking, Execution):
    """How a sweep is done, and whether its sessions are masked, whatever its file says."""


@takes(SweepOptions, jobs=None)
def sweep(
    spec: SweepOptions,
    grid: Annotated[
        Path, typer.Argument(help="TOML file with the values to try; docs/runs.md describes it.")
    ],
    replicates: Annotated[
        int | None,
        typer.Option("--replicates", help="Repeat points whose model varies this often."),
    ] = None,
    dry_run: DryRun = False,
    no_report: NoReport = False,
    as_json: AsJson = False,
) -> int:
    """Replay sessions under every combination of strategies, settings, windows and models, and
    report the grid.

    A grid.toml such as

      strategies = ["truncate", "summarize"]

      windows = [32000, 64000]

      [settings.summarize]

      trigger.threshold = [0.7, 0.8, 0.9]

    has 8 points. The same command resumes a stopped run, and computes no replay twice.

    Examples:

      workbench lab sweep grid.toml --dry-run

      workbench lab sweep grid.toml --out reports/windows --jobs 4

      workbench lab sweep grid.toml --max-dollars 2 --replicates 3
    """
    grid_spec = read(grid)
    if spec.redact:
        grid_spec = grid_spec.changed(redact=True, unmasked=spec.unmasked)
    quiet = spec.quiet or as_json
    settings = {name: getattr(spec, name) for name in Execution.model_fields}
    settings |= {"quiet": quiet, "replicates": replicates}
    points = grid_spec.points()
    if not dry_run:
        tell_terms(*grid_spec.models)
        warn_of_replicates(replicates or grid_spec.replicates, *grid_spec.models)
    elif not as_json:
        _say_points(points)
    foresight = Foresight(grid_spec.models, spec.jobs, spec.model_settings, dry_run, as_json)
    tells_forecast = dry_run or (foresight.asks and not spec.quiet)
    if tells_forecast:
        plain_points = [asdict(point) for point in points]
        run_forecast = forecast(grid_spec, **settings)
        if not tell_forecast(foresight, run_forecast, {"points": plain_points}):
            return OK
    results = run_of(grid_spec, **settings)
    code = finish(results)
    if code == PENDING:
        tell_waiting(*grid_spec.models)
    if code == UNUSABLE:
        return code
    point_table = sweep_table(results)
    findings = Findings.of(results)
    code = code_of_figures(code, findings)
    if not quiet:
        _show(point_table, findings)
    report = page(results, findings, no_report, quiet=quiet)
    if as_json:
        decision = findings.decision
        say_json(
            {
                "run": str(results.path),
                "report": report,
                **answered(results),
                "points": records(point_table),
                "decision": decision and asdict(decision),
            }
        )
    elif not spec.quiet:
        show_places(results, report)
    return code


def _say_points(points: Sequence[Point]) -> None:
    """Print the points of the grid, and how many runs of the references they need."""
    combinations = {(point.window, point.model) for point in points}
    say("\n".join(point.strategy for point in points))
    say(
        f"{len(points)} points and, for each of {len(combinations)} combinations of window and"
        " model, none and null.\n"
    )


@takes(
    RunSpec,
    only=(
        "window",
        "model",
        "shares",
        "limit",
        "seed",
        "redact",
        "unmasked",
        "model_settings",
        "jobs",
        "quiet",
    ),
    jobs=None,
)
def ablate(
    spec: RunSpec,
    paths: Paths = None,
    strategy: Annotated[
        str, typer.Option("--strategy", "-s", help="A strategy with several stages.")
    ] = "pipeline",
    as_json: AsJson = False,
) -> int:
    """Measure each stage's contribution: the same strategy with and without it, on the same
    sessions.

    An effect is the strategy with the stage minus the strategy without it, as a mean over sessions,
    with its 95 % interval where there are enough sessions.

    Examples:

      workbench lab ablate

      workbench lab ablate my-sessions/ --strategy ex_athena
    """
    effects = leave_one_out(paths or (), strategy, spec=spec.changed(quiet=spec.quiet or as_json))
    if as_json:
        say_json(records(effects))
    else:
        say(frame_table(effects))
    return OK


@while_read()
def _show(points: pd.DataFrame, findings: Findings) -> None:
    rows = []
    for row in records(points):
        cells = {
            **row,
            "window": _window(row),
            "rests on": f"{row['sessions']} of {row['of']}",
            "unbeaten": "yes" if row["on_frontier"] else "",
        }
        rows.append(cells)
    say("Each on its own trigger:\n")
    half = HALVES[findings.tables.leading("natural")]
    columns = {"point": "strategy", half: "recall:percent", **COLUMNS}
    lines, notes_on_lines = without_twins(rows, columns)
    say(table(lines, columns))
    for text in notes_on_lines:
        write(text)
    say(
        "\nUnbeaten: no other point keeps at least as much and saves at least as much, and one of"
        " the two more."
    )
    say(f"{half.capitalize()} and tokens saved are means over {shared_words(points)}.")
    show_sizes(findings)
    for note in size_notes(findings.tables):
        write(note)
    _say_choice(findings)


def _say_choice(findings: Findings) -> None:
    """Print which point to use and what that trades."""
    decision = findings.decision
    if decision is None:
        write("Which one: no point has a figure, so there is nothing to choose.")
        return
    write(f"Which one: {decision.recommendation}", "bold")
    for text in (decision.trade_off, decision.by_price, decision.confidence):
        if text:
            write(text)


def _window(row: Mapping[str, object]) -> str:
    """The windows that a point's sessions were replayed in."""
    ends = [f"{row[name]:,}" for name in ("window_least", "window_most") if row[name] is not None]
    return " to ".join(dict.fromkeys(ends))
