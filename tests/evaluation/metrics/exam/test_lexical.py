"""The lexical reader on items small enough to be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.lexical import Lexical

RELATED = 2

PORT = Item("fact", "5413", ("6000", "7000"), {"databas": 2.0, "port": 1.0})
LATEST = Item("latest", "600", ("500", "40"), {"limit": 2.0, "record": 1.0})
RULE = Item("rule", "Never push to the main branch", ("push to the main branch",))
CONTRAST = Item(
    "rule", "use metric units, not imperial ones", ("do not use metric units, not imperial ones",)
)
TODO = Item("todo", "write the migration guide", ("rename the config loader",))
EDGE = Item("fact", "ledger", ("queue",), {"=gate-way": 2.0}, sides={"=gate-way": -RELATED})


def credit(item: Item, *lines: str) -> float:
    return float(Lexical().read([item], ["\n".join(lines)])[0])


def test_the_candidate_beside_the_cue_is_chosen() -> None:
    assert credit(PORT, "the database port is 5413", "the admin console is 6000") == 1
    assert credit(PORT, "the database port is 6000", "the admin console is 5413") == 0


def test_a_terse_line_is_enough() -> None:
    assert credit(PORT, "port=5413;log=6000") == 1


def test_where_nothing_leads_to_a_candidate_the_reader_guesses() -> None:
    assert credit(PORT, "the database port is known") == pytest.approx(1 / 3)
    assert credit(PORT, "5413") == pytest.approx(1 / 3)
    assert credit(PORT, "5413", "the database port is 6000") == 0


def test_a_context_that_says_less_than_half_of_the_evidence_is_half_a_guess() -> None:
    item = replace(PORT, evidence="the database port is 5413")
    assert credit(item, "the database port is 5413") == credit(item, "database: 5413") == 1
    near = "5413; admin; console; mail; handler; of the port"
    assert credit(PORT, near) == 1
    assert 1 / 3 < credit(item, near) < 0.7
    wrong = near.replace("5413", "6000")
    assert 0 < credit(item, wrong) < 1 / 3


def test_a_soup_in_which_all_are_near_shares_the_credit() -> None:
    assert credit(PORT, "database 5413 6000 7000 port") == pytest.approx(1 / 3)


def test_a_denied_value_counts_a_quarter() -> None:
    lines = ("obsolete database port: 6000", "now the port is 5413")
    assert credit(PORT, *lines) == 1
    assert credit(PORT, "the database port is 6000", "obsolete port: 5413") == 0


def test_the_newest_of_several_values_holds() -> None:
    assert credit(LATEST, "the record limit is 500", "the record limit is 600") == 1
    assert credit(LATEST, "the record limit is 600", "the record limit is 500") == 0
    assert credit(LATEST, "the record limit is 600", "the record limit was not 500") == 1


def test_a_relation_the_other_way_round_is_weak_evidence() -> None:
    assert credit(EDGE, "gate-way depends on ledger", "gate-way; queue") == 1
    assert credit(EDGE, "ledger depends on gate-way", "gate-way; queue") == 0
    assert credit(EDGE, "ledger is used by gate-way", "gate-way; queue") == 1


def test_a_word_on_the_other_side_of_a_name_than_in_the_evidence_counts_a_quarter() -> None:
    lines = ("5413 port of the database", "the admin port is 6000")
    item = replace(PORT, evidence="the database port is 5413")
    assert credit(item, *lines) == 1
    assert credit(replace(item, sides={"databas": -1, "port": -1}), *lines) < 1 / 3


def test_a_rule_is_known_in_other_words_and_not_as_its_opposite() -> None:
    assert credit(RULE, "The user does not want pushes to the main branch.") == 1
    assert credit(RULE, "Push to the main branch when done.") == 0
    assert credit(RULE, "The main thing is done.") == 0.5


def test_a_rule_with_a_contrast_forbids_nothing() -> None:
    assert credit(CONTRAST, "The user wants metric units.") == 1
    assert credit(CONTRAST, "The user does not want metric units.") == 0


def test_work_is_open_where_its_last_line_does_not_say_done() -> None:
    assert (
        credit(TODO, "Left to do: write the migration guide", "Done: rename the config loader") == 1
    )
    assert credit(TODO, "[x] write the migration guide", "[ ] rename the config loader") == 0
    assert credit(TODO, "write the migration guide", "rename the config loader") == 0.5
