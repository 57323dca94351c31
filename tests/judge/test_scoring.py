import pytest

from workbench.judge.scoring import Expected, grade, holds, plain_words


@pytest.mark.parametrize(
    ("answer", "said", "verdict"),
    [
        ("60 minutes", "60 minutes.", "right"),
        ("src/app.py", "`src/app.py`", "right"),
        ("the return label", "It is the warehouse on the return label.", "right"),
        ("Ilse", "Milena", "open"),
        ("port", "not the port", "open"),
        ("Ilse", "", "wrong"),
        ("Ilse", "NOT STATED", "abstained"),
        ("Ilse", "I don't know.", "abstained"),
        ("Ilse", "The conversation does not say who.", "abstained"),
        ("Ilse", "Ilse " + "and so on " * 30, "open"),
    ],
)
def test_words_are_right_in_the_same_order_whatever_the_marks_around_them(answer: str, said: str, verdict: str) -> None:
    assert grade(Expected(answer), said).verdict == verdict


@pytest.mark.parametrize(
    ("answer", "said", "verdict"),
    [
        ("60 min", "60", "right"),
        ("60 min", "60 minutes", "right"),
        ("60 min", "60 seconds", "wrong"),
        ("60 min", "6", "wrong"),
        ("4,200", "about 4200 rows", "right"),
        ("45", "45 or 60", "open"),
        ("45", "-", "wrong"),
    ],
)
def test_numbers_are_compared_by_value_and_unit(answer: str, said: str, verdict: str) -> None:
    assert grade(Expected(answer, "number"), said).verdict == verdict


def test_what_was_right_once_is_stale() -> None:
    expected = Expected("60", "number", stale="45")
    assert grade(expected, "45 minutes").verdict == "stale"
    assert grade(expected, "60").verdict == "right"
    assert grade(Expected("label", stale="config.warehouses[0]"), "config.warehouses[0]").verdict == "stale"


@pytest.mark.parametrize(("said", "verdict"), [("B", "right"), ("(b) the hub", "right"), ("B) the hub", "right"),
                                               ("Answer: B", "right"), ("the hub", "right"), ("A) the box", "wrong"),
                                               ("Both", "wrong")])  # fmt: skip
def test_a_choice_is_its_letter_or_its_words(said: str, verdict: str) -> None:
    assert grade(Expected("B", "choice", options=("the box", "the hub")), said).verdict == verdict


def test_a_set_is_right_whole_and_scored_in_part() -> None:
    expected = Expected("a.py\nb.py\nc.py", "set")
    assert grade(expected, "b.py, a.py and c.py").verdict == "right"
    part = grade(expected, "- a.py\n- b.py\n- d.py")
    assert part.verdict == "wrong" and part.score == pytest.approx(2 / 3)


def test_a_text_holds_an_answer_in_whole_words() -> None:
    assert holds("The limit is 20 minutes a run.", "20 minutes")
    assert not holds("The limit is 120 minutes.", "20 minutes")
    assert plain_words("The `Hub`, said 'so'.") == "hub said so"
