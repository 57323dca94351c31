"""One reader's sheet, and what the grader sees of it: what is asked, how replies and grades are
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from lab.judge.work_exam.test_judge_work import Grader, Reader, exams, judged

from workbench import Completion, SummaryRequest

__all__ = ["exams"]
QUESTIONS = 6
"""Of the exam."""


@dataclass
class Replying(Reader):
    """Replies what it is told to, by the number of the request."""

    reply: Callable[[int], str] = str

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.prompts.append(request.prompt)
        return Completion(text=self.reply(len(self.prompts)), model=self.name)


@dataclass
class Grading(Grader):
    """Gives these grades."""

    grades: str = ""
    prompts: list[str] = field(default_factory=list)

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.prompts.append(request.prompt)
        return Completion(text=self.grades, model=self.name)


def replies(table: pd.DataFrame, strategy: str) -> list[str | None]:
    """Of the reader of one context, in the order of the questions."""
    of_strategy = table[table["strategy"] == strategy]["reply"]
    return [None if pd.isna(reply) else str(reply) for reply in of_strategy]


def replies_seen(prompt: str) -> list[str]:
    """The replies that a grader sees, with their labels."""
    return re.findall(r"^Q\d+\.R\d+: .*", prompt, re.MULTILINE)


def test_a_request_has_the_context_and_the_numbered_questions_and_no_answer(exams: Path) -> None:
    reader = Reader()
    judged(exams, model=reader, names=2)
    for prompt in reader.prompts:
        context, _, sheet = prompt.rpartition("</conversation>")
        assert context.startswith("<conversation>\n")
        questions = re.findall(r"^(\d+)\. (.*)", sheet, re.MULTILINE)
        assert [int(number) for number, _ in questions] == [*range(1, len(questions) + 1)]
        about_work, about_names = questions[:QUESTIONS], questions[QUESTIONS:]
        assert about_names
        assert not any(re.search(r"\b40\d\d\b", question) for _, question in about_work)
        assert all("____" in question for _, question in about_names)


def test_replies_are_read_by_their_numbers_and_a_line_without_one_goes_on(exams: Path) -> None:
    text = "1: a faster export\n2. `src/export.py`\n\n- 3) a faster\nexport\n\n4: ?\n9: no such one"
    table = judged(exams, model=Replying(reply=lambda _: text))
    read = ["a faster export", "`src/export.py`", "a faster export", "? 9: no such one"]
    assert replies(table, "none") == [*read, None, None]


def test_equal_replies_are_graded_once_and_grades_are_read_by_label(exams: Path) -> None:
    def reply(request: int) -> str:
        return f"1: speed\n2: {'a' if request % 2 else 'b'}\n3: ?\n4: ``"

    grader = Grading(grades="Q1.R1: 0.5\n- Q2.R1: 1\nQ2.R2: 0\nQ7.R1: 1\nQ1.R9: 1\nhello")
    table = judged(exams, model=Replying(reply=reply), grader=grader)
    (prompt,) = grader.prompts
    seen = replies_seen(prompt)
    assert sorted(seen) == ["Q1.R1: speed", f"Q2.R1: {seen[1][-1]}", f"Q2.R2: {seen[2][-1]}"]
    assert {seen[1][-1], seen[2][-1]} == {"a", "b"}
    assert prompt.count("Points: ") == 2 and "truncate" not in prompt
    scores = {reply: set(rows["score"]) for reply, rows in table.groupby("reply")}
    assert scores == {
        "speed": {0.5},
        seen[1][-1]: {1.0},
        seen[2][-1]: {0.0},
        "?": {0.0},
        "``": {0.0},
    }


def test_many_replies_are_spread_over_requests_in_an_order_of_the_boundary(exams: Path) -> None:
    def many(request: int) -> str:
        return "\n".join(f"{number}: answer {request:02}" for number in range(1, QUESTIONS + 1))

    def backwards(request: int) -> str:
        return many(25 - request)

    sheets = []
    for reply in (many, backwards):
        grader = Grading()
        judged(
            exams,
            model=Replying(reply=reply),
            grader=grader,
            readings=8,
            out=exams / reply.__name__,
        )
        sheets.append(sorted(grader.prompts))
    assert sheets[0] == sheets[1]
    seen = [replies_seen(prompt) for prompt in sheets[0]]
    assert len(seen) > 1 and sum(map(len, seen)) == 24 * QUESTIONS
    first = [line.partition(": ")[2] for line in seen[0] if line.startswith("Q1.")]
    assert len(first) == 24 and first != sorted(first)


def test_nothing_is_asked_where_nobody_said_anything(exams: Path) -> None:
    grader = Grading()
    table = judged(exams, model=Replying(reply=lambda _: "1: ?\n2:\n3. '?'."), grader=grader)
    assert grader.prompts == []
    assert set(table["score"].dropna()) == {0.0}
