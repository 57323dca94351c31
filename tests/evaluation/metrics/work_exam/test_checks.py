"""Which written questions may be asked about a history, and which may not."""

import pytest

from builders import called, result, said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.work_exam.checks import WrittenQuestion, checked

HISTORY: list[Message] = [
    said(
        "Move the nightly export to the new bucket, but keep the old retention of ninety days.",
        "u1",
    ),
    told("I look at the export job first.", "a1"),
    called("bash", "c1", command="grep -n retention jobs/export.toml"),
    result("jobs/export.toml:14: retention_days = 90", "c1"),
    told("The upload fails since the token of the service account expired on 3 May.", "a2"),
    said("Which credentials does the job use, by the way?", "u2"),
]


def question(**changes: object) -> WrittenQuestion:
    """A question that passes every check, with some fields changed."""
    fields: dict[str, object] = {
        "kind": "failure",
        "question": "Why does the export not arrive?",
        "gold": "The service account's token expired on 3 May.",
        "points": ("service account token expired",),
        "quote": "token of the service account expired",
    }
    return WrittenQuestion(**{**fields, **changes})  # type: ignore[arg-type]  # fields by name


def reason(written: WrittenQuestion, *before: WrittenQuestion) -> str:
    """Why a question is refused behind others; empty if it is asked."""
    accepted, refusals = checked([*before, written], HISTORY)
    assert len(accepted) + len(refusals) == len(before) + 1
    return refusals[-1].reason if refusals and refusals[-1].question == written.question else ""


def test_a_question_that_the_history_answers_is_asked_with_the_place_of_its_quote() -> None:
    accepted, refusals = checked([question()], HISTORY)
    assert not refusals
    evidence = accepted[0].evidence
    assert evidence.message == 4
    assert evidence.quote(HISTORY) == "token of the service account expired"


def test_white_space_in_a_quote_does_not_count() -> None:
    assert reason(question(quote="token of  the\nservice account expired")) == ""


def test_the_quote_of_a_call_is_found_by_its_argument() -> None:
    accepted, _ = checked(
        [question(quote="bash(command=grep -n retention jobs/export.toml)")], HISTORY
    )
    assert accepted[0].evidence.message == 2


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"quote": "the token was stolen in June"}, "does not have its quote"),
        ({"quote": "token"}, "does not have its quote"),
        ({"question": "Did the service account token get expired?"}, "stands in the question"),
        ({"points": ()}, "has 0 points"),
        ({"points": ("a",) * 7}, "has 7 points"),
        ({"points": ("of the",)}, "says nothing"),
        ({"gold": ""}, "no question or no answer"),
        ({"points": ("penguins waddle across glaciers",)}, "hardly has a word"),
    ],
)
def test_a_question_with_a_fault_is_refused_with_the_reason(
    changes: dict[str, object], expected: str
) -> None:
    assert expected in reason(question(**changes))


def test_what_the_newest_request_alone_answers_is_not_asked() -> None:
    about_request = question(
        question="What did the user ask last?", points=("credentials of the job",)
    )
    assert reason(about_request) == "the newest request alone answers it"


def test_of_two_questions_that_give_each_other_away_the_later_is_refused() -> None:
    telling = question(
        question="Since the service account token expired, what has to be renewed?",
        points=("look at the export job",),
    )
    assert "gives away the answer" in reason(telling, question())
    assert "gives its answer away" in reason(
        question(),
        question(
            question="Where was it said that the service account token expired?",
            points=("in the agent's look at the upload",),
        ),
    )


def test_a_question_is_asked_once() -> None:
    assert reason(question(), question()) == "it is asked twice"
