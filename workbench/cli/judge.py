"""`workbench lab judge`: measurements that ask a model, which sits the exam from each strategy's
context.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from workbench.base.formats import decimal, some
from workbench.cli.ending import warn_of_replicates
from workbench.cli.foresee import Foresight
from workbench.cli.options import AsJson, DryRun, Paths, takes, tell_terms
from workbench.cli.output import FAILED, OK, PENDING, complain, printable, say, say_json, table
from workbench.engine.models import shown_name
from workbench.evaluation.analysis.equal_size import over_target_notes
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.metrics.work_exam.text_kind import TextKind
from workbench.lab.judge.exam.admission import NotAdmitted
from workbench.lab.judge.exam.scores import agreement, agreement_note, scores
from workbench.lab.judge.exam.sitting import ExamResults, ExamSpec, judge_exam
from workbench.lab.judge.work_exam.fit import (
    FitReport,
    asker_errors,
    fit,
    fit_report,
    left_out_chances,
)
from workbench.lab.judge.work_exam.graded_answers import read_answers
from workbench.lab.judge.work_exam.judge_work import judge_work
from workbench.lab.judge.work_exam.scores import readers_agree, work_scores
from workbench.lab.judge.work_exam.spec import WorkSpec

COLUMNS = {
    "strategy": "strategy", "score": "shown", "used": "used:percent",
    "lexical reader": "lexical:decimal", "items": "items",
    "unanswered": "unanswered", "sessions": "sessions",
}  # fmt: skip


@takes(ExamSpec)
def exam(
    spec: ExamSpec, paths: Paths = None, dry_run: DryRun = False, as_json: AsJson = False
) -> int:
    """Let a model sit the exam from each strategy's context: questions about what the agent then
    needed.

    The reader is tested first, on contexts that hold every answer and contexts that hold none. One
    that fails is asked nothing else, and the command ends with 1. An item that the model does not
    answer has no score. Where its provider gave no answer the command ends with 3, and asks again
    next time.

    Examples:

      workbench lab judge exam session.jsonl --model litellm:gpt-4o-mini --strategies
      truncate,summarize

      workbench lab judge exam my-sessions/ --model litellm:gpt-4o-mini --max-dollars 2 --dry-run
    """
    if not spec.quiet:
        tell_terms(spec.model)
        warn_of_replicates(spec.replicates, spec.model)

    reader = f"local:{spec.likelihood}" if spec.reader == "likelihood" else spec.model
    models = [model for model in (reader, spec.writer) if model is not None]
    foresight = Foresight(models, 1, spec.model_settings, dry_run, as_json)
    on_forecast = foresight.before(
        spec.quiet, "the exams, the admission test included", "summaries"
    )
    silent = spec.changed(quiet=spec.quiet or as_json)
    try:
        results = judge_exam(paths or (), spec=silent, before=on_forecast)
    except NotAdmitted as error:
        if as_json:
            say_json({"admission": asdict(error.admission), "why": str(error)})
        else:
            say(f"{printable(str(error))}.")
        return FAILED
    if results is None:
        return OK
    if as_json:
        say_json(_exam_as_json(results))
        return PENDING if results.pending else OK
    _say_exam(results)
    if results.pending:
        complain(f"{printable(results.pending)}; the same command asks again")
        return PENDING
    return OK


def _exam_as_json(results: ExamResults) -> dict[str, object]:
    document = {"table": str(results.path), **results.notes}
    if results.pending:
        document["pending"] = results.pending
    document["strategies"] = [asdict(row) for row in scores(results.table)]
    document["agreement"] = agreement(results.table)
    return document


def _say_exam(results: ExamResults) -> None:
    """Print whether the reader was admitted, then the score of each strategy."""
    say(f"{printable(str(results.notes['admission']))}.\n")
    rows = scores(results.table)
    baseline = next((row.baseline for row in rows if row.baseline), "")
    columns = dict(COLUMNS)
    if baseline:
        columns[f"vs {baseline}"] = "against"
    if any(row.over_target for row in rows):
        columns["larger"] = "larger"
    table_rows = []
    for row in rows:
        cells = asdict(row)
        cells["shown"] = estimated(row.score)
        cells["larger"] = f"in {row.over_target}" if row.over_target else ""
        cells["against"] = estimated(row.difference)
        table_rows.append(cells)
    say(table(table_rows, columns))
    say("\n`score`: 0 is guessing, 1 is every item, with its 95 % interval over projects.")
    if baseline:
        say(
            f"`vs {baseline}`: the score less that of {baseline}, cut to the very sizes that each"
            " strategy used."
        )
    say(agreement_note(agreement(results.table)))
    for line in over_target_notes(results.table):
        say(printable(line))
    say(f"Table: {results.path}")


WORK_COLUMNS = {
    "strategy": "strategy",
    "summaries by": "writer",
    "the work": "work:percent",
    "names": "names:percent",
    "used": "used:percent",
    "contexts": "contexts",
    "not answered": "missing",
}


@takes(WorkSpec, only=[name for name in WorkSpec.fields() if name != "writer"])
def work(
    spec: WorkSpec, paths: Paths = None, dry_run: DryRun = False, as_json: AsJson = False
) -> int:
    """Let models answer written questions about the work, and questions for names, from each
    strategy's context.

    Each request is one context with its questions, so that a reader sees nothing else of the
    session. A grader then grades the replies of all contexts together, in random order, without
    knowing from which context each came. Names are compared in code. Where answers have not come
    the command ends with 3, and asks again next time.

    Examples:

      workbench lab judge work session.jsonl --model litellm:gpt-4o-mini --strategies
      truncate,summarize

      workbench lab judge work my-sessions/ --model folder:readers --grader folder:graders
      --readings 2
    """
    if not spec.quiet:
        tell_terms(spec.model, spec.grader)
    models = [model for model in (spec.model, spec.grader, *spec.writers) if model is not None]
    foresight = Foresight(models, 1, spec.model_settings, dry_run, as_json)
    purposes = ["reading contexts"]
    for writer in spec.writers:
        name = shown_name(writer) if isinstance(writer, str) else writer.name
        purposes.append(f"summaries by {name}")
    on_forecast = foresight.before(spec.quiet, *purposes)
    silent = spec.changed(quiet=spec.quiet or as_json)
    answers = judge_work(paths or (), spec=silent, before=on_forecast)
    if answers is None:
        return OK
    scored_rows = work_scores(answers.table)
    rows = [asdict(row) for row in scored_rows]
    agreement = readers_agree(answers.table)
    if as_json:
        say_json(
            {
                "table": str(answers.path),
                **answers.notes,
                "pending": answers.pending,
                "strategies": rows,
                "agreement": None if agreement is None else asdict(agreement),
            }
        )
        return PENDING if answers.pending else OK
    say(table(rows, with_chains(WORK_COLUMNS, [row.chain for row in scored_rows])))
    say(
        "\n`the work`: mean score of written questions. `names`: share of exact names that a reader"
        " gave."
    )
    if agreement is not None:
        say(str(agreement))
    say(f"Table: {answers.path}")
    if answers.pending:
        complain(f"{some(answers.pending, 'answer')} not there yet; the same command asks again")
        return PENDING
    return OK


FIT_COLUMNS = {
    "size": "share:percent",
    "strategy": "strategy",
    "summaries by": "writer",
    "promised": "promised:decimal",
    "real": "real:decimal",
    "too high by, points": "bias:gap",
    "answers": "answers",
}
KIND_COLUMNS = {
    "contexts of strategies": "kind",
    "promised": "promised:decimal",
    "real": "real:decimal",
    "too high by, points": "bias:gap",
    "answers": "answers",
}
KIND_NAMES: dict[TextKind, str] = {
    "model": "summaries by a model",
    "rule": "summaries by a rule",
    "mixed": "summaries by both",
    "cut": "messages, cut",
}
LEADS_OF = (1, 5, 10, 20)
"""Numbers of projects for which the reader's own error is told."""
Answers = Annotated[list[Path], typer.Argument(help="Folders of `workbench lab judge work`.")]
OtherAskers = Annotated[
    list[Path] | None,
    typer.Option(
        "--other-asker",
        help=(
            "A folder with answers to questions that somebody else wrote: nothing is fitted to"
            " them, and how far the reader is off there becomes part of its error. May be given"
            " several times."
        ),
    ),
]
ReaderFile = Annotated[Path, typer.Option("--out", "-o", help="File for the fitted reader.")]


