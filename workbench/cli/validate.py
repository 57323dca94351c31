"""`workbench validate`: whether the metrics measure what they claim."""

from __future__ import annotations

from dataclasses import asdict

from workbench.cli.options import AsJson, Paths, takes
from workbench.cli.output import say, say_json, table
from workbench.experiment.spec import RunSpec
from workbench.validation.selfcheck import selfcheck

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
