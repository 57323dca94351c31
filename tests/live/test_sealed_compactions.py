"""A compaction that its provider can no longer decrypt, as behind another account or after new keys,
is left out, and what it covered counts again.
"""

from __future__ import annotations

import pytest
from engine.models.provider import Provider, Reply
from live.talk import Record, asked
from live.test_native_compactions import sealed, turn
from live.test_server_compaction import by_openai, compactor, provider

from workbench import Compactor

__all__ = ["provider"]
NAMED = (
    "The encrypted content for item cmp_1 could not be verified. Reason: Encrypted content could not"
    " be decrypted or parsed."
)
UNNAMED = {
    "status": 400,
    "error": {
        "message": "The encrypted content gAAA...DQ== could not be verified.",
        "code": "invalid_encrypted_content",
    },
}
OF_A_THOUGHT = (
    "The encrypted content for item rs_0 could not be verified. Reason: Encrypted content could not"
    " be decrypted or parsed."
)
NOTE: Record = {
    "role": "user",
    "content": "(a compaction that could not be read was left out here)",
    "type": "message",
}


def kinds(messages: list[Record]) -> list[str]:
    return [item.get("type", "message") for item in messages]


def test_what_it_covered_is_sent_again_and_stays_so() -> None:
    live = Compactor("truncate", window=100_000)
    talk = [*turn(0), sealed(), *turn(1), asked("so?")]
    covered = live.before_request(talk)
    assert len(covered) < len(talk)
    retry = live.on_error(NAMED)
    assert retry is not None
    assert retry.messages == [*turn(0), NOTE, *turn(1), asked("so?")]
    later = [*talk, {"type": "message", "role": "assistant", "content": "Well."}, asked("more")]
    for later_live in (live, Compactor.load(live.save())):
        assert later_live.before_request(later)[: len(talk)] == retry.messages
    assert live.original == later


@pytest.mark.parametrize("preset", ["truncate", "summarize", "pipeline", "codex_local"])
def test_what_comes_back_is_compacted_where_the_window_does_not_take_it(preset: str) -> None:
    live = Compactor(preset, window=2_000, model="extractive")
    talk: list[Record] = []
    for number in range(12):
        talk += turn(number)
    talk += [sealed(400), *turn(12), asked("so?")]
    live.before_request(talk)
    retry = live.on_error(NAMED)
    assert retry is not None
    assert "compaction" not in kinds(retry.messages)
    assert asked("so?") in retry.messages
    assert live.tokens <= 2_000


def test_where_the_error_names_no_item_thoughts_and_compactions_go() -> None:
    live = Compactor("truncate", window=100_000)
    live.before_request([*turn(0), sealed(), *turn(1), asked("so?")])
    retry = live.on_error(UNNAMED)
    assert retry is not None
    assert not {"reasoning", "compaction"} & {*kinds(retry.messages)}
    assert kinds(retry.messages).count("function_call") == 2


def test_an_error_of_a_thought_leaves_compactions() -> None:
    live = Compactor("truncate", window=100_000)
    live.before_request([sealed(), *turn(1), asked("so?")])
    retry = live.on_error(OF_A_THOUGHT)
    assert retry is not None
    assert "compaction" in kinds(retry.messages) and "reasoning" not in kinds(retry.messages)


def test_without_what_it_covered_a_note_says_what_is_missing() -> None:
    live = Compactor("truncate", window=100_000)
    live.before_request([sealed(), *turn(1), asked("so?")])
    retry = live.on_error(NAMED)
    assert retry is not None
    assert retry.messages == [NOTE, *turn(1), asked("so?")]


def test_a_newer_compaction_counts_again() -> None:
    live = Compactor("truncate", window=100_000)
    talk = [*turn(0), sealed(), *turn(1), asked("so?")]
    live.before_request(talk)
    assert live.on_error(NAMED) is not None
    newer = sealed(5_000, n=2)
    sent = live.before_request([*talk, newer, asked("and?")])
    questions = [asked("Look at part 0."), asked("Look at part 1."), asked("so?")]
    assert sent == [*questions, newer, asked("and?")]


def test_a_compaction_that_our_stage_had_the_server_make_is_made_anew(
    provider: Provider,
) -> None:
    provider.by = lambda asked_for: by_openai(asked_for, len(provider.requests))
    live = compactor(provider, "responses_compact", "openai/gpt-5.5")
    talk: list[Record] = []
    while not provider.requests:
        talk += turn(len(talk))
        sent = live.before_request([*talk, asked("so?")])
    assert "compaction" in kinds(sent)
    provider.by = lambda asked_for: Reply(
        {"output": [sealed(5_000, n=9)], "usage": {"input_tokens": 9, "output_tokens": 9}}
    )
    retry = live.on_error(NAMED)
    assert retry is not None
    assert retry.messages == [*talk, asked("so?")]
    later = live.before_request([*talk, asked("so?"), *turn(99)])
    assert [item for item in later if item.get("type") == "compaction"] == [sealed(5_000, n=9)]
