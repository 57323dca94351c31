"""Where nobody wrote questions, what the recording itself says of the work is asked for."""

from __future__ import annotations

import pytest

from builders import called, result, said, told
from workbench import Session, Summary
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.work_exam.reading import WorkReading
from workbench.evaluation.metrics.work_exam.recorded_statements import RecordedExams

HISTORY: list[Message] = [
    said(
        "Move the harbour timetable into the database. You must never rename the ferry columns.",
        "m0",
    ),
    told("The timetable was read twice because the loader ignored its cache file.", "m1"),
    said("Good. Go on.", "m2"),
    told(
        "All eleven ferry routes now come from the database. The winter table was not tested yet.",
        "m3",
    ),
    said("And the islands?", "m4"),
]


def statements(messages: list[Message], kind: str) -> list[str]:
    """The answers of a kind that the whole history gives."""
    return [
        question.gold
        for question in RecordedExams(messages).at(len(messages)).questions
        if question.kind == kind
    ]


def test_a_persons_demand_is_a_rule_and_the_rest_of_the_request_the_goal() -> None:
    assert statements(HISTORY, "rule") == ["You must never rename the ferry columns."]
    assert statements(HISTORY, "goal") == ["Move the harbour timetable into the database."]


def test_a_report_tells_the_state_and_what_was_not_checked() -> None:
    assert statements(HISTORY, "state") == ["All eleven ferry routes now come from the database."]
    assert statements(HISTORY, "unverified") == ["The winter table was not tested yet."]


def test_a_cause_is_a_finding() -> None:
    assert statements(HISTORY, "finding") == [
        "The timetable was read twice because the loader ignored its cache file."
    ]


def test_open_tasks_and_failed_tests_are_asked_for() -> None:
    todo = [{"content": "Load the island routes nightly", "status": "pending"}]
    messages = [
        *HISTORY,
        called("TodoWrite", "c1", todos=todo),
        result("FAILED tests/test_ferry.py::test_sunday_boats", "c1"),
    ]
    assert statements(messages, "next") == ["Load the island routes nightly"]
    assert statements(messages, "failure") == ["FAILED tests/test_ferry.py::test_sunday_boats"]


@pytest.mark.parametrize(
    "line",
    [
        "tests/test_ferry.py::test_sunday_boats FAILED in the harbour",
        "FAIL: test_sunday_boats of the ferry tests",
        "In the ferry timetable 3 failed and eleven passed",
        "E   KeyError: the ferry of sunday has no harbour",
    ],
)
def test_each_way_of_telling_a_failed_test_is_found(line: str) -> None:
    messages = [*HISTORY, called("bash", "c1"), result(f"collected\n{line}\nended", "c1")]
    assert statements(messages, "failure") == [" ".join(line.split())]


def test_what_the_newest_request_says_is_not_asked_for() -> None:
    assert statements(HISTORY[:1], "rule") == []


def test_only_what_stands_before_the_boundary_is_asked_for() -> None:
    assert all(question.evidence.message < 3 for question in RecordedExams(HISTORY).at(3).questions)


def test_each_question_has_its_evidence_and_is_asked_once() -> None:
    messages = [
        *HISTORY,
        told("All eleven ferry routes now come from the database.", "m5"),
        said("Fine.", "m6"),
    ]
    questions = RecordedExams(messages).at(len(messages)).questions
    assert all(question.evidence.quote(messages) == question.gold for question in questions)
    assert len({question.gold for question in questions}) == len(questions)


def test_many_statements_are_taken_from_all_over_the_history() -> None:
    messages: list[Message] = []
    for number in range(40):
        messages += [
            said("Go on please now.", f"u{number}"),
            told(f"Route {number} of the ferry is loaded.", f"a{number}"),
        ]
    places = [question.evidence.message for question in RecordedExams(messages).at(80).questions]
    assert len(places) == 5
    assert min(places) < 10
    assert max(places) > 70


def test_a_context_with_the_statements_has_a_higher_chance_than_one_without() -> None:
    session = Session.of(HISTORY, id="ferry")
    reading = WorkReading.of_statements(Index(HISTORY), session, (5,))
    telling = Summary(
        id="s", text="- Move the timetable into the database; never rename the ferry columns.\n"
    )
    whole, little = reading.chance(5, [telling, HISTORY[4]]), reading.chance(5, HISTORY[4:])
    assert whole is not None
    assert little is not None
    assert whole > little + 0.2


def test_a_boundary_asks_the_same_whatever_was_asked_before_it() -> None:
    messages = [*HISTORY, told("All eleven ferry routes are loaded now.", "m5")]
    exams = RecordedExams(messages)
    for boundary in (6, 3, 5, 6):
        assert exams.at(boundary) == RecordedExams(messages).at(boundary)


def test_only_the_last_answer_of_a_turn_is_a_report() -> None:
    messages: list[Message] = [
        said("Go on please.", "u0"),
        told("The harbour module reads its ferry lines in order.", "a0"),
        told("The winter table has eleven ferry routes today.", "a1"),
    ]
    assert statements(messages, "state") == ["The winter table has eleven ferry routes today."]
