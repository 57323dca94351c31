"""How much contexts have of the lines of code that are needed later."""

from __future__ import annotations

import pytest

from tests.builders import called, result, said, told
from workbench.metrics.code.reading import CodeReading
from workbench.transcript.message import Summary

LINES = [f"total_{name} = convert({name}_amount, rate_of({name}_code))" for name in ("rent", "fuel", "food", "toll")]
MESSAGES = (
    said("please mend the export"),
    called("read", "look", path="src/export.py"),
    result("\n".join(LINES), "look"),
    result("a word that says nothing of it", "other"),
    called("edit", path="src/export.py", old_string="\n".join(LINES)),
)
BOUNDARY = 4
READING = CodeReading(MESSAGES)


def shares(summary: str) -> list[float]:
    return READING.shares(BOUNDARY, [Summary(id="s", text=summary)]).tolist()


def test_a_line_that_is_kept_whole_counts_whole_whatever_stands_around_it() -> None:
    assert READING.shares(BOUNDARY, MESSAGES[:3]).tolist() == [1, 1, 1, 1]
    for_edit = shares(f"Next to edit:\n- {LINES[1]}\n  41\t{LINES[3]}")
    assert (for_edit[1], for_edit[3]) == (1, 1)


def test_a_line_that_only_looks_like_another_has_little_of_it() -> None:
    like = shares(LINES[1])
    assert like[1] == 1
    assert max(like[0], like[2], like[3]) < 0.4


def test_a_context_without_the_lines_has_nothing_of_them() -> None:
    assert READING.shares(BOUNDARY, MESSAGES[3:4]).tolist() == [0, 0, 0, 0]


def test_a_line_counts_by_its_words_that_stand_near_together() -> None:
    said_so = "total rent is what `convert` makes of the rent amount, with the rate of the rent code"
    assert shares(said_so)[0] == pytest.approx(1.0)
    part = shares("`total_rent` is `convert` of `rent_amount`")
    assert 0.2 < part[0] < 0.8
    assert part[1:] == [0, 0, 0]


def test_words_that_are_far_apart_are_no_line() -> None:
    far = " ".join(["plain filler words stand between them"] * 20)
    assert shares(f"total rent {far} convert {far} amount {far} rate code")[0] == 0


def test_a_boundary_without_needs_has_no_lines() -> None:
    assert READING.shares(len(MESSAGES), MESSAGES).size == 0
    assert CodeReading([said("hello"), told("hello")]).needs.lines == ()
