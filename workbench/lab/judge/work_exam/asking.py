"""Readers are asked for the replies of sittings: a model, one request a sitting, or the reader
that asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.base.errors import ModelError
from workbench.engine.models.model import Model
from workbench.engine.models.wrappers import with_replicate
from workbench.evaluation.experiment.filler import FillerModel, ModelUse
from workbench.evaluation.experiment.progress import progress
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.lab.judge.work_exam.records import SittingRecord
from workbench.lab.judge.work_exam.sheet import read_replies
from workbench.lab.judge.work_exam.sitting import Sitting


def forecast(sittings: Iterable[Sitting], model_name: str) -> ModelUse:
    """What a reader is asked at most."""
    filler = FillerModel(model_name)
    for sitting in sittings:
        filler.complete(sitting.request)
    return filler.use


def ask_readers(
    sittings: Sequence[Sitting],
    reader: Model,
    *,
    quiet: bool,
) -> None:
    """Ask for the replies of all sittings; where none come, a sitting says why."""
    with progress(len(sittings), "reading", "context", quiet=quiet) as bar:
        for sitting in sittings:
            _ask(sitting, reader)
            bar.update()


def _ask(sitting: Sitting, reader: Model) -> None:
    try:
        completion = with_replicate(reader, sitting.reading).complete(sitting.request)
    except ModelError as error:
        sitting.why = str(error)
        sitting.pending = error.outage
        return
    sitting.replies = read_replies(completion.text, len(sitting.sheet))
    if not any(sitting.replies):
        sitting.why = f"{reader.name} answered no question"
        sitting.replies = []


def predict(sitting: Sitting, record: SittingRecord) -> None:
    """Give each question about the work the chance that a real model knows it; names have none.

    Args:
        sitting: gets the chances as its scores.
        record: has the features of its questions, and gets the scores too.
    """
    reader = shipped_reader()
    sitting.scores = []
    for answer in record["answers"]:
        answer["score"] = None
        if answer["half"] == "work":
            answer["score"] = reader.probability(answer["features"])
        sitting.scores.append(answer["score"])
