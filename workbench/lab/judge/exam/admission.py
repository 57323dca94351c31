"""The test that a reader passes before it scores: contexts that hold every answer, and contexts
that hold none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.ragged import Floats
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.item import Item, corrected
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.lab.judge.contexts import ContextSpec, even_choice
from workbench.lab.judge.exam.readers import ModelReader
from workbench.lab.validation.answers.agreement import auc
from workbench.lab.validation.answers.exams import verdicts
from workbench.lab.validation.answers.records import graded as read_graded

ITEMS, EACH = 40, 8
"""Items of the test, and of one session at most."""
FEWEST = 20
"""Items that must be answered from both contexts."""
MARGIN = 0.3
"""How far the mean score with the answers must be above that without, and above what words known
by sight earn.
"""
AUC = 0.6
GRADED = 20
"""Graded contexts that are read at most."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The outcome of the test.

    Attributes:
        items: that it answered from both contexts, of `asked`.
        oracle, null: its mean scores on them with all answers in the context and with none, 0 for
            guessing.
        sight: what the former gives to who only sees which candidates occur in it.
        answers: graded answers that it was held against.
        auc: how often it has the higher score for a right answer than for a wrong one; None if that
            was not tried.
    """

    reader: str
    asked: int
    items: int
    oracle: float = 0.0
    null: float = 0.0
    sight: float = 0.0
    answers: int = 0
    auc: float | None = None

    @property
    def why_not(self) -> str:
        """Why the reader is not admitted; empty if it is."""
        if self.items < FEWEST:
            return f"it answered {self.items} of {self.asked} items, and {FEWEST} are needed"
        if self.oracle - self.null < MARGIN:
            return f"its score does not rise by {MARGIN} where the context holds the answers"
        if self.oracle - self.sight < MARGIN:
            return (
                f"it scores less than {MARGIN} above a reader who only sees which candidates occur"
            )
        if self.auc is not None and self.auc < AUC:
            return f"its AUC on the graded answers is below {AUC}"
        return ""

    def __str__(self) -> str:
        """One sentence with the figures."""
        outcome = "is admitted"
        if self.why_not:
            outcome = f"is not admitted: {self.why_not}"
        figures = f"mean score {self.oracle:.2f} with the answers, {self.null:.2f} without"
        figures += f", {self.sight:.2f} by sight; {self.items} items"
        if self.auc is not None:
            figures += f"; AUC {self.auc:.2f} on {self.answers} graded answers"
        return f"the reader {self.reader} {outcome} ({figures})"


class NotAdmitted(WorkbenchError):
    """A reader failed the test and is not asked further; `admission` has the figures."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        super().__init__(str(admission))


class AdmissionExam(NamedTuple):
    """Items of a bundled session, a context that holds all their answers, and one that holds
    none.
    """

    items: Sequence[Item]
    oracle: str
    null: str


@lru_cache(maxsize=1)
def admission_exams() -> tuple[AdmissionExam, ...]:
    """The exams of the test, the same for every reader."""
    exams: list[AdmissionExam] = []
    items_left = ITEMS
    spec = ContextSpec(strategies=("null",), boundaries=(0.6,))
    for context in spec.contexts():
        exam = Exams.of(context.ready.index).at(context.at)
        items = even_choice(exam.items, min(EACH, items_left))
        if context.strategy == "null" and items:
            oracle = "\n".join(exam.answering_lines())
            null = context_text(context.context.messages)
            exams.append(AdmissionExam(items, oracle, null))
            items_left -= len(items)
        if not items_left:
            break
    return tuple(exams)


def admission(reader: ModelReader, graded: Path | None = None) -> Admission:
    """Test a reader.

    Args:
        reader: any.
        graded: graded answers that it must follow too, as `workbench lab validate answers` reads
            them.
    """
    exams = admission_exams()
    items: list[Item] = []
    with_answers: list[Floats] = []
    without_answers: list[Floats] = []
    by_sight: list[float] = []
    for exam in exams:
        items += exam.items
        with_answers.append(reader.read(exam.items, [exam.oracle]))
        text = exam.oracle.lower()
        by_sight += [_by_sight(item, text) for item in exam.items]
    for exam in exams:
        without_answers.append(reader.read(exam.items, [exam.null]))
    scores = np.array(
        [
            corrected(items, np.concatenate(with_answers)),
            corrected(items, np.concatenate(without_answers)),
            corrected(items, np.array(by_sight)),
        ]
    )
    has_both = ~np.isnan(scores).any(axis=0)
    outcome = Admission(reader.name, len(items), int(has_both.sum()))
    if has_both.any():
        oracle, null, sight = scores[:, has_both].mean(axis=1).tolist()
        outcome = replace(outcome, oracle=oracle, null=null, sight=sight)
    if graded is None or outcome.why_not:
        return outcome
    rows = verdicts(even_choice(read_graded(graded), GRADED), reader)
    rows = rows[rows["metric"] == "exam"].dropna(subset="value")
    return replace(
        outcome,
        answers=len(rows),
        auc=auc(rows["value"], rows["right"]),
    )


def _by_sight(item: Item, text: str) -> float:
    """The credit for guessing among the candidates that occur in a text in lower case; among all
    where none does.
    """
    occurs = [candidate.lower() in text for candidate in item.candidates]
    if not any(occurs):
        return 1 / len(occurs)
    return occurs[0] / sum(occurs)