def fit_to_answers(
    folders: Answers,
    other_askers: OtherAskers = None,
    out: ReaderFile = Path("work_reader.json"),
    as_json: AsJson = False,
) -> int:
    """Fit a reader that asks no model to the answers that real readers gave in `workbench lab judge
    work`.

    Its chances are then held against the answers: each project is left out of the fit in its turn,
    so that no figure is of answers that it was fitted to. AUC .5 is chance. `promised` and `real`
    are means of the chances and the answers.

    Example:

      workbench lab judge fit reports/work --other-asker reports/work-of-others --out
      work_reader.json
    """
    table_of_answers = read_answers(folders)
    report = fit_report(table_of_answers, left_out_chances(table_of_answers))
    counts = {
        "answers": report.answers,
        "contexts": report.contexts,
        "sessions": report.sessions,
        "projects": report.projects,
    }
    asker_folders = other_askers or ()
    by_asker = tuple(
        asker_errors(table_of_answers, read_answers([folder])) for folder in asker_folders
    )
    check = replace(report.left_out, errors=replace(report.errors, by_asker=by_asker))
    reader = fit(table_of_answers, counts, check)
    write_atomically(out, reader.text())
    bias = report.by_context["promised"] - report.by_context["real"]
    rows = report.by_context.assign(bias=bias).to_dict("records")
    kinds = []
    for kind, calibration in check.kinds.items():
        kinds.append({"kind": KIND_NAMES[kind], **asdict(calibration), "bias": calibration.bias})
    bounds: dict[int, float] = {}
    if {"model", "rule"} <= check.kinds.keys():
        for count in LEADS_OF:
            bounds[count] = check.errors.lead_bound("model", "rule", count)
    if as_json:
        say_json(
            {
                **counts,
                "auc": report.auc,
                "order": report.order,
                "strategies": rows,
                "kinds": kinds,
                "model_rule_bounds": bounds,
                "other_askers": by_asker,
                "tenths": [asdict(tenth) for tenth in report.tenths],
            }
        )
        return OK
    sizes = [some(count, name.removesuffix("s")) for name, count in counts.items()]
    say(f"Fitted to {', '.join(sizes)}. Each project was left out of the fit in its turn:\n")
    say(table(rows, with_chains(FIT_COLUMNS, report.by_context["chain"])))
    say("")
    say(table(kinds, KIND_COLUMNS))
    _say_left_out_check(report)
    for folder, errors in zip(asker_folders, by_asker, strict=True):
        _say_asker_errors(folder, errors)
    if bounds:
        phrases = [f"{bound:.2f} over {some(count, 'project')}" for count, bound in bounds.items()]
        say(
            "A smaller lead of a model's text over a rule's may be the reader's own error:"
            f" {', '.join(phrases)}."
        )
    say(f"Reader: {out}")
    return OK


