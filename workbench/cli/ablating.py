"""`workbench leave-one-out`."""

from __future__ import annotations

import json
import math
import os
from typing import Annotated

import typer

from workbench.cli.comparing import shares
from workbench.cli.words import say, say_json, table


def leave_one_out(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Recordings: files, folders or patterns. None: the bundled sessions.")
    ] = None,
    strategy: Annotated[str, typer.Option("--strategy", "-s", help="A strategy with several stages.")] = "pipeline",
    window: Annotated[
        int | None, typer.Option("--window", "-w", min=1000, help="Context window, tokens. None: each session's own.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help="Who writes summaries: extractive, litellm:NAME, …")
    ] = "extractive",
    budgets: Annotated[
        str, typer.Option("--shares", help="Budgets at which all compact the same history.")
    ] = "0.1,0.2,0.3,0.5",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Sessions at most.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes. None: one a core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> int:
    """Say what each stage of a strategy is good for: the same strategy without it, on the same sessions.

    An effect is the strategy with the stage less the strategy without it, as a mean over sessions, with its 95 %
    interval where there are sessions enough.

    Examples:

      workbench leave-one-out

      workbench leave-one-out my-sessions/ --strategy ex_athena
    """
    from workbench.analysis.ablation import leave_one_out as run

    found = run(
        paths or (), strategy, window=window, model=model, shares=shares(budgets), limit=limit,
        jobs=jobs or os.cpu_count() or 1, quiet=as_json,
    )  # fmt: skip
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
