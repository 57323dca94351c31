"""The coding agents whose presets follow one version of their original: what the page of
conformance says of them, through the compactor.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conformance.driver import lived, records

import workbench as wb
from builders import called, result, said, told
from workbench import Scripted, Text, UserMessage
from workbench.engine.transcript.message import Image, Message

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "conformance.md").read_text("utf-8")
SECTION = PAGE.partition("## Four coding agents")[2]

UNPRUNED = "opencode:protected=1000000"
"""opencode where no old result is erased, as by default there."""


def turns(count: int, chars: int = 4_000) -> list[Message]:
    """A user's message, one call and its result, and an answer, again and again."""
    messages: list[Message] = []
    for i in range(count):
        messages += [
            said(f"part {i}", f"u{i}"),
            called("read", f"c{i}"),
            result(f"found {i} " + "z" * chars, f"c{i}"),
            told(f"part {i} is done", f"a{i}"),
        ]
    return messages


@pytest.mark.parametrize(
    ("preset", "window", "due"),
    [
        ("opencode", 200_000, 168_000),
        ("opencode:answer=20000", 272_000, 252_000),
        ("opencode:answer=52000", 272_000, 220_000),
        ("opencode_v2", 200_000, 168_000),
        ("opencode_v2:limit_input=150000", 200_000, 130_000),
        ("codex_local", 200_000, 180_000),
        ("pi", 200_000, 183_617),
    ],
)
def test_the_smallest_reported_prompt_that_is_compacted(preset: str, window: int, due: int) -> None:
    host = records(turns(40))
    for prompt_tokens in (due - 1, due):
        live = wb.Compactor(preset, model=Scripted(["what happened"] * 2), window=window)
        live.before_request(host)
        live.report_usage({"prompt_tokens": prompt_tokens, "completion_tokens": 0})
        live.before_request(host)
        assert bool(live.events) == (prompt_tokens == due), prompt_tokens


@pytest.mark.parametrize("preset", [UNPRUNED, "opencode_v2", "pi"])
def test_results_are_shown_up_to_2000_characters(preset: str) -> None:
    life = lived(preset, turns(190), window=200_000)
    assert "z" * 1_900 in life.prompts[0] and "z" * 2_001 not in life.prompts[0]


def test_codex_shows_whole_results_and_keeps_the_users_words_alone() -> None:
    life = lived("codex_local", turns(40))
    assert "z" * 4_000 in life.prompts[0]
    assert life.path == [*(f"u{i}" for i in range(40)), "summary"]


def test_codex_keeps_20_000_newest_tokens_of_them() -> None:
    spoken = [said(f"part {i} " + "z" * 24_000, f"u{i}") for i in range(30)]
    life = lived("codex_local", [*spoken, told("done")], window=200_000)
    assert life.path[-4:] == ["u27", "u28", "u29", "summary"]
    assert len(life.path) == 5 and "left out" in str(life.sent[0]["content"])


def test_opencode_erases_results_beyond_40_000_tokens_first() -> None:
    life = lived("opencode", turns(190), window=200_000)
    assert life.prompts == [], "that was enough"
    results = [str(message["content"]) for message in life.sent if message["role"] == "tool"]
    erased = [text == "[old tool result erased]" for text in results]
    assert erased == sorted(erased, reverse=True), "the oldest go"
    assert 38 <= erased.count(False) <= 42, "a thousand tokens each"


@pytest.mark.parametrize(("preset", "most"), [(UNPRUNED, 4_096), ("opencode_v2", 4_096)])
def test_the_bound_of_a_summary(preset: str, most: int) -> None:
    life = lived(preset, turns(190), window=200_000)
    assert life.model.requests[0].max_tokens == most


def test_the_sections_of_opencode_2() -> None:
    life = lived("opencode_v2:headings=opencode_v2_headings", turns(190), window=200_000)
    headings = re.findall(r"^## (.+)", life.prompts[0], re.MULTILINE)
    assert headings == [
        "Objective",
        "Requirements",
        "Decisions",
        "Work state",
        "Next move",
        "Relevant files",
        "Additional context",
    ]


def test_pi_keeps_20_000_newest_tokens_and_opencode_15_000() -> None:
    for preset, most in (("pi", 20_000), (UNPRUNED, 15_000)):
        life = lived(preset, turns(190), window=200_000)
        kept = sum("z" * 100 in str(message["content"]) for message in life.sent)
        assert most - 2_000 <= 1_000 * kept <= most, preset


def test_pi_counts_a_picture_that_the_user_sent() -> None:
    seen = UserMessage(id="u", blocks=(Text("look"), Image()))
    count = wb.preset("pi").count
    assert count is not None and count(seen) == 1 + 1_200


def test_every_test_that_the_page_names_for_them_exists() -> None:
    named = re.findall(r"`(test_\w+)`", SECTION)
    assert named and set(named) <= set(globals())
