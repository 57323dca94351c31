"""A model sits the exam from the contexts that strategies make of the same histories, at the
same size.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, Unpack

import numpy as np
from pydantic import Field

from workbench.base.errors import SettingError, Unanswered, UnknownName
from workbench.engine.models.likelihood import CachedLikelihood
from workbench.engine.models.model import Model
from workbench.engine.models.weights import weights
from workbench.engine.transcript.redaction import masker
from workbench.evaluation.experiment.bounded import text_of
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.filler import FillerModel, ModelUse
from workbench.evaluation.experiment.progress import progress
from workbench.evaluation.experiment.replacement import NewRun
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.sources import What, sources_of
from workbench.evaluation.experiment.spec import model_name
from workbench.evaluation.experiment.spec_fields import Read, Whole, one_model
from workbench.evaluation.experiment.table_folder import TableFolder
from workbench.evaluation.experiment.table_replacement import (
    check_table_replaceable,
    how_made,
    settings_of,
)
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.item import corrected
from workbench.evaluation.metrics.view import view
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.lab.judge.contexts import Compacted, ContextSettings, ContextSpec, even_choice
from workbench.lab.judge.exam.admission import NotAdmitted, admission
from workbench.lab.judge.exam.readers import CandidateLikelihood, Choice, ModelReader

READERS = ("choice", "likelihood")


COLUMNS = {
    "session": "string",
    "project": "string",
    "strategy": "string",
    "share": "Float64",
    "at": "Int64",
    "tokens": "Int64",
    "used": "Float64",
    "at_size_of": "string",
    "reason": "string",
    "item": "Int64",
    "kind": "string",
    "answer": "string",
    "score": "Float64",
    "lexical": "Float64",
    "replicate": "Int64",
    "reader": "string",
    "usd": "Float64",
    "pending": "Int64",
}
"""The columns of a table of answers, see docs/reference/tables.md."""


@dataclass(frozen=True)
class ExamResults(TableFolder):
    """A folder with a row for each item that was answered from a context, and the reader with
    its admission test.
    """

    file: ClassVar[str] = "exam.parquet"
    columns: ClassVar[Mapping[str, str]] = COLUMNS
    absent: ClassVar[str] = "no answers to exams; `workbench lab judge exam` asks for some"

    @cached_property
    def notes(self) -> dict[str, object]:
        """Who was asked, with which settings."""
        table_file = self.path / self.file
        notes_file = table_file.with_suffix(".json")
        return dict(json.loads(text_of(notes_file)))

    @property
    def pending(self) -> str:
        """What waits for the reader's provider, as `3 of 40 items were not answered by ...`;
        empty if nothing does.
        """
        rows = self.table[self.table["pending"] == 1]
        if rows.empty:
            return ""
        item_count = int(self.table["item"].notna().sum())
        return (
            f"{item_count - len(rows)} of {item_count} items were answered by"
            f" {self.notes['reader']}: {rows['reason'].iloc[-1]}"
        )


class ExamSpec(ContextSpec):
    """A measurement by the exam."""

    reader: str = Field("choice", description=f"How the model answers: {' or '.join(READERS)}.")
    model: Annotated[str | Model | None, Read(lambda model: model and one_model(model))] = Field(
        None, description="Model that chooses: litellm:NAME, or a model of your own."
    )
    likelihood: Annotated[str | CachedLikelihood, Read(lambda model: model)] = Field(
        "gemma", description="Weights of the reader likelihood: gemma, smollm2 or a .gguf."
    )
    graded: Path | None = Field(
        None, description="Graded answers that the reader must follow to be admitted."
    )
    most: Whole = Field(20, ge=1, description="Ask at most this many items at a boundary.")
    replicates: Whole = Field(1, ge=1, description="Let the reader sit each exam this often.")
    out: Path = Field(
        Path("reports/exam"),
        description="Folder for the answers; a second exam with other settings needs its own.",
    )

    def readers(self) -> list[ModelReader]:
        """The reader, once a replicate."""
        if self.reader not in READERS:
            raise UnknownName("reader", self.reader, READERS)
        if self.reader == "likelihood":
            model = self.likelihood
            if isinstance(model, str):
                model = CachedLikelihood.of(weights(model))
            return [CandidateLikelihood(model)]
        if self.model is None:
            raise SettingError(
                "the reader `choice` needs a model; name one, such as --model litellm:gpt-4o-mini"
            )
        chooser = self.how.model(self.model)
        return [Choice(chooser, replicate) for replicate in range(self.replicates)]


class ExamSettings(ContextSettings, total=False):
    """The fields of `ExamSpec` as a caller may give them."""

    reader: str
    model: str | Model | None
    likelihood: str | CachedLikelihood
    graded: str | Path | None
    most: int
    replicates: int


class Sitting(NamedTuple):
    """A context, and the items of its boundary that are asked, by their numbers in the exam."""

    context: Compacted
    numbers: Sequence[int]


def _sittings(contexts: Iterator[Compacted], limit: int) -> Iterator[Sitting]:
    for context in contexts:
        items = Exams.of(context.ready.index).at(context.at).items
        if items:
            numbers = even_choice(range(len(items)), limit)
            yield Sitting(context, numbers)


def _rows(sitting: Sitting, readers: Sequence[ModelReader]) -> Iterator[Row]:
    """The answers from one context; one that stays larger than the size has one row that says
    so.
    """
    context = sitting.context
    if context.over_target:
        yield {**context.place, "reason": context.over_target}
        return
    exam = Exams.of(context.ready.index).at(context.at)
    items = [exam.items[number] for number in sitting.numbers]
    lexical_credits = exam.credit(view(context.ready.session, context.context))
    lexical_scores = corrected(items, lexical_credits[list(sitting.numbers)])
    text = context_text(context.context.messages)
    for replicate, reader in enumerate(readers):
        answers = reader.sit(items, text)
        scores = corrected(items, np.array([answer.credit for answer in answers]))
        for slot, number in enumerate(sitting.numbers):
            item = items[slot]
            answer = answers[slot]
            score = float(scores[slot])
            yield context.place | {
                "item": number,
                "kind": item.kind,
                "answer": item.answer,
                "lexical": float(lexical_scores[slot]),
                "score": None if math.isnan(score) else score,
                "replicate": replicate,
                "reader": reader.name,
                "usd": answer.usd,
                "reason": answer.why,
                "pending": int(answer.pending),
            }


def _forecast(sittings: Sequence[Sitting], spec: ExamSpec) -> ModelUse:
    """What the test and the exams ask at most: the same requests, put to a model that only
    counts them.
    """
    name = model_name(spec.model or "")
    if spec.reader == "likelihood":
        weights_name = spec.likelihood
        if not isinstance(weights_name, str):
            weights_name = weights_name.name
        name = f"local:{weights_name}"
    filler = FillerModel(name)
    readers = [Choice(filler, replicate) for replicate in range(spec.replicates)]
    admission(readers[0], spec.graded)
    for sitting in sittings:
        list(_rows(sitting, readers))
    return filler.use


@documented(ExamSpec)
def judge_exam(
    what: What = (),
    *,
    spec: ExamSpec | None = None,
    before: Callable[[Sequence[ModelUse]], bool] = lambda forecast: True,
    **settings: Unpack[ExamSettings],
) -> ExamResults | None:
    """Let a model sit the exam from each strategy's context: questions about what the agent then
    needed.

    A reader is tested first, on contexts that hold every answer and contexts that hold none. An
    item that the model does not answer has no score. Answers are kept in the cache: an interrupted
    call goes on where it stopped.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        spec: a specification made before; further settings change it.
        before: receives the forecast before anything is asked: requests, tokens and dollars at
            most, of the reader, and of the writer where a real model writes summaries; false stops
            there.
        **settings: the fields of `ExamSpec`; the reader `choice` needs a `model`.

    Returns:
        The measurement; None if `before` stopped it.

    Raises:
        NotAdmitted: the reader failed the test, and was asked nothing else.
        Unanswered: its provider answered too little of the test; the same call asks again.
        SettingError: it has no model, or one that cannot read.
    """
    spec = ExamSpec.of(spec, settings)
    readers = spec.readers()
    unasked, filler = spec.without_writer()
    masked = masker(spec.redaction)
    settings_now = settings_of(spec)
    new_table = NewRun(settings_now, sources_of(what), masked, spec.limit, growing={"most"})
    check_table_replaceable(spec.out / ExamResults.file, new_table)
    sittings = list(_sittings(unasked.contexts(what), spec.most))
    forecast = [_forecast(sittings, spec)]
    if filler is not None:
        forecast.append(filler.use)
    if not before(forecast):
        return None
    tested = admission(readers[0], spec.graded)
    if tested.why_not and readers[0].outage:
        raise Unanswered(
            f"{tested.items} of {tested.asked} items of the reader's test were answered by"
            f" {readers[0].name}: {readers[0].outage}"
        )
    if tested.why_not:
        raise NotAdmitted(tested)
    if filler is not None:
        sittings = list(_sittings(spec.contexts(what), spec.most))
    rows: list[Row] = []
    with progress(len(sittings), "asking", "context", quiet=spec.quiet) as bar:
        for sitting in sittings:
            rows += _rows(sitting, readers)
            bar.update()
    notes: dict[str, object] = {
        "reader": readers[0].name,
        "answers_by": spec.reader,
        "summaries_by": model_name(spec.writer),
        "admission": str(tested),
        **how_made(new_table),
    }
    return ExamResults.write(spec.out, rows, notes)
