"""Settings to paste: each is valid in its language, and those of libraries that are here run."""

import json
import tomllib

import pytest

import workbench as wb
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.settings import variant
from workbench.lab.advice.paste import Snippet, due_at, snippets


def texts(name: str, window: int = 200_000, **changes: float) -> dict[str, Snippet]:
    one = variant(preset(name), changes, "advised")
    return {found.system: found for found in snippets(one, name, changes, window, "extractive")}


def test_a_summary_at_a_threshold_is_settings_of_every_system() -> None:
    found = texts("summarize", **{"trigger.threshold": 0.6, "trigger.target": 0.2})
    claude = json.loads(found["Claude Code"].text)
    assert claude == {"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "60"}}
    assert tomllib.loads(found["Codex"].text) == {"model_auto_compact_token_limit": 120_000}
    assert json.loads(found["pi"].text)["compaction"]["reserveTokens"] == 80_000
    assert json.loads(found["opencode"].text)["compaction"]["preserve_recent_tokens"] == 20_000
    place: dict = {}
    exec(found["Anthropic"].text, place)
    assert place["context_management"]["edits"][0]["trigger"] == {"type": "input_tokens", "value": 120_000}


@pytest.mark.parametrize("name", ["truncate", "clear_tool_uses"])
def test_a_system_that_only_summarises_says_that_it_cannot(name: str) -> None:
    found = texts(name)
    assert not found["Claude Code"].text and found["Claude Code"].lacks == "it always writes a summary"


def test_a_system_whose_own_preset_is_advised_is_left_as_it_is() -> None:
    assert texts("pi")["pi"].lacks == "set nothing: this is how it compacts by itself"
    limit = due_at(variant(preset("pi"), {"trigger.share": 0.7}, "earlier"), 200_000)
    earlier = json.loads(texts("pi", **{"trigger.share": 0.7})["pi"].text)["compaction"]
    assert limit is not None and earlier == {"enabled": True, "reserveTokens": 200_000 - limit}


def test_a_preset_that_counts_messages_is_only_a_compactor() -> None:
    found = texts("observation_mask")
    assert [one.system for one in found.values() if one.text] == ["Compactor"]


@pytest.mark.parametrize(("name", "changes"), [("claude_code", {}), ("summarize", {"trigger.threshold": 0.6})])
def test_the_compactor_snippet_runs(name: str, changes: dict[str, float]) -> None:
    place: dict = {}
    exec(texts(name, **changes)["Compactor"].text, place)
    assert isinstance(place["compactor"], wb.Compactor) and place["compactor"].window == 200_000


@pytest.mark.parametrize("name", ["summarize", "clear_tool_uses"])
def test_the_langchain_snippet_runs(name: str) -> None:
    pytest.importorskip("langchain")
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    place: dict = {"model": FakeListChatModel(responses=["a summary"])}
    exec(texts(name)["LangChain"].text, place)
    assert place["middleware"] is not None


def test_the_smallest_request_that_is_compacted_is_found_by_the_trigger_itself() -> None:
    assert due_at(preset("summarize"), 100_000) == 80_000
    assert due_at(preset("none"), 100_000) is None
