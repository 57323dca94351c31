"""What became of the user's rules: kept word for word, in other words, contradicted, lost."""

from __future__ import annotations

import pytest

from builders import said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.exam.rule_verdicts import RuleVerdict, rule_verdicts, rules_before
from workbench.evaluation.metrics.view import View

PUSH = "Never push to the main branch without review."
POOL = "Keep at most 40 connections in the pool."
PANDAS = "You must use pandas instead of polars for the report."
MESSAGES: list[Message] = [said(f"Please fix the report. {PUSH} {POOL} {PANDAS}", "u0")]


def left(*texts: str) -> View:
    """A context that holds a summary alone."""
    return View(frozenset(), texts, texts, (None,) * len(texts))


def verdict(rule: str, summary: str) -> RuleVerdict:
    start = rule[:12].lower()
    verdicts = rule_verdicts(MESSAGES, 1, left(summary))
    return next(verdict for verdict in verdicts if verdict.rule.startswith(start))


def test_a_rule_is_what_a_person_demands_in_particular_before_the_boundary() -> None:
    messages = [
        *MESSAGES,
        told("I must never forget the tests of the parser", "a0"),
        said("Go on", "u1"),
    ]
    assert [rule.said_at for rule in rules_before(messages, 3)] == [0, 0, 0]
    assert rules_before(messages, 0) == []


def test_only_the_newest_rules_are_followed() -> None:
    messages = [said(f"Never touch the file number{n} of the parser", f"u{n}") for n in range(30)]
    rules = rules_before(messages, 30)
    assert len(rules) == 20 and rules[-1].said_at == 29


def test_a_rule_whose_message_stays_is_kept_word_for_word() -> None:
    verdicts = rule_verdicts(MESSAGES, 1, View(frozenset({0}), (), (), ()))
    assert {verdict.outcome for verdict in verdicts} == {"word for word"}


@pytest.mark.parametrize(
    ("rule", "summary", "outcome"),
    [
        (PUSH, f'The user said: "{PUSH.lower()}"', "word for word"),
        (PUSH, "No pushing to the main branch without a review.", "other words"),
        (PUSH, "Always push to the main branch without review.", "contradicted"),
        (PUSH, "Pushed the branch to main.", "unsure"),
        (PUSH, "The weather was fine.", "lost"),
        (POOL, "The pool keeps at most 40 connections.", "other words"),
        (POOL, "Keep at most 50 connections in the pool.", "contradicted"),
        (PANDAS, "For the report use pandas, not polars.", "other words"),
        (PANDAS, "You must use polars instead of pandas for the report.", "contradicted"),
        (PANDAS, "You must not use pandas for the report.", "contradicted"),
    ],
)
def test_code_tells_what_became_of_a_rule_where_it_is_sure(
    rule: str, summary: str, outcome: str
) -> None:
    assert verdict(rule, summary).outcome == outcome


def test_the_nearest_sentence_and_the_reason_are_told() -> None:
    rule_verdict = verdict(POOL, "All is well. Keep at most 50 connections in the pool.")
    assert rule_verdict.evidence == "Keep at most 50 connections in the pool."
    assert rule_verdict.reason == "a number is another: 50 for 40"


def test_results_of_tools_say_no_rule() -> None:
    from builders import called, result

    messages = [*MESSAGES, called("read", "c0"), result(PUSH, "c0")]
    verdicts = rule_verdicts(messages, 3, View(frozenset({1, 2}), (), (), ()))
    assert {verdict.outcome for verdict in verdicts} == {"lost"}
