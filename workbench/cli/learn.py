"""`workbench lab learn`: weights of your own for the strategy `learned`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from workbench.base.formats import some
from workbench.cli.options import AsJson, Paths, takes
from workbench.cli.output import complain, say, say_json, table
from workbench.evaluation.experiment.spec import Masking
from workbench.lab.learning.learn import learn as learned_from


@takes(Masking)
def learn(
    spec: Masking,
    paths: Paths = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the weights.")] = Path(
        "weights.json"
    ),
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes. None: one a core.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Learn from recordings which lines of a history are needed later; write the weights of the
    strategy `learned`.

    Three small models are fitted: will an exact name be needed (`needed`), does a line tell it
    (`tells`), and does a line state a rule or open work (`states`). `AUC` and calibration are of
    projects left out of the fit: `AUC` .5 is chance, and `error` is how far promised shares are
    from real ones on average.

    Examples:

      workbench lab learn my-sessions/ --out weights.json

      workbench compare other-sessions/ --strategies truncate,learned,learned:weights.json
    """
    weights = learned_from(paths or (), jobs, spec.redaction)
    for line in weights.failed:
        complain(f"workbench: left out: {line}")
    weights.write(out)
    if as_json:
        say_json(weights.document())
        return 0
    say(
        f"Learned from {some(weights.sessions, 'session')} of"
        f" {some(len(weights.projects), 'project')}\n"
    )
    rows = []
    for model, check in weights.checks.items():
        row = {
            "model": model,
            "rows": check.rows,
            "needed": check.needed,
            "auc": "" if check.auc is None else f"{check.auc:.3f}",
            "error": f"{check.error:.4f}",
            "low": "",
            "high": "",
        }
        if check.groups:
            row["low"] = _promised_and_real(check.groups[0])
            row["high"] = _promised_and_real(check.groups[-1])
        rows.append(row)
    if rows:
        heads = {
            "model": "model",
            "rows": "rows",
            "needed": "needed",
            "AUC": "auc",
            "error": "error",
            "lowest tenth: promised, real": "low",
            "highest tenth": "high",
        }
        say(table(rows, heads))
    if weights.doubt:
        complain(f"workbench: {weights.doubt}")
    say(
        f"\nWeights: {out}\nTry them: workbench compare OTHER-SESSIONS --strategies"
        f" truncate,learned,learned:{out}"
    )
    return 0


def _promised_and_real(shares: Sequence[float]) -> str:
    return f"{shares[0]:.3f} {shares[1]:.3f}"
