"""What the fitted reader gives to contexts that name much and say little, of a session that it
was not fitted to.
"""

from collections.abc import Callable
from functools import cache, partial
from statistics import fmean

import pytest
from recorded_files import bundled_files

import workbench as wb
from workbench import Context, Prepared, prepared
from workbench.engine.transcript.message import Message, SystemMessage, said_text
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.lab.judge.work_exam.contexts import REFERENCES, gamed_context
from workbench.lab.validation.adversaries import Gamer

SHARE = 0.1
REAL_SOUP = 0.26
"""What real readers know from soups of a tenth, see the table in reports/studies/real-readers."""
BY_PROJECT = 0.1
"""How far the reader is off in a usual project."""
LONG_LINE = 8
GAMERS: dict[str, Callable[[Prepared, int, float], Context]] = {
    "soup": REFERENCES["soup"],
    "index": REFERENCES["index"],
    "list of names": partial(gamed_context, Gamer("list", names=8, order="newest")),
    "names with their words": partial(
        gamed_context, Gamer("soup", names=1, words=10, order="newest")
    ),
    "words around a name": partial(gamed_context, Gamer("fragment", words=6, order="newest")),
    "words of a line, turned": partial(gamed_context, Gamer("shuffled", order="newest")),
}


@cache
def ready() -> Prepared:
    file = next(file for file in bundled_files() if file.parent.name == "parcel-claims")
    return prepared(wb.load(file)[0])


@cache
def chance(at: int, text: str) -> float:
    """The mean chance of a right answer at a boundary."""
    exams = exams_of(ready().session)
    exam = exams and exams.at(at)
    assert exam
    rarity = Rarity(said_text(message) for message in ready().session.messages[:at])
    return float(shipped_reader().chances(exam.questions, text, rarity).mean())


def boundaries() -> list[int]:
    exams = exams_of(ready().session)
    assert exams
    return [exam.at for exam in exams.exams]


def text_of(gamer: str, at: int) -> str:
    return context_text(GAMERS[gamer](ready(), at, SHARE).messages)


def history(at: int) -> tuple[Message, ...]:
    return ready().session.messages[:at]


@pytest.mark.parametrize("gamer", GAMERS)
def test_a_gamer_gets_little_more_than_real_readers_get_from_soups(gamer: str) -> None:
    gamed = fmean(chance(at, text_of(gamer, at)) for at in boundaries())
    assert gamed < REAL_SOUP + 0.05 + BY_PROJECT


def test_commas_between_the_names_make_no_statements() -> None:
    for at in boundaries():
        plain = text_of("soup", at)
        lines = [
            ", ".join(line.split()) if len(line.split()) > LONG_LINE else line
            for line in plain.splitlines()
        ]
        assert chance(at, "\n".join(lines)) < chance(at, plain) + 0.02


def test_shorter_lines_make_hardly_any() -> None:
    for at in boundaries():
        plain = text_of("soup", at)
        parts = []
        for line in plain.splitlines():
            words = line.split()
            size = 4 if len(words) > LONG_LINE else len(words) or 1
            parts += [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
        assert chance(at, "\n".join(parts)) < chance(at, plain) + 0.1


def test_all_of_the_history_is_read_far_better_and_its_system_prompt_hardly_at_all() -> None:
    for at in boundaries():
        assert chance(at, context_text(history(at))) > 0.8
        prompt = [message for message in history(at) if isinstance(message, SystemMessage)]
        assert chance(at, context_text(prompt)) < 0.25
