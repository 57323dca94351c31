"""`workbench sweep`: a grid of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from workbench.analysis.sweep import sweep_table
from workbench.cli.forecast import show_forecast
from workbench.cli.notes import tell_notes, warn_of_replicates
from workbench.cli.options import AsJson, NoReport, takes, tell_terms
from workbench.cli.output import complain, count, number, percent, records, say, say_json, share, table
from workbench.experiment.grid import Grid, read
from workbench.experiment.spec import Execution
from workbench.experiment.sweep import forecast
from workbench.experiment.sweep import sweep as run_of
from workbench.report import render

FAILED_REPLAY, UNUSABLE = 1, 2


@takes(Execution, jobs=None)
def sweep(
    spec: Execution,
    grid: Annotated[Path, typer.Argument(help="TOML file with the values to try; docs/runs.md describes it.")],
    replicates: Annotated[
        int | None, typer.Option("--replicates", help="Repeat points whose model varies this often.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the points and predict replays, requests, dollars. Ask nothing.")
    ] = False,
    no_report: NoReport = False,
    as_json: AsJson = False,
) -> int:
    """Replay sessions under every combination of strategies, settings, windows and models, and report the grid.

    A grid.toml such as

      strategies = ["truncate", "summarize"]

      windows = [32000, 64000]

      [settings.summarize]

      trigger.threshold = [0.7, 0.8, 0.9]

    has 8 points. The same command goes on where it was stopped, and computes no replay twice.

    Examples:

      workbench sweep grid.toml --dry-run

      workbench sweep grid.toml --out reports/windows --jobs 4

      workbench sweep grid.toml --max-dollars 2 --replicates 3
    """
    wanted = read(grid)
    times = wanted.replicates if replicates is None else replicates
    silent = dict(spec.changed(quiet=spec.quiet or as_json))
    if dry_run:
        if not as_json:
            _list_points(wanted)
        return show_forecast(forecast(wanted, replicates=replicates, **silent), as_json, {"points": _points(wanted)})
    tell_terms(*wanted.models)
    for model in wanted.models:
        warn_of_replicates(model, times)
    results = run_of(wanted, replicates=replicates, **silent)
    tell_notes(results)
    if not (results.replays["status"] == "ok").any():
        complain("workbench: no session could be replayed; `workbench list formats` shows what can be read")
        return UNUSABLE
    if not no_report:
        render(results.path)
    points = sweep_table(results)
    if as_json:
        report = None if no_report else str(results.report)
        say_json(
            {"run": str(results.path), "report": report, "failed_replays": results.failed, "points": records(points)}
        )
    elif not spec.quiet:
        _show(points)
        say(f"Tables: {results.path}" if no_report else f"Report: {results.report}")
    return FAILED_REPLAY if results.failed else 0


def _points(grid: Grid) -> list[dict[str, object]]:
    return [{"strategy": one.name, "base": one.base, "window": one.window, "model": one.model,
             "settings": dict(one.settings)} for one in grid.points()]  # fmt: skip


def _list_points(grid: Grid) -> None:
    points = grid.points()
    for one in points:
        say(one.name)
    runs = len({(one.window, one.model) for one in points})
    say(f"{len(points)} points, and the references none and null for each of {runs} combinations of window and model.")
    say()


def _show(points: pd.DataFrame) -> None:
    rows = []
    budgets = [column for column in points if str(column).startswith("recall_at_")]
    for point in records(points):
        row = {"point": str(point["strategy"]), "still knows": share(number(point["recall"]))}
        for column in budgets:
            row[f"still knows at {float(str(column).removeprefix('recall_at_')):.0%}"] = share(number(point[column]))
        row |= {
            "tokens saved": percent(number(point["tokens_saved"])),
            "peak tokens": count(number(point["peak_context"])),
            "compactions": "-" if point["compactions"] is None else f"{point['compactions']:.1f}",
            "sessions": _rests_on(point["sessions"], point["of"]),
            "unbeaten": "yes" if point["on_frontier"] else "",
        }
        rows.append(row)
    say(table(rows, left=["point", "unbeaten"]))
    say()
    say("Unbeaten: no other point keeps at least as much and saves at least as much, and one of the two more.")
    say("Kept and tokens saved are means over the same sessions: those that have both figures.")


def _rests_on(sessions: object, of: object) -> str:
    return f"{of}" if sessions == of else f"{sessions} of {of}"
