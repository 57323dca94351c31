"""`workbench selfcheck`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from workbench.cli.words import say, say_json, table

PASSED, FAILED = 0, 1


def selfcheck(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Recordings: files, folders or patterns. None: the bundled sessions and generated ones."),
    ] = None,
    window: Annotated[
        int | None, typer.Option("--window", "-w", min=1000, help="Context window, tokens. None: each session's own.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Sessions at most.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> int:
    """Check that the measure measures: planted needs are found, foreign futures need nothing, and nobody can cheat.

    Ends with 0 if no check fails, and with 1 if one does.

    Examples:

      workbench selfcheck

      workbench selfcheck my-sessions/ --json
    """
    from workbench.validation.selfcheck import selfcheck as run

    checks = run(paths or (), window=window, limit=limit)
    if as_json:
        say_json([asdict(check) for check in checks])
    else:
        rows = [{"check": check.name, "outcome": check.outcome, "found": check.found} for check in checks]
        say(table(rows, left=("check", "outcome", "found")))
        for check in checks:
            if check.failed:
                say(f"{check.name}: {check.claim}; but:")
                for where in check.where:
                    say(f"  {where}")
    return FAILED if any(check.failed for check in checks) else PASSED
