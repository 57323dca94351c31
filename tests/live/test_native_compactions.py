"""Compactions that the provider made: carried through untouched, within a budget, and counted."""

from __future__ import annotations

from typing import Any

import pytest
import validators
from live.talk import Record, asked
from live.test_native_formats import takes_responses
from preset_names import BUILTIN_PRESETS

from workbench import CompactionEntry, Compactor, find_model

GAP = "(earlier messages were left out here)"


def sealed(characters: int = 4_000, n: int = 1) -> Record:
    return {"type": "compaction", "id": f"cmp_{n}", "encrypted_content": "x" * characters}


def turn(n: int) -> list[Record]:
    """A question, a call after sealed thoughts, its output and an answer, as items."""
    return [
        asked(f"Look at part {n}."),
        {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "sealed"},
        {
            "type": "function_call",
            "id": f"fc_{n}",
            "call_id": f"c{n}",
            "name": "read",
            "arguments": '{"path": "a"}',
        },
        {
            "type": "function_call_output",
            "call_id": f"c{n}",
            "output": " ".join(f"word_{n}_{i}" for i in range(60)),
        },
        {"type": "message", "role": "assistant", "content": f"Part {n} is done."},
    ]


def test_what_a_compaction_in_the_answer_covers_is_neither_sent_nor_counted_again() -> None:
    live = Compactor("none")
    talk = [*turn(0), *turn(1)]
    live.before_request(talk)
    before = live.tokens
    talk += [sealed(), *turn(2)]
    sent = live.before_request(talk)
    assert [one.get("content") for one in sent[:2]] == ["Look at part 0.", "Look at part 1."]
    assert sent[2:] == [sealed(), *turn(2)]
    assert live.tokens < before + (4_000 * 3 // 4 - 650) // 4
    assert live.original == talk
    noted = [entry for entry in live.log.path() if isinstance(entry, CompactionEntry)]
    assert [entry.reason for entry in noted] == ["by the provider"]


def test_a_compacted_list_of_the_endpoint_is_taken_as_it_is() -> None:
    live = Compactor("none")
    given = [asked("Look at part 0."), asked("Look at part 1."), sealed(), asked("and now?")]
    assert live.before_request(given) == given


def test_it_counts_as_codex_estimates_encrypted_items() -> None:
    live = Compactor("none")
    live.before_request([sealed(40_000)])
    assert live.tokens == pytest.approx((40_000 * 3 // 4 - 650) // 4, abs=8)


@pytest.mark.parametrize("preset", sorted(BUILTIN_PRESETS))
def test_it_is_carried_through_every_preset_untouched(preset: str) -> None:
    live = Compactor(preset, model=find_model("extractive"), window=4_000)
    talk: list[Any] = [asked("Look."), sealed()]
    for n in range(25):
        talk += turn(n)
        sent = live.before_request([*talk, asked("and now?")])
        assert sealed() in sent
        assert (
            validators.openai_responses([one for one in sent if one.get("type") != "compaction"])
            == []
        )
    takes_responses(sent)


def test_a_newer_one_takes_the_place_of_an_older_one() -> None:
    live = Compactor("none")
    sent = live.before_request([*turn(0), sealed(n=1), *turn(1), sealed(n=2), asked("so?")])
    assert [one["id"] for one in sent if one.get("type") == "compaction"] == ["cmp_2"]


def test_one_above_half_the_window_may_be_taken_out() -> None:
    live = Compactor("truncate", window=1_000)
    live.before_request([asked("Look."), sealed(20_000)])
    sent = live.before_request([asked("Look."), sealed(20_000), *turn(0), asked("so?")])
    assert sealed(20_000) not in sent and live.tokens <= 1_000


def test_going_back_before_it_brings_back_what_it_covered() -> None:
    live = Compactor("none")
    live.before_request([*turn(0), sealed(), asked("so?")])
    assert live.before_request([*turn(0), asked("else?")]) == [*turn(0), asked("else?")]


BLOCK = {"type": "compaction", "content": "The limit of part 0 is 1000.", "signature": "seal"}


def blocks(n: int) -> list[Record]:
    use = {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"path": "a"}}
    words = " ".join(f"word_{n}_{i}" for i in range(60))
    told = {"type": "tool_result", "tool_use_id": f"t{n}", "content": words}
    return [
        asked(f"Look at part {n}."),
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [told]},
        {"role": "assistant", "content": [{"type": "text", "text": f"Part {n} is done."}]},
    ]


def compacted() -> Record:
    return {"role": "assistant", "content": [BLOCK, {"type": "text", "text": "I go on."}]}


def test_an_anthropic_compaction_block_stands_for_all_before_it() -> None:
    live = Compactor("none")
    talk = [*blocks(0), asked("more"), compacted(), *blocks(1)]
    sent = live.before_request(talk)
    assert sent == [asked(GAP), compacted(), *blocks(1)]
    assert live.tokens < 200


def test_its_text_goes_into_our_next_summary_and_the_block_is_sent_whole_until_then() -> None:
    live = Compactor("summarize", model=find_model("extractive"), window=1_500)
    talk = [*blocks(0), asked("more"), compacted()]
    sent = live.before_request([*talk, asked("so?")])
    while not any(event.type == "compaction_ended" for event in live.events):
        assert sent[1] == compacted()
        talk += blocks(len(talk))
        sent = live.before_request([*talk, asked("so?")])
    assert compacted() not in sent and "The limit of part 0 is 1000." in str(sent)
    assert validators.anthropic(sent) == []


def test_a_block_without_content_says_nothing_and_covers_nothing() -> None:
    failed = {
        "role": "assistant",
        "content": [{"type": "compaction", "content": None}, {"type": "text", "text": "x"}],
    }
    talk = [*blocks(0), asked("more"), failed, asked("so?")]
    assert Compactor("none").before_request(talk) == talk
