"""Names asked as recall: a later line of the agent with the name cut out, and whether a reply gives
the name.

The questions are the exam's needs (`exam.facts`) without look-alikes. What gives answers away is
left out: a line that is nothing but the name's own path, and a line that tells the answer of
another question of the sheet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.evaluation.metrics.code.needs import base_name
from workbench.evaluation.metrics.exam.gap import GAP, gapped
from workbench.evaluation.metrics.exam.item import Item

FEWEST_WORDS = 4
"""Words that a line must have beside its gap; with fewer nothing leads to the name."""
SHORTEST_STEM = 4
_WORD = re.compile(r"[^\W\d_]{2,}")
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"\d[\d,_]*(?:\.\d+)?")
_EDGES = " \t\n\"'`“”‘’«».,;:!?()[]{}<>*"


@dataclass(frozen=True, slots=True)
class NameQuestion:
    """A line with a gap.

    Attributes:
        line: what the reader sees; `gap.GAP` stands where the name was.
        answer: the name.
        said, used: indices of the message that says it first and of the one that used it.
    """

    line: str
    answer: str
    said: int
    used: int


def name_questions(items: Iterable[Item], limit: int) -> list[NameQuestion]:
    """Questions for one sheet, in the order of their use.

    Args:
        items: the exam's items; only facts are asked.
        limit: questions at most; of more, an even choice is taken.
    """
    questions: list[NameQuestion] = []
    for item in items:
        if item.kind != "fact":
            continue
        line = without_number(gapped(item), item.answer)
        if GAP not in line:
            continue
        words = _WORD.findall(line.replace(GAP, " "))
        if len(words) < FEWEST_WORDS:
            continue
        question = NameQuestion(
            line=line,
            answer=item.answer,
            said=item.said,
            used=item.used,
        )
        if not any(_are_related(question, earlier) for earlier in questions):
            questions.append(question)
    question_count = len(questions)
    if question_count <= limit:
        return questions
    chosen_questions: list[NameQuestion] = []
    for number in range(limit):
        place = number * question_count // limit
        chosen_questions.append(questions[place])
    return chosen_questions


def _are_related(question: NameQuestion, earlier: NameQuestion) -> bool:
    """Whether one of two questions tells the answer to the other one."""
    return gives_away(question, earlier) or gives_away(earlier, question)


def without_number(line: str, answer: str) -> str:
    """The line with a gap for each spelling of the answer, if that is a number."""
    value = plain_number(answer)
    if value is None:
        return line

    def gap_or_number(match: re.Match[str]) -> str:
        number = match[0]
        if plain_number(number) == value:
            return GAP
        return number

    return _NUMBER.sub(gap_or_number, line)


def plain_number(text: str) -> str | None:
    """A number without marks of thousands and without zeros at the end; None for any other text."""
    bare_text = text.strip(_EDGES)
    number = _THOUSANDS.sub("", bare_text)
    if not re.fullmatch(r"\d+(?:\.\d+)?", number):
        return None
    if "." not in number:
        return number
    return number.rstrip("0").rstrip(".")


def gives_away(question: NameQuestion, asked_name: NameQuestion) -> bool:
    """Whether a question's line tells the answer to another one, or is the same line."""
    if question.used == asked_name.used:
        words = _without_gaps(question.line)
        if words == _without_gaps(asked_name.line):
            return True
    line = _plain_name(question.line)
    name = _plain_name(asked_name.answer)
    if name in line:
        return True
    line_words: set[str] = set()
    for word in re.split(r"[^\w.-]+", line):
        stem, _, _ = word.partition(".")
        line_words.add(word)
        line_words.add(stem)
    last_part = base_name(name) or name
    if last_part in line_words:
        return True
    return _without_ending(last_part) in line_words


def _without_ending(file_name: str) -> str:
    """`export` of `export.py`: what still gives a file away; a stem of fewer than four letters
    gives nothing away.
    """
    stem, _, _ = file_name.partition(".")
    if len(stem) >= SHORTEST_STEM:
        return stem
    return file_name


def is_right(reply: str, answer: str, names: Iterable[str] = ()) -> bool:
    """Whether a reply gives a name.

    Case, quotation marks and marks of thousands do not count. Of a path its end is enough where no
    other name of the history ends like it.

    Args:
        reply: what a reader wrote.
        answer: the name.
        names: all names of the history; without them the last part of a path is enough.
    """
    if plain_number(answer) is not None:
        return plain_number(reply) == plain_number(answer)
    given_name = _plain_name(reply)
    right_name = _plain_name(answer)
    if not given_name:
        return False
    if _ends_with(given_name, right_name):
        return True
    if not _ends_with(right_name, given_name):
        return False
    for name in map(_plain_name, names):
        is_another = not _ends_with(right_name, name)
        if is_another and _ends_with(name, given_name):
            return False
    return True


def _ends_with(path: str, end: str) -> bool:
    """Whether a path is another one, or ends with it."""
    if path == end:
        return True
    return path.endswith("/" + end)


def _plain_name(text: str) -> str:
    name = text.replace("\\", "/").strip(_EDGES)
    name = name.removeprefix("./").lower()
    return " ".join(name.split())


def _without_gaps(line: str) -> Sequence[str]:
    without_gaps = line.replace(GAP, " ")
    return _WORD.findall(without_gaps.lower())
