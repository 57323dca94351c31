"""Real readers answer the exam of the work from the contexts that strategies make, and a grader grades them.

One request is one context with its sheet of questions: a reader sees nothing else of the session. The grader sees the
replies of all contexts of a boundary together, in random order, and not from which context each came.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from workbench.errors import ModelError, SettingError
from workbench.experiment.atomic import write_atomically
from workbench.experiment.filler import FillerModel, ModelUse
from workbench.experiment.prepared import Prepared, What
from workbench.experiment.progress import progress
from workbench.experiment.replay_rows import Row
from workbench.experiment.spec import Read, Shares, Whole, documented, listed, model_name, one_model, several_models
from workbench.experiment.store import TableFolder
from workbench.judge.contexts import Compacted, ContextSpec
from workbench.judge.work_exam.contexts import REFERENCES, reference_context, strategy_contexts
from workbench.judge.work_exam.grading import GradingRequest, grading_requests
from workbench.judge.work_exam.sheet import SheetQuestion, is_unknown, read_replies, reading_request
from workbench.metrics.exam.exams import Exams
from workbench.metrics.name_recall import is_right, name_questions
from workbench.metrics.work_exam.document import exams_of
from workbench.metrics.work_exam.fitted_reader import ReadContext, features, shipped_reader
from workbench.metrics.work_exam.question import SessionExams
from workbench.metrics.work_exam.reading import context_text
from workbench.metrics.work_exam.word_cover import Rarity
from workbench.models.model import Model, SummaryRequest
from workbench.models.wrappers import with_replicate
from workbench.replay.boundaries import at_shares
from workbench.transcript.message import said_text
from workbench.transcript.session import Session

COLUMNS = {
    "session": "string",
    "project": "string",
    "strategy": "string",
    "writer": "string",
    "share": "Float64",
    "at": "Int64",
    "tokens": "Int64",
    "used": "Float64",
    "at_size_of": "string",
    "half": "string",
    "kind": "string",
    "question": "Int64",
    "reading": "Int64",
    "reply": "string",
    "score": "Float64",
    "reader": "string",
    "grader": "string",
    "reason": "string",
    "pending": "Int64",
}
"""The columns of a table of answers, see docs/tables.md."""
FITTED = "fitted"
"""The name of the reader that asks no model."""
SITTINGS = "sittings.jsonl"
"""The file with the answers of each sitting and their features: what a reader is fitted to. It holds no context."""


@dataclass(frozen=True)
class WorkAnswers(TableFolder):
    """A folder with a row for each reply to a question, and the contexts that were read."""

    file: ClassVar[str] = "work.parquet"
    columns: ClassVar[Mapping[str, str]] = COLUMNS
    absent: ClassVar[str] = "no answers about the work; `workbench judge work` asks for some"

    @cached_property
    def notes(self) -> dict[str, object]:
        """Who wrote the summaries, who read and who graded."""
        return dict(json.loads((self.path / self.file).with_suffix(".json").read_text(encoding="utf-8")))

    @property
    def pending(self) -> int:
        """How many replies or grades have not come yet; the same command asks again."""
        return int((self.table["pending"] == 1).sum())


def _references(value: Any) -> Any:  # noqa: ANN401 - names, or text between commas
    names = listed(value)
    for name in names:
        if name not in REFERENCES:
            raise ValueError(f"it may hold {', '.join(REFERENCES)}")
    return names


def _model(value: Any) -> Any:  # noqa: ANN401 - a name or a model
    return value and one_model(value)


class WorkSpec(ContextSpec):
    """What is asked about the work, of which contexts, and who answers."""

    model: Annotated[str | Model | None, Read(_model)] = Field(
        None,
        description="Model that reads the contexts: litellm:NAME, command:..., folder:PATH or your own; `fitted` asks "
        "none and foretells what a real model would know.",
    )
    grader: Annotated[str | Model | None, Read(_model)] = Field(
        None, description="Model that grades the replies; None takes the reader's model."
    )
    boundaries: Shares = Field((), description="Where they compact, as shares of the messages; none: where exams are.")
    writers: Annotated[tuple[str | Model, ...], Read(several_models)] = Field(
        ("extractive",), description="Models that write summaries; several are compared."
    )
    references: Annotated[tuple[str, ...], Read(_references)] = Field(
        (), description=f"Contexts that no agent makes, read beside the others: {', '.join(REFERENCES)}."
    )
    exams: Path | None = Field(None, description="Folder of written exams; None looks beside each recording.")
    names: Whole = Field(12, ge=0, description="Exact names to ask for at a boundary, at most.")
    readings: Whole = Field(1, ge=1, description="Have each context read this often, by another reader each time.")
    out: Path = Field(Path("reports/work"), description="Folder for the answers.")

    @property
    def is_fitted(self) -> bool:
        """Whether the fitted reader takes the place of models."""
        return self.model == FITTED

    def reader(self) -> Model:
        """The model that reads.

        Raises:
            SettingError: there is none, or it is no language model.
        """
        if self.model is None or model_name(self.model) == "extractive":
            raise SettingError("contexts are read by a language model; name one, such as --model litellm:gpt-4o-mini")
        return self.how.model(self.model)

    def grading_model(self) -> Model:
        """The model that grades."""
        return self.reader() if self.grader is None else self.how.model(self.grader)

    def by_writer(self) -> list[Self]:
        """The same specification for each of the writers."""
        return [self.changed(writer=writer, writers=(writer,)) for writer in self.writers]

    def exams_for(self, ready: Prepared) -> SessionExams | None:
        """The written exams of a session."""
        return exams_of(ready.session, self.exams)

    def boundaries_of(self, session: Session) -> tuple[int, ...]:
        """Those of the boundaries for which an exam was written."""
        exams = exams_of(session, self.exams)
        if exams is None:
            return ()
        with_exam = tuple(exam.at for exam in exams.exams if exam.questions)
        if not self.boundaries:
            return with_exam
        return tuple(at for at in at_shares(session, self.boundaries) if at in with_exam)


@dataclass(slots=True)
class Sitting:
    """One reader with one context.

    Attributes:
        replies: one a question, None for a question that was passed over; empty where no answer came.
        scores: of the replies, in [0, 1]; None where a reply has not been graded.
        why: why no answer came; `pending` where the same call asks again.
    """

    context: Compacted
    sheet: tuple[SheetQuestion, ...]
    reading: int
    replies: list[str | None] = field(default_factory=list)
    scores: list[float | None] = field(default_factory=list)
    why: str = ""
    pending: bool = False


@documented(WorkSpec)
def judge_work(
    what: What = (),
    *,
    spec: WorkSpec | None = None,
    before: Callable[[Sequence[ModelUse]], bool] = lambda forecast: True,
    **settings: Any,  # noqa: ANN401 - see WorkSpec
) -> WorkAnswers | None:
    """Let models answer written questions, and questions for exact names, from the context of each strategy.

    Args:
        what: files, folders, patterns or sessions with written exams; none stand for the bundled sessions.
        spec: a specification made before; further settings change it.
        before: receives the forecast before anything is asked; false stops there.
        **settings: the fields of `WorkSpec`; `model` is needed.

    Returns:
        The answers; None if `before` stopped it. Replies and grades that have not come are pending: the same call asks
        for them.

    Raises:
        SettingError: no model, or no session with a written exam.
    """
    spec = WorkSpec.of(spec, settings)
    reader, grader = (None, None) if spec.is_fitted else (spec.reader(), spec.grading_model())
    without_writers = [part.without_writer() for part in spec.by_writer()]
    planned = _sittings([part for part, _ in without_writers], what, spec)
    if not planned:
        raise SettingError("no session has a written exam at these boundaries; `workbench exam write` makes one")
    fillers = [filler for _, filler in without_writers if filler is not None]
    readings = ModelUse("", FITTED) if spec.is_fitted else _forecast(planned, spec)
    if not before([readings, *(filler.use for filler in fillers)]):
        return None
    sittings = _sittings(spec.by_writer(), what, spec) if fillers else planned
    with progress(len(sittings), "reading", "context", quiet=spec.quiet) as bar:
        for sitting in sittings:
            if reader is not None:
                _read(sitting, reader)
            bar.update()
    if grader is not None:
        _grade(sittings, grader)
    rarities: dict[tuple[str, int], Rarity] = {}
    records = [_record(sitting, rarities) for sitting in sittings]
    if spec.is_fitted:
        for sitting, record in zip(sittings, records, strict=True):
            _foretell(sitting, record)
    names = (FITTED, "") if reader is None or grader is None else (reader.name, grader.name)
    notes: dict[str, object] = {
        "reader": names[0],
        "grader": names[1],
        "summaries_by": [model_name(writer) for writer in spec.writers],
        "readings": spec.readings,
    }
    rows = [row for sitting in sittings for row in _rows(sitting, *names)]
    answers = WorkAnswers.write(spec.out, rows, notes)
    write_atomically(spec.out / SITTINGS, "".join(f"{json.dumps(record)}\n" for record in records))
    return answers


def _foretell(sitting: Sitting, record: Mapping[str, Any]) -> None:
    """Give each question about the work the chance that a real model knows it; names have none."""
    reader = shipped_reader()
    sitting.scores = []
    for answer in record["answers"]:
        is_work = answer["half"] == "work"
        answer["score"] = reader.probability(answer["features"]) if is_work else None
        sitting.scores.append(answer["score"])


def _sittings(specs: Sequence[WorkSpec], what: What, spec: WorkSpec) -> list[Sitting]:
    """Each context once a reading, with the sheet of its boundary."""
    named = [strategy if isinstance(strategy, str) else strategy.name for strategy in spec.strategies]
    contexts = list(strategy_contexts(list(specs), what, with_whole_history="none" in named))
    places = {(context.ready.session.id, context.at, context.share): context.ready for context in contexts}
    for name in spec.references:
        for (_, at, share), ready in places.items():
            contexts.append(reference_context(name, ready, at, share))
    sheets: dict[tuple[str, int], tuple[SheetQuestion, ...]] = {}
    sittings = []
    for context in contexts:
        boundary = (context.ready.session.id, context.at)
        if boundary not in sheets:
            sheets[boundary] = _sheet(context.ready, context.at, spec)
        if sheets[boundary]:
            sittings += [Sitting(context, sheets[boundary], reading) for reading in range(spec.readings)]
    return sittings


def _sheet(ready: Prepared, at: int, spec: WorkSpec) -> tuple[SheetQuestion, ...]:
    """The questions of one boundary: the written ones, then those for names."""
    exams = spec.exams_for(ready)
    exam = None if exams is None else exams.at(at)
    if exam is None:
        return ()
    work = [SheetQuestion.about_work(question) for question in exam.questions]
    items = Exams.of(ready.index).at(at).items if spec.names else ()
    names = [SheetQuestion.about_name(question) for question in name_questions(items, spec.names)]
    return (*work, *names)


def _forecast(sittings: Sequence[Sitting], spec: WorkSpec) -> ModelUse:
    """What the reader is asked at most."""
    filler = FillerModel(model_name(spec.model or ""))
    for sitting in sittings:
        filler.complete(_request(sitting))
    return filler.use


def _request(sitting: Sitting) -> SummaryRequest:
    return reading_request(context_text(sitting.context.context.messages), sitting.sheet)


def _read(sitting: Sitting, reader: Model) -> None:
    """Ask for the replies of one sitting."""
    try:
        completion = with_replicate(reader, sitting.reading).complete(_request(sitting))
    except ModelError as error:
        sitting.why, sitting.pending = str(error), error.outage
        return
    sitting.replies = read_replies(completion.text, len(sitting.sheet))
    if not any(sitting.replies):
        sitting.why, sitting.replies = f"{reader.name} answered no question", []


def _grade(sittings: Sequence[Sitting], grader: Model) -> None:
    """Give each reply its score: names are compared in code, replies about the work are graded."""
    by_boundary: dict[tuple[str, int], list[Sitting]] = defaultdict(list)
    for sitting in sittings:
        by_boundary[sitting.context.ready.session.id, sitting.context.at].append(sitting)
    for (session, at), group in by_boundary.items():
        if any(sitting.pending for sitting in group):
            continue  # replies are graded together, so that the grader sees all of a question in one order
        grades: dict[tuple[SheetQuestion, str], float] = {}
        for request in grading_requests(_replies(group), f"{session} {at}"):
            grades |= _asked(request, grader, group)
        names = [entity.text for entity in Exams.of(group[0].context.ready.index).history.names]
        for sitting in group:
            sitting.scores = [
                _score(question, reply, grades, names)
                for question, reply in zip(sitting.sheet, sitting.replies, strict=False)
            ]


def _replies(group: Iterable[Sitting]) -> dict[SheetQuestion, list[str]]:
    """All replies to each written question of a boundary."""
    replies: dict[SheetQuestion, list[str]] = defaultdict(list)
    for sitting in group:
        for question, reply in zip(sitting.sheet, sitting.replies, strict=False):
            if question.half == "work" and reply is not None:
                replies[question].append(reply)
    return replies


def _asked(request: GradingRequest, grader: Model, group: Sequence[Sitting]) -> dict[tuple[SheetQuestion, str], float]:
    """The grades of one request; where none come, the sittings say why."""
    try:
        return request.grades(grader.complete(request.request).text)
    except ModelError as error:
        for sitting in group:
            sitting.why, sitting.pending = sitting.why or str(error), error.outage
        return {}


def _score(
    question: SheetQuestion,
    reply: str | None,
    grades: Mapping[tuple[SheetQuestion, str], float],
    names: Sequence[str],
) -> float | None:
    if reply is None:
        return None
    if is_unknown(reply):
        return 0.0
    if question.half == "names":
        return float(is_right(reply, question.gold, names))
    return grades.get((question, reply))


def _rows(sitting: Sitting, reader: str, grader: str) -> Iterator[Row]:
    """A row a question."""
    for number, question in enumerate(sitting.sheet):
        reply = sitting.replies[number] if sitting.replies else None
        score = sitting.scores[number] if sitting.scores else None
        is_missing = score is None and sitting.pending
        yield sitting.context.place | {
            "writer": sitting.context.writer,
            "half": question.half,
            "kind": question.kind,
            "question": number,
            "reading": sitting.reading,
            "reply": reply,
            "score": score,
            "reader": reader,
            "grader": grader if question.half == "work" else "",
            "reason": sitting.why if score is None else "",
            "pending": int(is_missing),
        }


def _record(sitting: Sitting, rarities: dict[tuple[str, int], Rarity]) -> dict[str, Any]:
    """A sitting as plain JSON: which context it was, and each question with its reply, its score and its features."""
    session, at = sitting.context.ready.session, sitting.context.at
    if (session.id, at) not in rarities:
        rarities[session.id, at] = Rarity(said_text(message) for message in session.messages[:at])
    rarity = rarities[session.id, at]
    context = ReadContext.of(context_text(sitting.context.context.messages))
    answers = []
    for number, question in enumerate(sitting.sheet):
        is_work = question.half == "work"
        answers.append(
            {
                "half": question.half,
                "kind": question.kind,
                "question": question.text,
                "gold": question.gold,
                "points": list(question.points),
                "reply": sitting.replies[number] if sitting.replies else None,
                "score": sitting.scores[number] if sitting.scores else None,
                "features": features(question.text, question.gold, question.points, context, rarity) if is_work else [],
            }
        )
    place = sitting.context.place | {"writer": sitting.context.writer, "reading": sitting.reading}
    return {**place, "answers": answers}
