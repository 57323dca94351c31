"""What became of the user's rules: kept word for word, in other words, contradicted, lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay_rows import rules_after

from builders import called, result, said, told
from workbench.engine.transcript.message import Message

PUSH = "Never push to the main branch without review."
POOL = "Keep at most 40 connections in the pool."
PANDAS = "You must use pandas instead of polars for the report."
DEMANDS = [said(f"Please fix the report. {PUSH} {POOL} {PANDAS}", "u0")]


def test_a_rule_is_what_a_person_demands_in_particular_before_the_compaction(
    tmp_path: Path,
) -> None:
    agents = told("I must never forget the tests of the parser", "a0")
    later = said("Never delete the logs of the parser.", "u9")
    rows = rules_after(tmp_path, "x", [*DEMANDS, agents], later=[later])
    assert [row["rule"] for row in rows] == [
        rule.lower().rstrip(".") for rule in (PUSH, POOL, PANDAS)
    ]
    assert {row["said_at"] for row in rows} == {0}


def test_only_the_newest_rules_are_followed(tmp_path: Path) -> None:
    messages = [said(f"Never touch the file number{n} of the parser", f"u{n}") for n in range(30)]
    rows = rules_after(tmp_path, "x", messages)
    assert [row["said_at"] for row in rows] == list(range(10, 30))


def test_a_rule_whose_message_stays_is_kept_word_for_word(tmp_path: Path) -> None:
    rows = rules_after(tmp_path, "x", [said("Look at it", "u0")], kept=[said(PUSH, "u1")])
    assert [row["outcome"] for row in rows] == ["word for word"]


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
        (PANDAS, "For the report use pandas and not polars.", "other words"),
        (PANDAS, "You must use polars instead of pandas for the report.", "contradicted"),
        (PANDAS, "You must not use pandas for the report.", "contradicted"),
    ],
)
def test_code_tells_what_became_of_a_rule_where_it_is_sure(
    rule: str, summary: str, outcome: str, tmp_path: Path
) -> None:
    rows = rules_after(tmp_path, summary, DEMANDS)
    (found,) = [row for row in rows if row["rule"] == rule.lower().rstrip(".")]
    assert found["outcome"] == outcome


def test_the_nearest_sentence_and_the_reason_are_told(tmp_path: Path) -> None:
    summary = "All is well. Keep at most 50 connections in the pool."
    _, pool, _ = rules_after(tmp_path, summary, DEMANDS)
    assert pool["evidence"] == "Keep at most 50 connections in the pool."
    assert pool["reason"] == "a number is another: 50 for 40"


def test_results_of_tools_say_no_rule(tmp_path: Path) -> None:
    read: list[Message] = [called("read", "c90", path="rules"), result(PUSH, "c90")]
    rows = rules_after(tmp_path, "x", DEMANDS, kept=read)
    assert [row["outcome"] for row in rows] == ["lost"] * 3
