"""Grading: what the grader sees, and how its grades are read."""

from workbench.lab.judge.work_exam.grading import grading_requests
from workbench.lab.judge.work_exam.sheet import SheetQuestion

GOAL = SheetQuestion(
    "work", "goal", "What does the user want?", "A faster export.", ("faster export",)
)
NEXT = SheetQuestion("work", "next", "What comes next?", "The tests.", ("run the tests",))


def test_equal_replies_are_graded_once_and_a_question_mark_never() -> None:
    (request,) = grading_requests({GOAL: ["speed", "?", "speed", "a faster export"]}, "seed")
    assert sorted(request.questions[0].replies) == ["a faster export", "speed"]


def test_the_grader_sees_the_points_and_not_where_a_reply_came_from() -> None:
    (request,) = grading_requests({GOAL: ["speed"]}, "seed")
    assert "Points: faster export" in request.request.prompt
    assert "Q1.R1: speed" in request.request.prompt


def test_grades_are_read_by_label() -> None:
    (request,) = grading_requests({GOAL: ["speed", "a faster export"], NEXT: ["nothing"]}, "seed")
    first, second = request.questions[0].replies
    grades = request.grades("Q1.R1: 0.5\n- Q1.R2: 1\nQ2.R1: 0\nQ7.R1: 1\nQ1.R9: 1\nhello")
    assert grades == {(GOAL, first): 0.5, (GOAL, second): 1.0, (NEXT, "nothing"): 0.0}


def test_many_replies_are_spread_over_requests() -> None:
    replies = {GOAL: [f"answer {n}" for n in range(120)], NEXT: ["nothing"]}
    requests = list(grading_requests(replies, "seed"))
    assert [len(request.questions) for request in requests] == [1, 1]


def test_the_order_of_replies_depends_on_the_seed_alone() -> None:
    replies = {GOAL: [f"answer {n}" for n in range(20)]}
    backwards = {GOAL: list(reversed(replies[GOAL]))}
    assert list(grading_requests(replies, "a")) == list(grading_requests(backwards, "a"))
    assert list(grading_requests(replies, "a")) != list(grading_requests(replies, "b"))


def test_nothing_is_asked_where_nobody_said_anything() -> None:
    assert list(grading_requests({GOAL: ["?", ""]}, "seed")) == []
