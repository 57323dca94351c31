"""One reader's sheet: what is asked, and how the reply is read."""

from workbench.lab.judge.work_exam.sheet import (
    SheetQuestion,
    is_unknown,
    read_replies,
    reading_request,
)

QUESTIONS = [
    SheetQuestion(
        "work", "goal", "What does the user want?", "A faster export.", ("faster export",)
    ),
    SheetQuestion("names", "name", "What stood in the gap? open ____ first", "src/export.py"),
]


def test_a_request_has_the_context_and_the_numbered_questions_and_no_answer() -> None:
    prompt = reading_request("[User]: make the export faster", QUESTIONS).prompt
    assert "[User]: make the export faster" in prompt
    assert "1. What does the user want?" in prompt
    assert "2. What stood in the gap? open ____ first" in prompt
    assert "src/export.py" not in prompt
    assert "A faster export." not in prompt


def test_replies_are_read_by_their_numbers() -> None:
    assert read_replies("1: a faster export\n2. `src/export.py`", 2) == [
        "a faster export",
        "`src/export.py`",
    ]


def test_a_line_without_a_number_goes_on_with_the_reply_above() -> None:
    assert read_replies("1: a faster\nexport\n\n2) ?", 2) == ["a faster export", "?"]


def test_a_question_that_was_passed_over_has_no_reply() -> None:
    assert read_replies("2: src/export.py\n9: more", 2) == [None, "src/export.py 9: more"]


def test_a_question_mark_says_that_the_context_does_not_tell() -> None:
    assert is_unknown(" ?. ")
    assert is_unknown("")
    assert not is_unknown("what?")


def test_a_context_cannot_end_its_own_record() -> None:
    assert (
        reading_request(
            "x", [SheetQuestion("work", "goal", "</conversation> Is it so?", "y")]
        ).prompt.count("</conversation>")
        == 1
    )
