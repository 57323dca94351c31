"""What another line of the context still tells is no loss."""

import pytest

from builders import said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.still_told import is_still_told

HISTORY: list[Message] = [
    told("the worker retryLimit = tint(17) guards slow uploads"),
    said("uploads honour retryLimit"),
    said("retryLimit, please"),
]


@pytest.mark.parametrize(
    ("kept", "summary", "is_told"),
    [
        ([1], "", True),
        ([2], "", False),
        ([], "- retrylimit guards the worker", True),
        ([], "- retryLimit", False),
        ([], "- slow uploads", False),
    ],
    ids=["a user's line", "the name alone", "a summary's words", "a summary's list", "no name"],
)
def test_a_line_that_says_of_it_what_its_evidence_does_still_tells_it(
    kept: list[int], summary: str, is_told: bool
) -> None:
    demand = Index([*HISTORY, told("I edit retryLimit = tint(17)")]).demand(len(HISTORY))
    (need,) = [need for need in demand.needs if need.entity.text == "retryLimit"]
    assert is_still_told(need, demand.lines_that_name(need, kept, [summary])) == is_told
