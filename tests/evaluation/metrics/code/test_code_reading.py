"""How much contexts have of the lines of code that are needed later."""

from __future__ import annotations

import pytest

from builders import called, result, said, told
from workbench import Summary
from workbench.evaluation.metrics.code.reading import CodeReading

LINES = [
    f"total_{name} = convert({name}_amount, rate_of({name}_code))"
    for name in ("rent", "fuel", "food", "toll")
]
MESSAGES = (
    said("please mend the export"),
    called("read", "look", path="src/export.py"),
    result("import rates\n\n" + "\n".join(LINES), "look"),
    result("a word that says nothing of it", "other"),
    called("edit", path="src/export.py", old_string="\n".join(LINES)),
)
BOUNDARY = 4
READING = CodeReading(MESSAGES)


def shares(summary: str) -> list[float]:
    return [float(share) for share in READING.shares(BOUNDARY, [Summary(id="s", text=summary)])]


def test_the_message_that_shows_the_lines_has_all_of_them_and_others_have_nothing() -> None:
    assert READING.shares(BOUNDARY, MESSAGES[:3]).tolist() == [1, 1, 1, 1]
    assert READING.shares(BOUNDARY, MESSAGES[3:4]).tolist() == [0, 0, 0, 0]


def test_lines_count_whole_next_to_a_line_that_they_stood_next_to() -> None:
    assert shares(f"```python\n{LINES[1]}\n{LINES[2]}\n```")[1:3] == [1, 1]
    assert shares(f"   41\t{LINES[1]}\n   42\t{LINES[2]}")[1:3] == [1, 1]


def test_a_line_alone_does_not_count_since_nothing_says_where_it_stands() -> None:
    assert shares(f"Lines:\n- {LINES[3]}\n- {LINES[0]}") == [0, 0, 0, 0]


def test_a_line_that_never_stood_next_to_another_needs_no_neighbour() -> None:
    shown = (
        said("please"),
        called("read", "look"),
        result(LINES[0], "look"),
        called("edit", old_string=LINES[0]),
    )
    assert CodeReading(shown).shares(3, [Summary(id="s", text=LINES[0])]).tolist() == [1]


def test_a_line_with_its_file_in_the_same_sentence_counts_whole() -> None:
    assert shares(f"To mend in src/export.py: `{LINES[1]}`")[1] == pytest.approx(1.0)
    assert shares(f"To mend in src/import.py: `{LINES[1]}`")[1] < 1


def test_a_line_that_only_looks_like_another_has_little_of_it() -> None:
    like = shares(f"in src/export.py: {LINES[1]}")
    assert like[1] == pytest.approx(1.0)
    assert max(like[0], like[2], like[3]) < 0.4


def test_a_line_counts_by_its_words_in_one_sentence() -> None:
    in_words = (
        "in src/export.py total rent is what `convert` makes of the rent amount, with the rate of"
        " the rent code"
    )
    assert shares(in_words)[0] == pytest.approx(1.0)
    part = shares("`total_rent` in `src/export.py` is `convert` of `rent_amount`")
    assert 0.2 < part[0] < 0.8
    assert part[1:] == [0, 0, 0]


def test_words_of_several_lines_are_no_line() -> None:
    assert shares("src/export.py\ntotal rent\nconvert\namount\nrate code")[0] == 0
    assert (
        shares(
            "The total of rent in src/export.py. It is to convert. An amount has a rate. A code."
        )[0]
        == 0
    )


def test_a_boundary_without_needs_has_no_lines() -> None:
    assert READING.shares(len(MESSAGES), MESSAGES).size == 0
    assert CodeReading([said("hello"), told("hello")]).needs.lines == ()
