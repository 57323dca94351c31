"""What is kept of sittings: a table with a row a reply, and the answers with their features for
a fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from workbench.engine.transcript.message import said_text
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.table_folder import TableFolder
from workbench.evaluation.metrics.work_exam.question_sheet import features
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.lab.judge.work_exam.sitting import Boundary, Sitting

COLUMNS = {
    "session": "string",
    "project": "string",
    "strategy": "string",
    "writer": "string",
    "chain": "Int64",
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
"""The columns of a table of answers, see docs/reference/tables.md."""
SITTINGS = "sittings.jsonl"
"""The file with the answers of each sitting and their features: what a reader is fitted to. It
holds no context.
"""
SittingRecord: TypeAlias = dict[str, Any]
"""A sitting as plain JSON."""


@dataclass(frozen=True)
class WorkAnswers(TableFolder):
    """A folder with a row for each reply to a question, and the contexts that were read."""

    file: ClassVar[str] = "work.parquet"
    columns: ClassVar[Mapping[str, str]] = COLUMNS
    absent: ClassVar[str] = "no answers about the work; `workbench lab judge work` asks for some"

    @cached_property
    def notes(self) -> dict[str, object]:
        """Who wrote the summaries, who read and who graded."""
        table_file = self.path / self.file
        notes_file = table_file.with_suffix(".json")
        return dict(json.loads(notes_file.read_text(encoding="utf-8")))

    @property
    def pending(self) -> int:
        """How many replies or grades have not come yet; the same command asks again."""
        return int((self.table["pending"] == 1).sum())


def rows_of(sitting: Sitting, reader: str, grader: str) -> Iterator[Row]:
    """A row a question of a sitting."""
    for number, question in enumerate(sitting.sheet):
        reply = sitting.replies[number] if sitting.replies else None
        score = sitting.scores[number] if sitting.scores else None
        is_missing = score is None and sitting.pending
        yield sitting.context.place | {
            "writer": sitting.context.writer,
            "chain": sitting.context.chain,
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


def records_of(sittings: Iterable[Sitting]) -> list[SittingRecord]:
    """Each sitting as plain JSON: which context it was, and each question with its reply, score
    and features.
    """
    rarities: dict[Boundary, Rarity] = {}
    records = []
    for sitting in sittings:
        if sitting.boundary not in rarities:
            history = sitting.context.ready.session.messages[: sitting.boundary.at]
            rarities[sitting.boundary] = Rarity(said_text(message) for message in history)
        records.append(_record(sitting, rarities[sitting.boundary]))
    return records


def _record(sitting: Sitting, rarity: Rarity) -> SittingRecord:
    text = context_text(sitting.context.context.messages)
    about_work = [question for question in sitting.sheet if question.half == "work"]
    features_of_work = iter(features(about_work, text, rarity))
    answers = []
    for number, question in enumerate(sitting.sheet):
        answers.append(
            {
                "half": question.half,
                "kind": question.kind,
                "question": question.question,
                "gold": question.gold,
                "points": list(question.points),
                "reply": sitting.replies[number] if sitting.replies else None,
                "score": sitting.scores[number] if sitting.scores else None,
                "features": next(features_of_work) if question.half == "work" else [],
            }
        )
    place = sitting.context.place | {
        "writer": sitting.context.writer,
        "chain": sitting.context.chain,
        "reading": sitting.reading,
    }
    return {**place, "answers": answers}
