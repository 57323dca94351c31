"""`request=conversation` asks for a summary in the agent's own conversation."""

from __future__ import annotations

import pytest
from engine.compaction.presets.situations import fired

import workbench as wb
from builders import conversation, rules
from workbench import Budget, Compaction, Context, Scripted, SummaryRequest, compact
from workbench.engine.transcript.message import Message

SUMMARISING = (
    "summarize", "opal", "operator_use", "ex_athena", "docker_agent", "pi", "codex_local",
    "claude_code", "crush", "gemini_cli", "opencode", "openhands_rolling", "hermes_lean", "learned_summary",
)  # fmt: skip
APART = ("docker_agent", "crush", "gemini_cli")
"""Presets whose originals ask behind a system prompt of their own."""
HISTORY: tuple[Message, ...] = (rules("be good"), *conversation(12))


def asked(name: str, window: int = 100_000, share: float = 0.4) -> tuple[Compaction, Scripted]:
    """A compaction with the agent's conversation, and the model that was asked."""
    context = Context.of(HISTORY, overhead=500)
    model = Scripted(["## Goal\nthe summary"] * 4)
    budget = Budget(target=int(share * context.tokens), window=window, reason="matched")
    strategy = wb.preset(f"{name}:request=conversation").strategy
    return compact(context, strategy, budget, model), model


def request_of(name: str, window: int = 100_000, share: float = 0.4) -> SummaryRequest:
    _, model = asked(name, window, share)
    (request,) = model.requests
    return request


@pytest.mark.parametrize("name", SUMMARISING)
def test_every_preset_that_summarises_can_ask_so(name: str) -> None:
    compaction, model = asked(name)
    assert compaction.outcome == "compacted" and not compaction.violations
    (request,) = model.requests
    assert request.conversation and "<conversation>" not in request.prompt


@pytest.mark.parametrize("name", [name for name in SUMMARISING if name not in APART])
def test_it_is_what_the_agent_would_send_now(name: str) -> None:
    request = request_of(name)
    assert request.is_agents_own
    assert [message.id for message in request.conversation] == [message.id for message in HISTORY]


@pytest.mark.parametrize("name", APART)
def test_some_ask_in_a_session_of_its_own(name: str) -> None:
    """With its own system prompt, so that no provider has its beginning in a cache."""
    request = request_of(name)
    assert not request.is_agents_own
    assert request.conversation == request.messages
    assert not any(message.role == "system" for message in request.conversation)


def test_the_model_is_told_which_messages_stay() -> None:
    request = request_of("summarize")
    last_shown = [message.id for message in HISTORY].index(request.messages[-1].id)
    kept_count = len(HISTORY) - 1 - last_shown
    assert kept_count > 0
    assert f"Its last {kept_count} messages stay" in request.prompt
    assert "messages stay" not in request_of("codex_local").prompt


def test_a_conversation_that_does_not_fit_the_window_is_sent_as_a_transcript() -> None:
    tokens = Context.of(HISTORY, overhead=500).tokens
    request = request_of("codex_local", window=tokens + 300)
    assert not request.conversation and "<conversation>" in request.prompt


def test_the_answer_has_the_room_that_the_window_leaves() -> None:
    tokens = Context.of(HISTORY, overhead=500).tokens
    request = request_of("codex_local", window=tokens + 1_500, share=0.95)
    assert request.conversation
    assert request.max_tokens is not None and 600 <= request.max_tokens < 1_500


def test_another_model_has_not_the_agents_cache() -> None:
    context = Context.of(HISTORY)
    model = Scripted(["## Goal\nthe summary"])
    budget = Budget(target=context.tokens // 3, window=100_000, reason="matched")
    other = wb.preset("codex_local", request="conversation", model="small")
    compact(context, other.strategy, budget, model)
    (request,) = model.requests
    assert request.conversation and not request.is_agents_own


def test_a_transcript_is_the_default_of_every_preset() -> None:
    """The summaries that ship are stored under transcripts."""
    for name in SUMMARISING:
        _, model = fired(wb.preset(name), HISTORY, ("## Goal\nthe summary",) * 2)
        assert not any(request.conversation for request in model.requests)


def test_an_earlier_summary_is_updated_where_it_stands() -> None:
    first, _ = asked("summarize")
    context = Context.of((*first.after.messages, *conversation(14)[6:]))
    model = Scripted(["## Goal\nboth"])
    budget = Budget(target=context.tokens // 3, window=100_000, reason="matched")
    strategy = wb.preset("summarize:request=conversation").strategy
    second = compact(context, strategy, budget, model)
    (request,) = model.requests
    assert request.purpose == "update" and not second.violations
    assert any(message.role == "summary" for message in request.conversation)
    assert "holds an earlier summary" in request.prompt
    assert "<previous-summary>" not in request.prompt
