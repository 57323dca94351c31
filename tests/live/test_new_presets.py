"""Presets of other systems that came last: forty turns on both APIs, and recordings replayed."""

from __future__ import annotations

from pathlib import Path

import pytest
import validators
from live.talk import Record, asked
from live.talk import anthropic as anthropic_talk
from live.talk import openai as openai_talk

import workbench as wb
from workbench import Compactor

PRESETS = (
    "opencode_v2",
    "crush",
    "anthropic_on_demand",
    "anthropic_background",
    "anthropic_keep_turns",
    "scored",
)
RECORDINGS = (
    "pi.dev/019dbe19-ca83-74b3-b3ca-230160eb3875.jsonl",
    "pi-mono/large-session.jsonl",
    "agentv/rollout-019ed836-b1da-78f1-8a0c-e598363d10f4.jsonl",
)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.parametrize("preset", PRESETS)
def test_forty_turns_part_no_call_from_its_result(preset: str, api: str) -> None:
    """The window holds some six turns, so that each preset compacts again and again."""
    talk: list[Record] = openai_talk(40) if api == "openai" else anthropic_talk(40)
    valid = validators.openai_chat if api == "openai" else validators.anthropic
    live = Compactor(preset, model=wb.find_model("extractive"), window=4_000)
    for index, message in enumerate(talk):
        if message["role"] != "assistant":
            continue
        sent = live.before_request(talk[:index])
        assert valid(sent) == []
        assert live.tokens <= live.window
        live.after_turn()
    assert "keep its limit at 1039" in str(live.before_request([*talk, asked("and now?")]))
    ended = [event for event in live.events if event.type == "compaction_ended"]
    assert len(ended) >= 3
    assert not [event for event in live.events if event.type == "compaction_failed"]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_are_replayed_without_a_finding(preset: str, name: str, corpora: Path) -> None:
    (session, *_) = wb.load(corpora / name)
    replay = wb.replay(session, preset, model="extractive", window=32_000)
    assert replay.compactions
    for compaction in replay.compactions:
        assert not compaction.violations
    assert all(step.tokens_sent <= step.tokens_recorded for step in replay.steps)
