"""`workbench lab exam`: written exams of the work, kept beside the sessions that they are about."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.cli.foresee import Foresight
from workbench.cli.options import AsJson, DryRun, Paths, takes, tell_terms
from workbench.cli.output import FAILED, OK, PENDING, complain, printable, say, say_json, table
from workbench.engine.transcript.message import Message
from workbench.engine.transcript.redaction import masker
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.sources import readable_sessions, sources_of
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.question import SessionExams, WorkExam, WorkQuestion
from workbench.lab.judge.work_exam.write import ExamOutcome, WriteSpec, write_exams

WRITTEN = {
    "session": "session", "boundary": "at", "questions": "questions", "refused": "refused", "kinds": "kinds",
    "status": "status",
}  # fmt: skip
ExamFolder = Annotated[
    Path | None,
    typer.Option("--exams", help="Folder of written exams. None: beside each recording."),
]


@takes(WriteSpec)
def write(
    spec: WriteSpec, paths: Paths = None, dry_run: DryRun = False, as_json: AsJson = False
) -> int:
    """Have a model write questions about how the work stands, for each boundary of each session.

    The model reads the history and what came next. Each question is checked before it is kept: its
    quote stands in the history, its points do not stand in the question, the newest request alone
    does not answer it, and no other question gives it away. An exam that is there already is not
    written again. The command ends with 3 where the model's provider gave no answer; the same
    command asks again.

    Examples:

      workbench lab exam write my-sessions/ --model litellm:gpt-4o-mini --max-dollars 2

      workbench lab exam write session.jsonl --model litellm:gpt-4o-mini --boundaries 0.5 --dry-run
    """
    if not spec.quiet:
        tell_terms(spec.model)
    models = [] if spec.model is None else [spec.model]
    foresight = Foresight(models, 1, spec.model_settings, dry_run, as_json)
    on_forecast = foresight.before(spec.quiet, "the questions of the exams")
    silent = spec.changed(quiet=spec.quiet or as_json)
    outcomes = write_exams(paths or (), spec=silent, before=on_forecast)
    if outcomes is None:
        return OK
    if as_json:
        say_json([_plain(outcome) for outcome in outcomes])
    else:
        _say_outcomes(outcomes)
    for reason in dict.fromkeys(outcome.why for outcome in outcomes):
        if reason:
            complain(f"workbench: {printable(reason)}")
    pending_count = sum(outcome.pending for outcome in outcomes)
    if pending_count:
        complain(
            f"{some(pending_count, 'exam')} of {len(outcomes)} not written yet; the same command"
            " asks again"
        )
        return PENDING
    return FAILED if any(outcome.exam is None for outcome in outcomes) else OK


def _say_outcomes(outcomes: Sequence[ExamOutcome]) -> None:
    """Print a row for each exam, and the files that hold them."""
    rows = [_row(outcome) for outcome in outcomes]
    say(table(rows, WRITTEN))
    files = []
    for outcome in outcomes:
        if outcome.exam is not None and outcome.place.file not in files:
            files.append(outcome.place.file)
    for file in files:
        say(f"Exams: {file}")


@takes(Masking)
def show(
    spec: Masking, paths: Paths = None, exams: ExamFolder = None, as_json: AsJson = False
) -> int:
    """Show the written exams of sessions: each question with its answer, its points, and the line
    that shows it.

    Examples:

      workbench lab exam show session.jsonl

      workbench lab exam show my-sessions/ --exams my-exams/ --json
    """
    mask = masker(spec.redaction)
    sessions_with_exams = list(_written_exams(paths or (), exams))
    if as_json:
        documents = [asdict(session_exams) for _, session_exams in sessions_with_exams]
        text = mask(json.dumps(documents, ensure_ascii=False))
        say_json(json.loads(text))
        return OK
    if not sessions_with_exams:
        raise SettingError(
            "no written exam was found; `workbench lab exam write` has a model write some"
        )
    for session, session_exams in sessions_with_exams:
        for exam in session_exams.exams:
            say(mask(f"{printable(session.heading)}, message {exam.at}: {_heading(exam)}"))
            for number, question in enumerate(exam.questions, 1):
                say(mask("\n".join(_lines(number, question, session.messages))))
            say()
    return OK


def _written_exams(
    paths: Sequence[str], folder: Path | None
) -> Iterator[tuple[Session, SessionExams]]:
    """Each session that has written exams, with them."""
    for source in sources_of(paths):
        for session in readable_sessions(source):
            session_exams = exams_of(session, folder)
            if session_exams is not None:
                yield session, session_exams


def _heading(exam: WorkExam) -> str:
    when = f", {exam.written}" if exam.written else ""
    return f"{some(len(exam.questions), 'question')} by {printable(exam.writer)}{when}"


def _lines(number: int, question: WorkQuestion, messages: Sequence[Message]) -> Iterator[str]:
    yield f"{number:3}. [{question.kind}] {printable(question.question)}"
    yield f"     answer: {printable(question.gold)}"
    yield f"     points: {printable('; '.join(question.points))}"
    yield (
        f"     message {question.evidence.message}: {printable(question.evidence.quote(messages))}"
    )


def _row(outcome: ExamOutcome) -> dict[str, object]:
    exam = outcome.exam
    if exam is None:
        status = "pending" if outcome.pending else "failed"
        return {"session": outcome.place.session.id, "at": outcome.place.at, "status": status}
    kinds = Counter(question.kind for question in exam.questions)
    return {
        "session": outcome.place.session.id,
        "at": exam.at,
        "questions": len(exam.questions),
        "refused": exam.refused,
        "kinds": ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()),
        "status": "written" if outcome.is_new else "was there",
    }


def _plain(outcome: ExamOutcome) -> dict[str, object]:
    refusals = [asdict(refusal) for refusal in outcome.refusals]
    return {
        **_row(outcome),
        "file": str(outcome.place.file),
        "refusals": refusals,
        "why": outcome.why,
    }
