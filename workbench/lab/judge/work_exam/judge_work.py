"""Real readers answer the exam of the work from the contexts that strategies make, and a grader
grades them.

One request is one context with its sheet of questions: a reader sees nothing else of the session.
The grader sees the replies of all contexts of a boundary together, in random order, and not from
which context each came.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

from workbench.base.errors import SettingError
from workbench.engine.models.model import Model
from workbench.engine.transcript.redaction import masker
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.filler import ModelUse
from workbench.evaluation.experiment.replacement import NewRun
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.sources import What, sources_of
from workbench.evaluation.experiment.spec import model_name
from workbench.evaluation.experiment.table_replacement import (
    check_table_replaceable,
    how_made,
    settings_of,
)
from workbench.lab.judge.work_exam.asking import ask_readers, forecast, predict
from workbench.lab.judge.work_exam.baselines import write_baselines
from workbench.lab.judge.work_exam.contexts import StrategyContexts, strategy_contexts
from workbench.lab.judge.work_exam.grading import grade
from workbench.lab.judge.work_exam.records import SITTINGS, WorkAnswers, records_of, rows_of
from workbench.lab.judge.work_exam.sitting import Sitting, sittings_of
from workbench.lab.judge.work_exam.spec import FITTED, WorkSettings, WorkSpec

GROWING = frozenset({"writers", "chains", "references", "names", "readings"})
"""Settings of which a later call may have more: the answers that are there stay in its table."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who reads and who grades; None where nobody is asked."""

    reader: Model | None = None
    grader: Model | None = None

    @classmethod
    def of(cls, spec: WorkSpec) -> Judges:
        """The models that a specification names.

        Raises:
            SettingError: it names none, or one that is no language model.
        """
        if spec.is_fitted:
            return cls()
        return cls(spec.reader(), spec.grading_model())

    @property
    def reader_name(self) -> str:
        """Name shown in reports."""
        return FITTED if self.reader is None else self.reader.name

    @property
    def grader_name(self) -> str:
        """Name shown in reports; empty where nobody grades."""
        return "" if self.grader is None else self.grader.name


@documented(WorkSpec)
def judge_work(
    what: What = (),
    *,
    spec: WorkSpec | None = None,
    before: Callable[[Sequence[ModelUse]], bool] = lambda forecast: True,
    **settings: Unpack[WorkSettings],
) -> WorkAnswers | None:
    """Let models answer written questions, and questions for exact names, from the context of each
    strategy.

    Args:
        what: files, folders, patterns or sessions with written exams; none stand for the bundled
            sessions.
        spec: a specification made before; further settings change it.
        before: receives the forecast before anything is asked, of the reader and of each writer;
            false stops there.
        **settings: the fields of `WorkSpec`; `model` is needed.

    Returns:
        The answers; None if `before` stopped it. Replies and grades that have not come are pending:
        the same call asks for them.

    Raises:
        SettingError: no model, or no session with a written exam.
        Unanswered: summaries have not come. Where somebody answers later, the contexts without them
            are read before.
    """
    spec = WorkSpec.of(spec, settings)
    judges = Judges.of(spec)
    masked = masker(spec.redaction)
    settings_now = settings_of(spec, "exams", "writer")
    new_table = NewRun(settings_now, sources_of(what), masked, spec.limit, growing=GROWING)
    check_table_replaceable(spec.out / WorkAnswers.file, new_table)
    forecasts, planned = _planned(what, spec, judges)
    if not before(forecasts):
        return None
    _, *writer_forecasts = forecasts
    contexts = planned
    if any(use.requests for use in writer_forecasts):
        contexts = _contexts(spec.by_writer(), what, spec)
    sittings = sittings_of(contexts.complete, spec)
    if judges.reader is not None:
        ask_readers(sittings, judges.reader, quiet=spec.quiet)
    if contexts.awaited is not None:
        raise contexts.awaited
    if judges.grader is not None:
        grade(sittings, judges.grader)
    return _written(sittings, judges, spec, how_made(new_table))


def _planned(what: What, spec: WorkSpec, judges: Judges) -> tuple[list[ModelUse], StrategyContexts]:
    """What the reader and each writer are asked at most, and the contexts with filler in the
    place of summaries.
    """
    without_writers = [writer_spec.without_writer() for writer_spec in spec.by_writer()]
    specs = [writer_spec for writer_spec, _ in without_writers]
    planned = _contexts(specs, what, spec)
    sittings = sittings_of(planned.complete, spec)
    if not sittings:
        raise SettingError(
            "no session has a written exam at these boundaries; `workbench lab exam write`"
            " makes one"
        )
    reader_use = ModelUse("", FITTED)
    if judges.reader is not None:
        reader_use = forecast(sittings, judges.reader_name)
    uses = [reader_use]
    for writer_spec, filler in without_writers:
        if filler is None:
            uses.append(ModelUse("", model_name(writer_spec.writer)))
        else:
            uses.append(filler.use)
    return uses, planned


def _contexts(
    specs: Sequence[WorkSpec],
    what: What,
    spec: WorkSpec,
) -> StrategyContexts:
    names = set()
    for strategy in spec.strategies:
        names.add(strategy if isinstance(strategy, str) else strategy.name)
    return strategy_contexts(specs, what, spec.chains, with_whole_history="none" in names)


def _written(
    sittings: Sequence[Sitting],
    judges: Judges,
    spec: WorkSpec,
    made: Mapping[str, object],
) -> WorkAnswers:
    """The folder with all answers; `made` is the note that says how."""
    records = records_of(sittings)
    if spec.is_fitted:
        for sitting, record in zip(sittings, records, strict=True):
            predict(sitting, record)
    notes: dict[str, object] = {
        "reader": judges.reader_name,
        "grader": judges.grader_name,
        "summaries_by": [model_name(writer) for writer in spec.writers],
        "readings": spec.readings,
        **made,
    }
    rows: list[Row] = []
    for sitting in sittings:
        rows += rows_of(sitting, judges.reader_name, judges.grader_name)
    answers = WorkAnswers.write(spec.out, rows, notes)
    lines = [f"{json.dumps(record)}\n" for record in records]
    write_atomically(spec.out / SITTINGS, "".join(lines))
    write_baselines(spec.out, sittings)
    return answers
