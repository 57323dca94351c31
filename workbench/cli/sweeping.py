"""`workbench sweep`: a grid of settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.forecasting import tell_forecast
from workbench.cli.model_settings import (
    Cache,
    CacheOnly,
    Concurrency,
    MaxDollars,
    NoCache,
    OnBad,
    model_settings,
    tell_terms,
)
from workbench.cli.notes import tell_notes, warn_of_replicates
from workbench.cli.words import complain, count, percent, say, say_json, share, table

if TYPE_CHECKING:
    import pandas as pd

    from workbench.experiment.grid import Grid

FAILED_REPLAY, UNUSABLE = 1, 2


def sweep(
    grid: Annotated[Path, typer.Argument(help="A TOML file with the values to try; docs/runs.md describes it.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run. None: reports/sweep-….")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes. None: one a core.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler whose workers do the work.")
    ] = None,
    replicates: Annotated[
        int,
        typer.Option("--replicates", min=1, help="Ask models that vary so many times; seeds count on from the grid's."),
    ] = 1,
    cache: Cache = None,
    no_cache: NoCache = False,
    cache_only: CacheOnly = False,
    max_dollars: MaxDollars = None,
    concurrency: Concurrency = None,
    on_bad_summary: OnBad = "fallback",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="List the points and say what they would take: replays, requests, dollars. Ask nothing."
        ),
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write the tables, but render no report.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
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
    from workbench.experiment.grid import read
    from workbench.experiment.sweep import forecast
    from workbench.experiment.sweep import sweep as run

    wanted = read(grid)
    given: dict[str, Any] = {
        "out": out, "jobs": jobs or os.cpu_count() or 1, "scheduler": scheduler, "quiet": quiet or as_json,
        "model_settings": model_settings(cache, no_cache, cache_only, max_dollars, concurrency, on_bad_summary),
    }  # fmt: skip
    if dry_run:
        if not as_json:
            _list_points(wanted)
        return tell_forecast(forecast(wanted, **given), as_json, replicates, {"points": _points(wanted)})
    for model in wanted.models:
        tell_terms(model)
        warn_of_replicates(model, replicates)
    results = run(wanted, replicates=replicates, **given)
    tell_notes(results)
    if not (results.replays["status"] == "ok").any():
        complain("workbench: no session could be replayed; `workbench list formats` shows what can be read")
        return UNUSABLE
    if not no_report:
        from workbench.report import render

        render(results.path)
    from workbench.analysis.sweep import sweep_table

    points = sweep_table(results)
    if as_json:
        say_json(
            {
                "run": str(results.path),
                "report": None if no_report else str(results.report),
                "failed_replays": results.failed,
                "points": points.astype(object).where(points.notna(), None).to_dict("records"),
            }
        )
    elif not quiet:
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
    for point in points.astype(object).where(points.notna(), None).to_dict("records"):
        row = {"point": str(point["strategy"]), "still knows": share(_float(point["recall"]))}
        for column in budgets:
            row[f"still knows at {float(str(column).removeprefix('recall_at_')):.0%}"] = share(_float(point[column]))
        row |= {
            "tokens saved": percent(_float(point["tokens_saved"])),
            "peak tokens": count(_float(point["peak_context"])),
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


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
