"""Has a model grade replies to written questions. It never sees from which context a reply came.

The replies of all contexts of a boundary are graded together, in random order. Names are compared
in code.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from workbench.base.errors import ModelError
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.models.model import Model, SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.name_recall import is_right
from workbench.lab.judge.work_exam.sheet import SheetQuestion, is_unknown
from workbench.lab.judge.work_exam.sitting import Boundary, Sitting
from workbench.lab.judge.work_exam.writer import prompt

REPLIES_A_REQUEST = 120
GRADES = ("1", "0.5", "0")
_LINE = re.compile(r"^\W*Q(\d+)\.R(\d+)\W*?:\W*?(1(?:\.0)?|0?\.5|0(?:\.0)?)\s*\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GradedQuestion:
    """A question with the different replies to it, in the order in which the grader sees them."""

    question: SheetQuestion
    replies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GradingRequest:
    """One request to a grader, and the replies that its labels stand for."""

    questions: tuple[GradedQuestion, ...]

    @property
    def request(self) -> SummaryRequest:
        """What the grader is asked."""
        blocks = []
        reply_count = 0
        for number, graded in enumerate(self.questions, 1):
            blocks.append(_block(number, graded))
            reply_count += len(graded.replies)
        text = Template(prompt("grader")).substitute(questions="\n\n".join(blocks))
        return SummaryRequest(
            purpose="question",
            system=prompt("grader_system"),
            write=lambda _: text,
            max_tokens=12 * reply_count + 100,
            count=TiktokenCounter(),
        )

    def grades(self, text: str) -> dict[tuple[SheetQuestion, str], float]:
        """The grade of each question's reply that an answer names; labels that were not asked
        are left out.
        """
        grades: dict[tuple[SheetQuestion, str], float] = {}
        for line in text.splitlines():
            match = _LINE.match(line.strip())
            if match is None:
                continue
            question_number = int(match[1])
            reply_number = int(match[2])
            if not 1 <= question_number <= len(self.questions):
                continue
            graded = self.questions[question_number - 1]
            if 1 <= reply_number <= len(graded.replies):
                reply = graded.replies[reply_number - 1]
                grades[graded.question, reply] = float(match[3])
        return grades


def grade(sittings: Iterable[Sitting], grader: Model) -> None:
    """Give each reply its score; a boundary where replies are still pending gets none."""
    by_boundary: dict[Boundary, list[Sitting]] = defaultdict(list)
    for sitting in sittings:
        by_boundary[sitting.boundary].append(sitting)
    for boundary, group in by_boundary.items():
        if not any(sitting.pending for sitting in group):
            _grade_boundary(boundary, group, grader)


def _grade_boundary(
    boundary: Boundary,
    group: Sequence[Sitting],
    grader: Model,
) -> None:
    grades: dict[tuple[SheetQuestion, str], float] = {}
    seed = f"{boundary.session} {boundary.at}"
    for request in grading_requests(_replies(group), seed):
        grades |= _asked_grades(request, grader, group)
    history = Exams.of(group[0].context.ready.index).history
    names = [entity.text for entity in history.names]
    for sitting in group:
        sitting.scores = []
        for question, reply in zip(sitting.sheet, sitting.replies, strict=False):
            sitting.scores.append(_score(question, reply, grades, names))


def _replies(group: Iterable[Sitting]) -> dict[SheetQuestion, list[str]]:
    """All replies to each written question of a boundary."""
    replies: dict[SheetQuestion, list[str]] = defaultdict(list)
    for sitting in group:
        for question, reply in zip(sitting.sheet, sitting.replies, strict=False):
            if question.half == "work" and reply is not None:
                replies[question].append(reply)
    return replies


def _asked_grades(
    request: GradingRequest, grader: Model, group: Iterable[Sitting]
) -> dict[tuple[SheetQuestion, str], float]:
    """The grades of one request; where none come, the sittings say why."""
    try:
        completion = grader.complete(request.request)
    except ModelError as error:
        for sitting in group:
            sitting.why = sitting.why or str(error)
            sitting.pending = error.outage
        return {}
    return request.grades(completion.text)


def _score(
    question: SheetQuestion,
    reply: str | None,
    grades: Mapping[tuple[SheetQuestion, str], float],
    names: Sequence[str],
) -> float | None:
    """What a reply is worth; None where it was not graded."""
    if reply is None:
        return None
    if is_unknown(reply):
        return 0.0
    if question.half == "names":
        return float(is_right(reply, question.gold, names))
    return grades.get((question, reply))


def grading_requests(
    replies: Mapping[SheetQuestion, Sequence[str]], seed: str
) -> Iterator[GradingRequest]:
    """Requests for the grades of all replies to some questions; equal replies are graded once.

    Args:
        replies: those that say something, see `is_unknown`, of all contexts and readings.
        seed: of the order of the replies.
    """
    waiting: list[GradedQuestion] = []
    size = 0
    for question, texts in replies.items():
        distinct = sorted({text for text in texts if not is_unknown(text)})
        random.Random(f"{seed} {question.question}").shuffle(distinct)
        if not distinct:
            continue
        if waiting and size + len(distinct) > REPLIES_A_REQUEST:
            yield GradingRequest(tuple(waiting))
            waiting = []
            size = 0
        waiting.append(GradedQuestion(question, tuple(distinct)))
        size += len(distinct)
    if waiting:
        yield GradingRequest(tuple(waiting))


def _block(number: int, graded: GradedQuestion) -> str:
    question = graded.question
    points = "; ".join(question.points)
    lines = [
        f"Q{number}: {_line(question.question)}",
        f"Right answer: {_line(question.gold)}",
        f"Points: {_line(points)}",
    ]
    for reply_number, reply in enumerate(graded.replies, 1):
        lines.append(f"Q{number}.R{reply_number}: {_line(reply)}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return harmless(" ".join(text.split()))
