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


def name_questions(items: Iterable[Item], most: int) -> list[NameQuestion]:
    """Questions for one sheet, in the order of their use.

    Args:
        items: the exam's items; only facts are asked.
        most: questions at most; of more, an even choice is taken.
    """
    questions: list[NameQuestion] = []
    for item in items:
        if item.kind != "fact":
            continue
        question = NameQuestion(
            without_number(gapped(item), item.answer), item.answer, item.said, item.used
        )
        words = _WORD.findall(question.line.replace(GAP, " "))
        if GAP not in question.line or len(words) < FEWEST_WORDS:
            continue
        if not any(
            gives_away(question, other) or gives_away(other, question) for other in questions
        ):
            questions.append(question)
    if len(questions) <= most:
        return questions
    return [questions[number * len(questions) // most] for number in range(most)]


def without_number(line: str, answer: str) -> str:
    """The line with a gap for each spelling of the answer, if that is a number (`24603`,
    `24,603`).
    """
    value = plain_number(answer)
    if value is None:
        return line
    return _NUMBER.sub(lambda match: GAP if plain_number(match[0]) == value else match[0], line)


def plain_number(text: str) -> str | None:
    """A number without marks of thousands and without zeros at the end; None for any other text."""
    bare = _THOUSANDS.sub("", text.strip(_EDGES))
    if not re.fullmatch(r"\d+(?:\.\d+)?", bare):
        return None
    return bare.rstrip("0").rstrip(".") if "." in bare else bare


def gives_away(question: NameQuestion, other: NameQuestion) -> bool:
    """Whether a question's line tells the answer to another one: both lines are one, or the line
    has the name.
    """
    if question.used == other.used and _without_gaps(question.line) == _without_gaps(other.line):
        return True
    line = _plain_name(question.line)
    name = _plain_name(other.answer)
    words = {
        word for piece in re.split(r"[^\w.-]+", line) for word in (piece, piece.partition(".")[0])
    }
    return name in line or base_name(name) in words or _without_ending(base_name(name)) in words


def base_name(name: str) -> str:
    """The last part of a path; any other name as it is."""
    return name.rstrip("/").rpartition("/")[2] or name


def _without_ending(file_name: str) -> str:
    """`export` of `export.py`: what still gives a file away; a stem of fewer than four letters
    gives nothing away.
    """
    stem = file_name.partition(".")[0]
    return stem if len(stem) >= SHORTEST_STEM else file_name


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
    written = _plain_name(reply)
    name = _plain_name(answer)
    if not written:
        return False
    if written == name or written.endswith("/" + name):
        return True
    if not name.endswith("/" + written):
        return False
    others = {
        other
        for other in map(_plain_name, names)
        if other != name and not name.endswith("/" + other)
    }
    return not any(other == written or other.endswith("/" + written) for other in others)


def _plain_name(text: str) -> str:
    return " ".join(text.replace("\\", "/").strip(_EDGES).removeprefix("./").lower().split())


def _without_gaps(line: str) -> Sequence[str]:
    return _WORD.findall(line.replace(GAP, " ").lower())
