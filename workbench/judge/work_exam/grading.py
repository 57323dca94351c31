"""Has a model grade replies to written questions. It never sees from which context a reply came."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from workbench.compaction.prompt_template import harmless
from workbench.judge.work_exam.sheet import SheetQuestion, is_unknown
from workbench.judge.work_exam.writer import prompt
from workbench.models.model import SummaryRequest
from workbench.models.tokenizer import TiktokenCounter

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
        blocks = "\n\n".join(_block(number, graded) for number, graded in enumerate(self.questions, 1))
        text = Template(prompt("grader")).substitute(questions=blocks)
        count = sum(len(graded.replies) for graded in self.questions)
        return SummaryRequest(
            purpose="question",
            system=prompt("grader_system"),
            write=lambda _: text,
            max_tokens=12 * count + 100,
            count=TiktokenCounter(),
        )

    def grades(self, text: str) -> dict[tuple[SheetQuestion, str], float]:
        """The grade of each question's reply that an answer names; labels that were not asked are left out."""
        grades: dict[tuple[SheetQuestion, str], float] = {}
        for line in text.splitlines():
            match = _LINE.match(line.strip())
            if match is None:
                continue
            question_number, reply_number = int(match[1]), int(match[2])
            if not 1 <= question_number <= len(self.questions):
                continue
            graded = self.questions[question_number - 1]
            if 1 <= reply_number <= len(graded.replies):
                grades[graded.question, graded.replies[reply_number - 1]] = float(match[3])
        return grades


def grading_requests(replies: Mapping[SheetQuestion, Sequence[str]], seed: str) -> Iterator[GradingRequest]:
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
            waiting, size = [], 0
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
