"""The questions that one reader answers from one context, and how the reply is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Literal, TypeAlias

from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.models.model import SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.evaluation.metrics.exam.gap import GAP
from workbench.evaluation.metrics.name_recall import NameQuestion
from workbench.evaluation.metrics.work_exam.question import WorkQuestion
from workbench.lab.judge.work_exam.writer import prompt

Half: TypeAlias = Literal["work", "names"]
"""What a question belongs to: how the work stands, or exact names."""
UNKNOWN = "?"
"""The reply of a reader to whom the context does not tell."""
ANSWER_TOKENS = 80
"""Tokens that a reply may take for each question."""
_NUMBERED = re.compile(r"^[\s*#>-]*(\d{1,3})\s*[.:)]\s*(.*)$")


@dataclass(frozen=True, slots=True)
class SheetQuestion:
    """One question as it is asked and graded.

    Attributes:
        kind: of a written question, or `name`.
        gold: the right answer, or the name.
        points: what an answer must have; none for a name, which is compared in code.
    """

    half: Half
    kind: str
    question: str
    gold: str
    points: tuple[str, ...] = ()

    @classmethod
    def about_work(cls, question: WorkQuestion) -> SheetQuestion:
        """A written question."""
        return cls("work", question.kind, question.question, question.gold, question.points)

    @classmethod
    def about_name(cls, question: NameQuestion) -> SheetQuestion:
        """A line with a gap."""
        return cls("names", "name", f"What stood in the gap? {question.line}", question.answer)


def reading_request(context: str, questions: Sequence[SheetQuestion]) -> SummaryRequest:
    """The request for the answers of one reader from one context; nothing else of the session is
    in it.
    """
    lines = []
    for number, question in enumerate(questions, 1):
        words = question.question.split()
        lines.append(f"{number}. {harmless(' '.join(words))}")
    template = Template(prompt("reader"))
    task = template.substitute(gap=GAP, questions="\n".join(lines))
    text = f"<conversation>\n{context}\n</conversation>\n\n{task}"
    return SummaryRequest(
        purpose="question",
        system=prompt("reader_system"),
        write=lambda _: text,
        max_tokens=ANSWER_TOKENS * len(questions),
        count=TiktokenCounter(),
    )


def read_replies(text: str, count: int) -> list[str | None]:
    """The reply to each of `count` questions; None where the answer has no line for it.

    Lines without a number go on with the reply above them.
    """
    replies: dict[int, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        match = _NUMBERED.match(line)
        number = int(match[1]) if match else 0
        if match and 1 <= number <= count and number not in replies:
            current = [match[2].strip()]
            replies[number] = current
        elif current is not None and line.strip():
            current.append(line.strip())
    ordered: list[str | None] = []
    for number in range(1, count + 1):
        if number in replies:
            ordered.append(" ".join(replies[number]).strip())
        else:
            ordered.append(None)
    return ordered


def is_unknown(reply: str) -> bool:
    """Whether a reply says that the context does not tell."""
    return reply.strip(" \t.*_`\"'") in ("", UNKNOWN)
