"""`workbench lab judge losses`: a model looks at the losses of a finished run, and marks them."""

from collections import Counter
from dataclasses import asdict

from workbench.base.formats import joined, some
from workbench.cli.foresee import Foresight
from workbench.cli.options import AsJson, DryRun, Run, takes, tell_terms
from workbench.cli.output import FAILED, OK, PENDING, complain, printable, say, say_json, table
from workbench.evaluation.experiment.run_notes import LEFT_OUT
from workbench.lab.judge.losses.judge_losses import JudgedLosses, judge_losses
from workbench.lab.judge.losses.spec import LossSpec

COLUMNS = {"what": "what", "kind": "kind", "mark": "mark", "why": "why"}
LONGEST = 60
"""Characters of a lost thing that a row shows."""


@takes(LossSpec)
def losses(spec: LossSpec, run: Run, dry_run: DryRun = False, as_json: AsJson = False) -> int:
    """Let a model look at the losses of a finished run, and mark those that were no need.

    The model reads a page a loss: the thing, where it was stated, what of it is still sent, and its
    use. What it calls not needed leaves what was lost and what is kept of each kind, with a note.
    Each mark says who made it and why; a mark of yours in `workbench view` stands over it. A loss
    stays unmarked where two answers in a row cannot be used. Where answers have not come the
    command ends with 3, and asks again next time.

    Examples:

      workbench lab judge losses reports/compare-1a2b3c4d --model litellm:gpt-4o-mini --dry-run

      workbench lab judge losses reports/compare-1a2b3c4d --model folder:readers --limit 20
    """
    if not spec.quiet:
        tell_terms(spec.model)
    models = [] if spec.model is None else [spec.model]
    foresight = Foresight(models, 1, spec.model_settings, dry_run, as_json)
    on_forecast = foresight.before(spec.quiet, "looking at losses")
    silent = spec.changed(quiet=spec.quiet or as_json)
    judged = judge_losses(run, spec=silent, before=on_forecast)
    if judged is None:
        return OK
    if as_json:
        say_json(_plain(judged))
    elif judged.outcomes:
        _say_marks(judged)
    else:
        say("No listed loss is without a mark, so nothing was asked; --again looks at all.")
    problems = Counter(outcome.problem for outcome in judged.outcomes if outcome.mark is None)
    for problem, count in problems.most_common():
        complain(f"{some(count, 'loss', 'losses')} without a mark: {printable(problem)}")
    if judged.pending:
        complain(
            f"{some(judged.pending, 'loss', 'losses')} of {len(judged.outcomes)} not looked at yet;"
            " the same command asks again"
        )
        return PENDING
    return FAILED if judged.outcomes and not judged.counts else OK


def _plain(judged: JudgedLosses) -> dict[str, object]:
    return {
        "run": str(judged.path),
        "model": judged.model,
        "marks": judged.counts,
        "unmarked": judged.unmarked,
        "pending": judged.pending,
        "losses": [asdict(outcome) for outcome in judged.outcomes],
    }


def _say_marks(judged: JudgedLosses) -> None:
    """Print how many losses have each mark, and those that leave the figures."""
    rows = []
    for outcome in judged.outcomes:
        mark = outcome.mark
        if mark is None or mark.mark not in LEFT_OUT:
            continue
        reason = f"{mark.reason}: {mark.sentence}" if mark.reason else mark.sentence
        what = printable(outcome.entity)[:LONGEST]
        rows.append(
            {"what": what, "kind": outcome.kind, "mark": mark.mark, "why": printable(reason)}
        )
    if rows:
        say(f"{table(rows, COLUMNS)}\n")
    parts = [f"{count} {mark}" for mark, count in judged.counts.most_common()]
    if judged.unmarked:
        parts.append(f"{judged.unmarked} unmarked")
    if not parts:
        return
    total = some(len(judged.outcomes), "loss", "losses")
    say(f"{printable(judged.model)} looked at {total}: {joined(parts)}.")
    say(
        f"`workbench view {printable(str(judged.path))}` shows each mark with its reason; yours"
        " stands over it. `workbench runs report` renders the report with the marks."
    )