def _say_left_out_check(report: FitReport) -> None:
    """Print how well the chances hold on projects that were left out of the fit."""
    say(
        f"\nOn projects left out of the fit: AUC {report.auc:.2f}, order of strategies"
        f" {report.order:.2f} (Spearman)."
    )
    say("Tenths of the promised chances, promised and real:")
    say("  ".join(f"{tenth.promised:.2f} {tenth.real:.2f}" for tenth in report.tenths))
    say(f"Largest error of a tenth: {report.largest_error:.2f}.")


def _say_asker_errors(folder: Path, errors: Sequence[Mapping[TextKind, float]]) -> None:
    """Print how far the reader is off on questions that somebody else wrote."""
    means = pd.DataFrame(errors).mean()
    phrases = []
    for kind, name in KIND_NAMES.items():
        if kind in means:
            phrases.append(f"{means[kind]:+.2f} for {name}")
    say(f"On the questions of {folder}, promised less real: {', '.join(phrases)}.")


def with_chains(columns: Mapping[str, str], chains: Iterable[int]) -> Mapping[str, str]:
    """The columns, with that of the compactions in a row where any context had more than one."""
    if max(chains, default=1) <= 1:
        return columns
    return {**columns, "compactions": "chain:count"}


def estimated(estimate: Estimate | None) -> str:
    """A mean with its interval, if it has one."""
    if estimate is None:
        return decimal(None)
    if estimate.low is None:
        return decimal(estimate.mean)
    return f"{estimate.mean:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"
