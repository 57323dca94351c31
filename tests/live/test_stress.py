"""A small sample of the benchmarks of stress and of stops: what must be 0 is 0."""

from __future__ import annotations

import pytest
from benchmarks.bench_request import cost
from benchmarks.bench_resume import differences
from benchmarks.bench_stress import FAULTS, ZERO, driven
from live.long_talk import FORMATS

CASES = [
    ("summarize", "openai", "plain", "raises"),
    ("pipeline", "anthropic", "rebuilt", "empty"),
    ("opal", "responses", "plain", "too_long"),
    ("ex_athena", "gemini", "rebuilt", "hooks"),
    ("docker_agent", "openai", "plain", "hangs"),
    ("operator_use", "anthropic", "plain", "overflow"),
    ("ddx_agent", "responses", "rebuilt", "none"),
]


def test_the_sample_has_every_format_and_fault() -> None:
    assert {case[1] for case in CASES} == {*FORMATS} and {case[3] for case in CASES} == {*FAULTS}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_nothing_is_above_the_window_broken_lost_or_undone(case: tuple[str, str, str, str]) -> None:
    counter = driven(*case, turns=30, window=12_000)
    assert counter["compactions"] + counter["last resorts"] > 0
    assert {head: counter[head] for head in ZERO if counter[head]} == {}


@pytest.mark.parametrize(
    "case", [("summarize", "openai", "reminder"), ("opal", "gemini", "rebuilt")], ids=" ".join
)
def test_killed_and_resumed_in_every_turn_it_sends_the_same(case: tuple[str, str, str]) -> None:
    requests, different, compactions = differences(*case, turns=10, window=4_000)
    assert requests > 20 and compactions > 1 and different == 0


def test_a_request_costs_a_small_part_of_writing_it() -> None:
    """Of 2,000 messages, as JSON: less than half, whatever the machine."""
    found = cost(messages=2_000)
    assert found.request < 0.5 * found.writing
