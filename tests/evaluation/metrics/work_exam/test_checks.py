"""Which written questions may be asked about a history, and which may not."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from lab.judge.work_exam.test_write import Writer

from builders import called, result, said, told
from workbench import Session
from workbench.engine.transcript.message import Message
from workbench.lab.judge.work_exam.write import write_exams

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


EARLIER = [told(f"Chapter {number} is read.", f"e{number}") for number in range(16)]
LATER = [told(f"Chapter {number} is written.", f"l{number}") for number in range(12)]
SESSION = Session.of([*EARLIER, *HISTORY, *LATER], id="export")
BOUNDARY = len(EARLIER) + len(HISTORY)

Question: TypeAlias = dict[str, object]


def question(**changes: object) -> Question:
    """A question that passes every check, with some fields changed."""
    fields: Question = {
        "kind": "failure",
        "question": "Why does the export not arrive?",
        "gold": "The service account's token expired on 3 May.",
        "points": ["service account token expired"],
        "quote": "token of the service account expired",
    }
    return fields | changes


OTHERS = [
    question(
        question=f"Which detail number {number} is there?", points=[point], gold=point, quote=quote
    )
    for number, (point, quote) in enumerate(
        [
            ("retention of ninety days", "old retention of ninety days"),
            ("nightly move", "Move the nightly export"),
            ("a new bucket", "export to the new bucket"),
            ("jobs/export.toml", "jobs/export.toml:14: retention_days = 90"),
        ]
    )
]
"""With one more, as many as an exam has at least."""
Reason: TypeAlias = Callable[..., str]


@pytest.fixture
def reason(tmp_path: Path) -> Reason:
    """Says why the last of some written questions is refused; empty if it is asked."""

    def of_last(*written: Question) -> str:
        outcomes = write_exams(
            SESSION,
            model=Writer(questions=list(written)),
            boundaries=(BOUNDARY,),
            out=tmp_path,
            quiet=True,
        )
        assert outcomes is not None
        refusals = {refusal.question: refusal.reason for refusal in outcomes[0].refusals}
        return refusals.get(str(written[-1]["question"]), "")

    return of_last


def evidence_of(folder: Path, quote: str) -> tuple[int, str]:
    """Which message of `HISTORY` holds a question's quote, and the quote as it stands there."""
    outcomes = write_exams(
        SESSION,
        model=Writer(questions=[question(quote=quote), *OTHERS]),
        boundaries=(BOUNDARY,),
        out=folder,
        quiet=True,
    )
    assert outcomes is not None
    assert outcomes[0].exam is not None, outcomes[0].refusals
    evidence = outcomes[0].exam.questions[0].evidence
    return evidence.message - len(EARLIER), evidence.quote(SESSION.messages)


def test_a_question_that_the_history_answers_is_asked_with_the_place_of_its_quote(
    tmp_path: Path,
) -> None:
    quote = "token of the service account expired"
    assert evidence_of(tmp_path, quote) == (4, quote)


def test_of_several_places_of_a_quote_the_newest_counts(tmp_path: Path) -> None:
    assert evidence_of(tmp_path, "jobs/export.toml") == (3, "jobs/export.toml")


def test_white_space_in_a_quote_does_not_count(reason: Reason) -> None:
    assert reason(question(quote="token of  the\nservice account expired")) == ""


def test_the_quote_of_a_call_is_found_by_its_argument(tmp_path: Path) -> None:
    message, _ = evidence_of(tmp_path, "bash(command=grep -n retention jobs/export.toml)")
    assert message == 2


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"quote": "the token was stolen in June"}, "does not have its quote"),
        ({"quote": "token"}, "does not have its quote"),
        ({"question": "Did the service account token get expired?"}, "stands in the question"),
        ({"points": []}, "has 0 points"),
        ({"points": ["a"] * 7}, "has 7 points"),
        ({"points": ["of the"]}, "says nothing"),
        ({"gold": ""}, "no question or no answer"),
        ({"points": ["penguins waddle across glaciers"]}, "hardly has a word"),
    ],
)
def test_a_question_with_a_fault_is_refused_with_the_reason(
    changes: Question, expected: str, reason: Reason
) -> None:
    assert expected in reason(question(**changes))


def test_what_the_newest_request_alone_answers_is_not_asked(reason: Reason) -> None:
    about_request = question(
        question="What did the user ask last?", points=["credentials of the job"]
    )
    assert reason(about_request) == "the newest request alone answers it"


def test_of_two_questions_that_give_each_other_away_the_later_is_refused(
    reason: Reason,
) -> None:
    telling = question(
        question="Since the service account token expired, what has to be renewed?",
        points=["look at the export job"],
    )
    assert "gives away the answer" in reason(question(), telling)
    asking = question(
        question="Where was it said that the service account token expired?",
        points=["in the agent's look at the upload"],
    )
    assert "gives its answer away" in reason(asking, question())


def test_a_question_is_asked_once(reason: Reason) -> None:
    assert reason(question(), question()) == "it is asked twice"
