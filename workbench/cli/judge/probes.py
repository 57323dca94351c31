"""`workbench judge probes`: questions that a model answers from each strategy's context."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.judge.over_target import say_over_target, table_with_larger
from workbench.cli.judge.variance import say_answers
from workbench.cli.options import AsJson, Paths, takes, tell_terms
from workbench.cli.output import printable, say, say_json, table
from workbench.cli.runs import warn_of_replicates
from workbench.formats import interval, percent
from workbench.judge.probes.accuracy import (
    LABELS,
    Accuracy,
    accuracies,
    judged_note,
    labelled,
    rubric_means,
    splits,
    steadiness,
)
from workbench.judge.probes.answers import ProbeSpec, probe
from workbench.judge.probes.judge import DIMENSIONS, RUBRIC_NOTE

COLUMNS = {
    "strategy": "strategy", "right": "right:percent", "right, judged": "judged", "open": "open:percent",
    "not stated": "abstained:percent", "stale": "stale:percent", "in context": "present:percent", "answers": "asked",
    "unusable": "unusable", "sessions": "sessions",
}  # fmt: skip


@takes(ProbeSpec, reader="local")
def probes(
    spec: ProbeSpec,
    paths: Paths = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="A person's labels of the judge. None: those in the folder.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Ask a model questions about each strategy's context: one at a time, answered from that context alone.

    Questions come from annotations beside a session and from rules. Answers are scored by rule; what no rule can score
    stays open, unless a judge rules on it and a person has labelled 50 of its rulings.

    With --replicates the noise of the answers is split into session, question and reader.

    Examples:

      workbench judge probes session.jsonl --reader litellm:gpt-4o-mini --strategies truncate,summarize

      workbench judge probes session.jsonl --reader litellm:gpt-4o-mini --replicates 3
    """
    if not spec.quiet:
        tell_terms(spec.reader, spec.judge, spec.maker, spec.rubric)
        warn_of_replicates(spec.replicates, spec.reader)
    done = probe(paths or (), spec=spec.changed(quiet=spec.quiet or as_json))
    known = labelled(labels or done.path / LABELS, done.table)
    rows = accuracies(done.table, known)
    scores = rubric_means(done.table, DIMENSIONS) if spec.rubric else []
    noise = splits([done]) if spec.replicates > 1 else []
    if as_json:
        told = [asdict(row) for row in rows]
        say_json({"table": str(done.path), **done.notes, "strategies": told, "rubric": scores, "variance": noise})
        return 0
    say(table_with_larger([{**asdict(row), "judged": _judged(row)} for row in rows], COLUMNS))
    say(f"\nAnswers by {printable(str(done.notes['reader']))}, a mean over sessions. `right`: by rule, the least that")
    say("is right. `in context`: the answer stands there in so many words. Unusable answers count for nothing.")
    say_over_target(done.table)
    say(judged_note(known, rows))
    steady = steadiness(done.table)
    if steady is not None:
        say(f"The judge said the same with the answers swapped in {percent(steady)} of its rulings.")
    if scores:
        say(f"\n{table(scores, {name: name if name == 'strategy' else f'{name}:decimal' for name in scores[0]})}")
        say(RUBRIC_NOTE)
    if noise:
        say()
        say_answers(noise)
    say(f"Table: {done.path}")
    return 0


def _judged(row: Accuracy) -> str:
    if row.share is None:
        return percent(None)
    return f"{percent(row.share.value)} ({interval(row.share.low, row.share.high, percent)})"
