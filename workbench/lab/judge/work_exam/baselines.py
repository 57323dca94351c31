"""What measures without a fit say of the answers of sittings: baselines beside the fitted reader.

They need the contexts, which sittings do not keep; so their values are kept beside the sittings,
without any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import said_text
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.name_recall import name_questions
from workbench.evaluation.metrics.view import view
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.lab.judge.work_exam.scores import CONTEXT
from workbench.lab.judge.work_exam.sheet import SheetQuestion
from workbench.lab.judge.work_exam.sitting import Boundary, Sitting

BASELINES = "baselines.csv"
"""The file beside the sittings."""
MEASURES = ("bm25", "exam", "presence")
"""BM25 of question and right answer; of names also the lexical reader's credit, and whether the
name stands there.
"""
PLACE = [*CONTEXT, "question"]
"""The columns that name an answer; questions are numbered within their sheet."""
DIGITS = 6


def baselines_of(sittings: Iterable[Sitting]) -> pd.DataFrame:
    """A row an answer of the sittings: `PLACE` and `MEASURES`; what a measure does not know is
    missing.
    """
    bm25_by_boundary: dict[Boundary, Bm25] = {}
    rows: list[dict[str, Any]] = []
    for sitting in sittings:
        boundary = sitting.boundary
        if boundary not in bm25_by_boundary:
            history = sitting.context.ready.session.messages[: boundary.at]
            bm25_by_boundary[boundary] = Bm25(map(said_text, history))
        rows += _rows(sitting, bm25_by_boundary[boundary])
    table = pd.DataFrame(rows, columns=[*PLACE, *MEASURES])
    return table.drop_duplicates(PLACE)


def _rows(sitting: Sitting, bm25: Bm25) -> Iterator[dict[str, Any]]:
    context = sitting.context
    text = context_text(context.context.messages)
    names_in_text = text.lower()
    place = _place(sitting)
    credits = _credit_by_question(sitting)
    queries: list[str] = []
    for question in sitting.sheet:
        queries.append(f"{question.question} {question.gold}")
    shares = bm25.shares(queries, text)
    for number, question in enumerate(sitting.sheet):
        row = dict(place)
        row["question"] = number
        row["bm25"] = round(shares[number], DIGITS)
        if question.half == "names":
            name = question.gold.lower()
            row["exam"] = credits.get(question)
            row["presence"] = float(name in names_in_text)
        yield row


def _place(sitting: Sitting) -> dict[str, Any]:
    """The columns `CONTEXT` of a sitting."""
    context = sitting.context
    values = dict(context.place)
    values["writer"] = context.writer
    values["chain"] = context.chain
    return {name: values[name] for name in CONTEXT}


def _credit_by_question(sitting: Sitting) -> Mapping[SheetQuestion, float]:
    """The lexical reader's credit for each name that is asked."""
    prepared_session = sitting.context.ready
    exam = Exams.of(prepared_session.index).at(sitting.boundary.at)
    context_view = view(prepared_session.session, sitting.context.context)
    item_credits = exam.credit(context_view).tolist()
    credits: dict[SheetQuestion, float] = {}
    for item, credit in zip(exam.items, item_credits, strict=True):
        for name_question in name_questions([item], limit=1):
            question = SheetQuestion.about_name(name_question)
            credits[question] = round(credit, DIGITS)
    return credits


def write_baselines(folder: Path, sittings: Iterable[Sitting]) -> None:
    """Write the baselines of the sittings in a folder."""
    text = baselines_of(sittings).to_csv(index=False, lineterminator="\n")
    write_atomically(folder / BASELINES, text)


def read_baselines(folder: Path) -> pd.DataFrame:
    """The baselines in a folder, plain or packed; no rows where there are none.

    Raises:
        FormatError: the file is no such table.
    """
    columns = [*PLACE, *MEASURES]
    file = folder / BASELINES
    compression: Literal["gzip"] | None = None
    if not file.is_file():
        file = folder / f"{BASELINES}.gz"
        compression = "gzip"
    if not file.is_file():
        return pd.DataFrame(columns=columns)
    try:
        content = BytesIO(file.read_bytes())
        rows = pd.read_csv(
            content,
            compression=compression,
            dtype={"writer": object},
            keep_default_na=False,
            na_values=[""],
        )
        table = rows[columns]
        return table.fillna({"writer": ""})
    except (ValueError, KeyError, OSError) as error:
        raise FormatError(f"is no table of baselines ({error!s:.80})", where=str(file)) from None
