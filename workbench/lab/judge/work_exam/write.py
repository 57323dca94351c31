"""Writes the exams of the work of sessions: one request to a model a boundary, checked, and kept
beside the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Unpack

from pydantic import Field

from workbench.base.errors import ModelError, SettingError
from workbench.engine.models import require_language_model
from workbench.engine.models.model import Model, SummaryRequest
from workbench.engine.models.settings import ModelSettings
from workbench.engine.transcript.redaction import redaction as redaction_of
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.filler import FillerModel, ModelUse
from workbench.evaluation.experiment.progress import progress
from workbench.evaluation.experiment.settings import MaskingSettings, ShareList
from workbench.evaluation.experiment.sources import (
    SessionSource,
    What,
    readable_sessions,
    sources_of,
)
from workbench.evaluation.experiment.spec import Masking, model_name
from workbench.evaluation.experiment.spec_fields import (
    Flag,
    Read,
    Whole,
    one_model,
    read_boundaries,
)
from workbench.evaluation.metrics.work_exam.checks import Refusal, checked
from workbench.evaluation.metrics.work_exam.document import (
    exams_text,
    file_beside,
    file_in,
    read_exams,
)
from workbench.evaluation.metrics.work_exam.question import SessionExams, WorkExam, opening_digest
from workbench.evaluation.replays.boundaries import at_shares
from workbench.lab.judge.work_exam.writer import question_request, written_questions

CHARS_PER_TOKEN = 4
FEWEST = 5
"""Questions that an exam needs."""


def _places_of_exams(value: object) -> tuple[float, ...]:
    boundaries = read_boundaries(value)
    if isinstance(boundaries, str):
        raise ValueError("it must be a list of shares or message numbers")
    return boundaries


class WriteSpec(Masking):
    """Which exams are written, and by which model."""

    model: Annotated[str | Model | None, Read(lambda model: model and one_model(model))] = Field(
        None,
        description=(
            "Model that writes the questions: litellm:NAME, command:..., folder:PATH or your own."
        ),
    )
    boundaries: Annotated[tuple[float, ...], Read(_places_of_exams)] = Field(
        (0.35, 0.5, 0.65, 0.8),
        description="Where an exam is written: shares or numbers of messages.",
    )
    questions: Whole = Field(
        14, ge=1, le=40, description="Questions to ask the model for at a boundary."
    )
    history_tokens: Whole | None = Field(
        None,
        ge=1000,
        description="Show the writer about this much of a history at most; None shows it whole.",
    )
    writer: str = Field(
        "", description="Who wrote, for readers of the exam; empty takes the model's name."
    )
    again: Flag = Field(False, description="Write exams anew that are there already.")
    limit: Whole | None = Field(None, ge=1, description="Use at most this many sessions.")
    out: Path | None = Field(
        None,
        description=(
            "Folder for the exams; None writes each beside its recording, as FILE.exam.json."
        ),
    )
    model_settings: ModelSettings | None = Field(
        None,
        description=(
            "Cache and limits under which models are asked; None takes the usual cache and no"
            " limits."
        ),
    )
    quiet: Flag = Field(False, description="Show neither progress nor the figures; warnings stay.")

    @property
    def how(self) -> ModelSettings:
        """How the model is asked; limits count for the folder of the exams unless another run is
        named.
        """
        return ModelSettings.of_run(self.model_settings, self.out or Path("exams"))

    def question_writer(self) -> Model:
        """The model that writes.

        Raises:
            SettingError: there is none, or it is no language model.
        """
        if self.model is None:
            raise SettingError(
                "questions are written by a model; name one, such as --model litellm:gpt-4o-mini"
            )
        require_language_model(model_name(self.model))
        return self.how.model(self.model)


class WriteSettings(MaskingSettings, total=False):
    """The fields of `WriteSpec` as a caller may give them."""

    model: str | Model | None
    boundaries: ShareList
    questions: int
    history_tokens: int | None
    writer: str
    again: bool
    limit: int | None
    out: str | Path | None
    model_settings: ModelSettings | None
    quiet: bool


@dataclass(frozen=True, slots=True)
class ExamPlace:
    """A boundary of a session for which an exam is to be written, and the file in which it is
    kept.
    """

    session: Session
    at: int
    file: Path


@dataclass(frozen=True, slots=True)
class ExamOutcome:
    """What became of one exam.

    Attributes:
        exam: None where it was not written; `why` then says why.
        is_new: whether it was written now.
        pending: whether the model's provider gave no answer, so that the same call asks again.
    """

    place: ExamPlace
    exam: WorkExam | None = None
    is_new: bool = False
    refusals: tuple[Refusal, ...] = ()
    why: str = ""
    pending: bool = False


@documented(WriteSpec)
def write_exams(
    what: What = (),
    *,
    spec: WriteSpec | None = None,
    before: Callable[[Sequence[ModelUse]], bool] = lambda forecast: True,
    **settings: Unpack[WriteSettings],
) -> list[ExamOutcome] | None:
    """Have a model write the exam of the work for each boundary of sessions.

    The model reads the history and what came next, and writes questions on goal, state, decisions,
    findings, rules, next step, failures, unverified claims and dead ends. Each question is checked
    in code before it is kept.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        spec: a specification made before; further settings change it.
        before: receives the forecast before anything is asked; false stops there.
        **settings: the fields of `WriteSpec`; `model` is needed.

    Returns:
        The outcome of each boundary, those with an exam from before among them; None if `before`
        stopped it.

    Raises:
        SettingError: no model, a session in memory without `out`, or no session with a boundary
            worth an exam.
    """
    spec = WriteSpec.of(spec, settings)
    model = spec.question_writer()
    places = list(_places(what, spec))
    if not places:
        raise SettingError("no session has enough messages before and after a boundary for an exam")
    missing = [place for place in places if spec.again or _present_exam(place) is None]
    if not before([_forecast(missing, spec)]):
        return None
    outcomes = []
    with progress(len(places), "writing", "exam", quiet=spec.quiet) as bar:
        for place in places:
            existing_exam = None if spec.again else _present_exam(place)
            outcomes.append(
                ExamOutcome(place, existing_exam) if existing_exam else _write(place, model, spec)
            )
            bar.update()
    return outcomes


def _places(what: What, spec: WriteSpec) -> Iterator[ExamPlace]:
    sessions_used = 0
    for source in sources_of(what):
        for session in readable_sessions(source):
            if sessions_used == spec.limit:
                return
            boundaries = at_shares(session, spec.boundaries)
            sessions_used += bool(boundaries)
            redacted_session, _ = redaction_of(session, spec.redaction)
            for boundary in boundaries:
                yield ExamPlace(
                    redacted_session, boundary, _file(source, redacted_session, spec.out)
                )


def _file(
    source: SessionSource,
    session: Session,
    out: Path | None,
) -> Path:
    if out is not None:
        return file_in(out, session)
    if source.remote is not None:
        raise SettingError("no exam is kept beside a recording in a store; set `out`")
    if source.path is None:
        raise SettingError(
            "a session in memory has no file beside which its exam could be kept; set `out`"
        )
    return file_beside(source.path)


def _present_exam(place: ExamPlace) -> WorkExam | None:
    """The exam that is there already."""
    if not place.file.is_file():
        return None
    for exams in read_exams(place.file):
        if exams.belongs_to(place.session):
            return exams.at(place.at)
    return None


def _request(place: ExamPlace, spec: WriteSpec) -> SummaryRequest:
    most_chars = None if spec.history_tokens is None else spec.history_tokens * CHARS_PER_TOKEN
    return question_request(place.session.messages, place.at, spec.questions, most_chars)


def _forecast(places: Sequence[ExamPlace], spec: WriteSpec) -> ModelUse:
    """What the model will be asked at most."""
    filler = FillerModel(model_name(spec.model or ""))
    for place in places:
        filler.complete(_request(place, spec))
    return filler.use


def _write(place: ExamPlace, model: Model, spec: WriteSpec) -> ExamOutcome:
    try:
        drafts = written_questions(model, _request(place, spec))
    except ModelError as error:
        return ExamOutcome(place, why=str(error), pending=error.outage)
    questions, refusals = checked(drafts, place.session.messages[: place.at])
    if len(questions) < FEWEST:
        reason = (
            f"only {len(questions)} of {len(drafts)} questions passed the checks, and an exam has"
            f" {FEWEST} at least"
        )
        return ExamOutcome(place, refusals=tuple(refusals), why=reason)
    month = datetime.now(UTC).strftime("%Y-%m")
    exam = WorkExam(place.at, tuple(questions), spec.writer or model.name, month, len(refusals))
    _keep(place, exam)
    return ExamOutcome(place, exam, is_new=True, refusals=tuple(refusals))


def _keep(place: ExamPlace, exam: WorkExam) -> None:
    """Write an exam into its file, beside those of other boundaries and sessions."""
    session = place.session
    all_exams: list[SessionExams] = []
    if place.file.is_file():
        all_exams += read_exams(place.file)
    current = SessionExams(session.id, opening_digest(session), ())
    other_exams = []
    for exams in all_exams:
        if exams.belongs_to(session):
            current = exams
        else:
            other_exams.append(exams)
    text = exams_text([*other_exams, current.with_exam(exam)])
    write_atomically(place.file, text)
