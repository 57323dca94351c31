"""Names asked as recall: which lines are asked, and which replies give the name."""

import pytest

from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.name_recall import is_right, name_questions


def fact(answer: str, use: str, used: int = 9) -> Item:
    return Item("fact", answer, ("a", "b", "c"), evidence=use, use=use, said=1, used=used)


def lines(*items: Item) -> list[str]:
    return [question.line for question in name_questions(items, 20)]


def test_the_name_is_cut_out_of_the_line_of_its_use() -> None:
    assert lines(fact("src/export.py", "I change the upload in src/export.py now")) == [
        "I change the upload in ____ now"
    ]


@pytest.mark.parametrize("spelling", ["24603", "24,603", "24_603"])
def test_a_number_is_cut_out_in_every_spelling(spelling: str) -> None:
    asked = lines(
        fact("24603", f"the table shows 24603 rows, that is {spelling} of the nightly run")
    )
    assert "24" not in asked[0]


def test_a_line_that_is_nothing_but_the_path_is_not_asked() -> None:
    assert lines(fact("a/b/registry.go", "/home/dev/a/b/registry.go")) == []


def test_questions_of_one_sheet_do_not_give_each_other_away() -> None:
    asked = lines(
        fact("src/export.py", "the job reads its settings in src/export.py first", used=5),
        fact(
            "retention_days",
            "set retention_days in the settings of src/export.py to ninety",
            used=7,
        ),
    )
    assert len(asked) == 1


def test_two_gaps_in_one_line_are_asked_once() -> None:
    use = "copy the settings from alpha.toml over to beta.toml before the run"
    assert len(lines(fact("alpha.toml", use), fact("beta.toml", use))) == 1


def test_of_many_questions_an_even_choice_is_taken() -> None:
    items = [
        fact(f"unit_{word}", f"the {word} engine is started by calling unit_{word} once", used=at)
        for at, word in enumerate(["amber", "basalt", "cobalt", "diorite", "emerald", "flint"])
    ]
    assert [question.answer for question in name_questions(items, 3)] == [
        "unit_amber",
        "unit_cobalt",
        "unit_emerald",
    ]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("src/Export.py", "src/export.py"),
        ("`src/export.py`.", "src/export.py"),
        ("/home/dev/src/export.py", "src/export.py"),
        ("registry.go", "agent/registry.go"),
        ("24,603", "24603"),
        ("24603.0", "24603"),
    ],
)
def test_a_reply_that_gives_the_name_is_right(reply: str, answer: str) -> None:
    assert is_right(reply, answer)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("src/import.py", "src/export.py"),
        ("24604", "24603"),
        ("py", "src/export.py"),
        ("", "x1"),
        ("?", "src/export.py"),
    ],
)
def test_another_reply_is_wrong(reply: str, answer: str) -> None:
    assert not is_right(reply, answer)


def test_the_end_of_a_path_is_not_enough_where_two_paths_have_it() -> None:
    names = ["agent/registry.go", "cmd/registry.go"]
    assert not is_right("registry.go", "agent/registry.go", names)
    assert is_right("agent/registry.go", "agent/registry.go", names)
