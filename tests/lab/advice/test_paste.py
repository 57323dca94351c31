"""Settings to paste: each is valid in its language, and those of libraries that are here run."""

import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from workbench import preset
from workbench.lab.advice.paste import agent_snippet, snippets
from workbench.lab.advice.present_setting import moved


def texts(name: str, changes: dict[str, float] | None = None) -> dict[str, str]:
    """The settings to paste for each system."""
    changes = changes or {}
    candidate = replace(preset(name, **changes), name="advised")
    texts_by_system = {}
    for snippet in snippets(candidate, name, changes, 200_000, "extractive"):
        texts_by_system[snippet.system] = snippet.text
    return texts_by_system


def text_of(name: str, share: float, window: int = 200_000) -> str:
    snippet = agent_snippet(moved(preset(name), share), name, window)
    assert snippet is not None
    return snippet.text


def test_an_agents_own_compaction_at_half_of_its_window_is_its_own_setting() -> None:
    # Claude Code takes a share of what its answer leaves of the window: 100,000 of 180,000 tokens
    # and heeds a share only in a window that it was told, of 100,000 tokens at least
    assert json.loads(text_of("claude_code", 0.5)) == {
        "autoCompactWindow": 200_000,
        "env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "55"},
    }
    assert json.loads(text_of("claude_code", 0.5, window=64_000)) == {
        "autoCompactWindow": 100_000,
        "env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "40"},
    }
    assert tomllib.loads(text_of("codex_local", 0.5)) == {"model_auto_compact_token_limit": 100_000}
    for name, reserve in (("pi", "reserveTokens"), ("opencode", "reserved")):
        assert json.loads(text_of(name, 0.5))["compaction"][reserve] == pytest.approx(
            100_000, abs=1
        )


def test_an_agent_that_stays_as_it_is_keeps_the_numbers_of_its_own() -> None:
    # pi compacts above its limit: a request of exactly that size still goes out
    snippet = agent_snippet(preset("pi"), "pi", 200_000)
    assert snippet is not None
    assert json.loads(snippet.text)["compaction"]["reserveTokens"] == 16_384


def test_gemini_takes_a_share_of_its_window() -> None:
    text = text_of("gemini_cli", 0.3, window=1_048_576)
    assert json.loads(text) == {"model": {"compressionThreshold": 0.3}}


@pytest.mark.parametrize(("name", "words"), [("opencode", "without `limit.input`"), ("pi", "80 %")])
def test_a_setting_that_some_models_do_not_heed_says_so(name: str, words: str) -> None:
    snippet = agent_snippet(moved(preset(name), 0.5), name, 200_000)
    assert snippet is not None and words in snippet.lacks


def test_a_setting_is_heeded_where_the_text_says_that_it_goes() -> None:
    # below a table it would be a key of that table, which Codex passes over in silence
    snippet = agent_snippet(moved(preset("codex_local"), 0.5), "codex_local", 200_000)
    assert snippet is not None and snippet.beside == "above its first line in [brackets]"
    settings = '[projects."/home/me/app"]\ntrust_level = "trusted"\n'
    pasted = tomllib.loads(f"{snippet.text}\n{settings}")
    assert pasted["model_auto_compact_token_limit"] == 100_000


@pytest.mark.parametrize(
    ("agent", "restated"),
    [
        ("claude_code", "claude_code"),
        ("codex_local", "codex_local"),
        ("pi", "pi"),
        ("opencode", "opencode"),
        ("kilo", "opencode"),
        ("gemini_cli", "gemini_cli"),
    ],
)
def test_a_file_to_paste_into_has_its_whole_place(agent: str, restated: str) -> None:
    snippet = agent_snippet(moved(preset(restated), 0.5), agent, 200_000)
    assert snippet is not None
    assert snippet.where.startswith("~/") and snippet.beside


def test_an_agent_that_no_preset_restates_has_no_settings() -> None:
    assert agent_snippet(preset("summarize"), "summarize", 200_000) is None


@pytest.mark.parametrize("name", ["summarize", "truncate", "claude_code", "observation_mask"])
def test_a_candidate_that_no_library_restates_is_only_a_compactor(name: str) -> None:
    assert set(texts(name)) == {"Compactor"}


@pytest.mark.parametrize(
    ("name", "changes"), [("claude_code", {}), ("summarize", {"trigger.threshold": 0.6})]
)
def test_the_compactor_snippet_runs(name: str, changes: dict[str, float]) -> None:
    place: dict[str, Any] = {}
    exec(texts(name, changes)["Compactor"], place)
    assert isinstance(place["compactor"], wb.Compactor) and place["compactor"].window == 200_000


def test_anthropic_clears_tool_uses_where_that_is_the_candidate() -> None:
    place: dict[str, Any] = {}
    exec(texts("clear_tool_uses")["Anthropic"], place)
    assert place["context_management"]["edits"][0]["type"] == "clear_tool_uses_20250919"


@pytest.mark.parametrize("name", ["langchain_20", "clear_tool_uses"])
def test_the_langchain_snippet_runs(name: str) -> None:
    pytest.importorskip("langchain")
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    place: dict[str, Any] = {"model": FakeListChatModel(responses=["a summary"])}
    exec(texts(name)["LangChain"], place)
    assert place["middleware"] is not None


def test_a_library_compacts_from_the_smallest_request_on_for_which_the_trigger_is_due() -> None:
    place: dict[str, Any] = {}
    exec(texts("clear_tool_uses")["Anthropic"], place)
    trigger = place["context_management"]["edits"][0]["trigger"]
    assert trigger == {"type": "input_tokens", "value": 100_001}
    assert 'trigger=("tokens", 170000)' in texts("langchain_20")["LangChain"]


def test_a_candidate_that_compacts_at_no_size_is_only_a_compactor() -> None:
    never = replace(preset("clear_tool_uses"), trigger=preset("none").trigger)
    [snippet] = snippets(never, "clear_tool_uses", {}, 200_000, "extractive")
    assert snippet.system == "Compactor"
