"""A live compactor asks for its summary in the agent's own conversation, in both formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from engine.models.provider import sent_to_provider
from live.talk import Record, anthropic, openai

from workbench import Compactor, Completion, ModelError, SummaryRequest
from workbench.live.events import CompactionEnded

TALKS: dict[str, Callable[..., list[Record]]] = {"openai": openai, "anthropic": anthropic}
PRESETS = ("codex_local", "claude_code", "docker_agent", "summarize")


class Agent:
    """The agent's own model: it writes summaries, and refuses conversations if it is small."""

    name = "agent"

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses = refuses
        self.requests: list[SummaryRequest] = []

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.requests.append(request)
        if self.refuses and request.conversation:
            raise ModelError("prompt is too long", overflow=True)
        return Completion(text="## Goal\ngo on", model="agent")


def talked(preset: str, format: str, model: Agent) -> Compactor:
    """A compactor that was shown a conversation request by request, until it had to compact."""
    live = Compactor(f"{preset}:request=conversation", model=model, window=60_000, format=format)  # type: ignore[arg-type]
    messages = TALKS[format](90, words=300)
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            live.before_request(messages[:end])
        if model.requests:
            break
    return live


def assert_valid(chat: Sequence[Record]) -> None:
    """Each call has its result right behind it, and each result its call."""
    waiting: list[str] = []
    for message in chat:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert not waiting


@pytest.mark.parametrize("format", TALKS)
@pytest.mark.parametrize("preset", PRESETS)
def test_it_sends_what_the_host_sent_and_asks_last(preset: str, format: str) -> None:
    model = Agent()
    talked(preset, format, model)
    request = model.requests[0]
    chat = sent_to_provider(request)
    assert request.conversation
    assert chat[-1] == {"role": "user", "content": request.prompt}
    assert_valid([dict(message) for message in chat])
    assert request.is_agents_own == (preset != "docker_agent")


@pytest.mark.parametrize("format", TALKS)
def test_a_model_that_refuses_the_conversation_is_asked_with_a_transcript(format: str) -> None:
    model = Agent(refuses=True)
    live = talked("codex_local", format, model)
    assert [bool(request.conversation) for request in model.requests] == [True, False]
    (ended,) = [event for event in live.events if isinstance(event, CompactionEnded)]
    assert ended.outcome == "compacted" and not ended.warning
