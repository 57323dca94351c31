"""`workbench validate`: whether the metrics measure what they claim."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from workbench.cli.options import AsJson, Paths, takes
from workbench.cli.output import frame_table, records, say, say_json, table
from workbench.experiment.spec import RunSpec
from workbench.validation.adversaries import search
from workbench.validation.answers.agreement import agreement, by_category
from workbench.validation.answers.exams import verdicts
from workbench.validation.answers.records import graded
from workbench.validation.planted_errors import planted_errors
from workbench.validation.selfcheck import selfcheck, sessions_of

PASSED, FAILED = 0, 1


@takes(RunSpec, only=("window", "limit"))
def validate(spec: RunSpec, paths: Paths = None, as_json: AsJson = False) -> int:
    """Validate the metrics: planted needs are found, unrelated futures need nothing, and no strategy can cheat.

    Without recordings it takes the bundled sessions and generated ones. Ends with 0 if no check fails, else with 1.

    Examples:

      workbench validate

      workbench validate my-sessions/ --json
    """
    checks = selfcheck(paths or (), window=spec.window, limit=spec.limit)
    if as_json:
        say_json([asdict(check) for check in checks])
    else:
        say(table(map(asdict, checks), {"check": "name", "outcome": "outcome", "found": "found"}))
        for check in checks:
            if check.failed:
                say("\n  ".join((f"{check.name}: {check.claim}; but:", *check.where)))
    return FAILED if any(check.failed for check in checks) else PASSED


def answers(
    path: Annotated[Path, typer.Argument(help="Folder or file with graded answers; see docs/validity.md.")],
    as_json: AsJson = False,
) -> int:
    """Compare the metrics with graded answers of real models: agreement a question, AUC, rank and sign of contexts.

    Examples:

      workbench validate answers graded/native-vs-text

      workbench validate answers my-answers.jsonl --json
    """
    rows = verdicts(graded(path))
    _show({"metrics": agreement(rows), "agreement by category": by_category(rows)}, as_json)
    return PASSED


def errors(seeds: Annotated[int, typer.Option(help="Histories to generate.")] = 5, as_json: AsJson = False) -> int:
    """Plant errors of known kinds in true summaries: stale, reversed, negated, swapped. Count which each metric finds.

    `intact` is the share of true statements that the metric accepts; the other rows are the share of errors found.

    Examples:

      workbench validate errors --seeds 5
    """
    rows = verdicts(planted_errors(range(1, seeds + 1)))
    _show({"found": by_category(rows)}, as_json)
    return PASSED


@takes(RunSpec, only=("window", "limit"))
def gamers(spec: RunSpec, paths: Paths = None, as_json: AsJson = False) -> int:
    """Try a family of contexts that are made to please a measure, beside truncate, summarize and the references.

    Examples:

      workbench validate gamers

      workbench validate gamers my-sessions/ --limit 5
    """
    found = search(sessions_of(paths or (), spec.window, spec.limit))
    _show({f"{share:.0%} of the history": rows for share, rows in found.groupby("share")}, as_json)
    return PASSED


def _show(tables: dict[str, pd.DataFrame], as_json: bool) -> None:
    """Tables under their titles, or all of them as one JSON object."""
    if as_json:
        say_json({title: records(rows) for title, rows in tables.items()})
        return
    for title, rows in tables.items():
        say(f"{title}\n{frame_table(rows)}\n")
