"""A model decides what code leaves open about a rule."""

from __future__ import annotations

import pytest

from workbench import find_model
from workbench.evaluation.metrics.exam.rule_verdicts import RuleVerdict
from workbench.lab.judge.rules import RuleGrader

OPEN = RuleVerdict("never push to the main branch", 0, "unsure", "pushed to main", "")


def grader(answer: str) -> RuleGrader:
    return RuleGrader(find_model(f"scripted:{answer}"))


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("Kept.", "other words"),
        ("It says the opposite: contradicted", "contradicted"),
        ("lost", "lost"),
        ("I would rather not say.", "unsure"),
    ],
)
def test_its_last_word_counts(answer: str, outcome: str) -> None:
    assert grader(answer).graded(OPEN, ["Pushed to main."]).outcome == outcome


def test_it_is_not_asked_where_code_is_sure_or_nothing_was_written() -> None:
    sure = RuleVerdict(OPEN.rule, 0, "word for word", OPEN.rule, "")
    assert grader("lost").graded(sure, ["A summary."]) == sure
    assert grader("kept").graded(OPEN, []) == OPEN
