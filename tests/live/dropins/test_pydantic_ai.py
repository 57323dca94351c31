"""The capability inside pydantic-ai's own agent, with its own client against a server on this
machine.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import refusal

from workbench import SettingError, UnknownName

pytest.importorskip("pydantic_ai")

from live.dropins.ordeal import NONE, TURNS, faults, ordeal, question
from live.dropins.pydantic_agent import ask, made
from live.dropins.server import answering, chat, refusing, size
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from workbench.live.dropins.pydantic_ai import CompactionCapability


def test_the_history_keeps_every_message_and_what_is_sent_stays_within_the_window() -> None:
    with answering(chat) as provider:
        agent, compaction = made(provider.address, None, "summarize")
        history = asyncio.run(ask(agent, 20))
        assert len(history) == 80 and history[-1].text == "The limit is 7019."
        assert max(map(size, provider.requests)) <= 3_000
        types = [event.type for event in compaction.compactor("chat").events]
        assert types.count("compaction_ended") == 2
        assert {"rewound", "usage_ignored", "callback_failed"}.isdisjoint(types)


@pytest.mark.parametrize("preset", ["summarize", "pipeline"])
def test_a_hundred_turns_with_three_kills(tmp_path: Path, preset: str) -> None:
    sent = ordeal("pydantic_agent.py", str(tmp_path), preset)
    assert len(sent) >= 2 * TURNS and faults(sent) == NONE
    history = json.loads((tmp_path / "history.json").read_text())
    asked = [
        part["content"]
        for message in history
        for part in message["parts"]
        if part["part_kind"] == "user-prompt"
    ]
    assert asked == [question(number) for number in range(TURNS)]


def test_each_request_adds_what_changed_to_the_file_of_its_conversation(tmp_path: Path) -> None:
    with answering(chat) as provider:
        agent, _ = made(provider.address, str(tmp_path), "truncate", window=100_000)
        asyncio.run(ask(agent, 20))
    (file,) = tmp_path.glob("*.journal")
    whole, *changes = file.read_text().splitlines()
    assert len(changes) >= 40 and len(changes[-1]) < 0.2 * sum(map(len, changes))
    assert json.loads(whole)["workbench"] == "compactor"


def test_conversations_do_not_meet() -> None:
    async def talk(agent: Agent[Any, str]) -> None:
        async def one(id: str, part: int) -> None:
            history: list[ModelMessage] = []
            for number in range(8):
                result = await agent.run(
                    question(part + number), message_history=history, conversation_id=id
                )
                history = result.all_messages()

        await asyncio.gather(one("first", 0), one("second", 50))

    with answering(chat) as provider:
        asyncio.run(talk(made(provider.address, None, "summarize")[0]))
        assert len(provider.requests) == 32
        for request in provider.requests:
            text = str(request["messages"])
            assert ("part 0?" in text) != ("part 50?" in text)


def test_a_refused_request_goes_out_again_smaller_and_the_limit_is_learned() -> None:
    with answering(refusing(chat, 3_000)) as provider:
        agent, compaction = made(provider.address, None, "summarize", window=100_000)
        history = asyncio.run(ask(agent, 12))
        assert history[-1].text == "The limit is 7011."
        assert sum(size(request) > 3_000 for request in provider.requests) == 1
        assert compaction.compactor("chat").window == 3_000


def test_an_error_that_compaction_does_not_mend_reaches_the_agent() -> None:
    with answering(lambda _: refusal(401, "no such key", "invalid_api_key")) as provider:
        agent, _ = made(provider.address, None, "summarize")
        with pytest.raises(Exception, match="no such key"):
            asyncio.run(ask(agent, 1))
        assert len(provider.requests) == 1


def test_with_recall_the_agent_calls_the_tool_and_gets_back_what_went() -> None:
    with answering(chat) as provider:
        agent, _ = made(provider.address, None, "truncate+recall")
        history = asyncio.run(ask(agent, 20))
        result = agent.run_sync(
            "Use recall for what went.", message_history=history, conversation_id="chat"
        )
        offered = [tool["function"]["name"] for tool in provider.requests[-1]["tools"]]
        assert offered == ["read_part", "recall"]
        assert "limit = 7000" in provider.requests[-1]["messages"][-1]["content"]
        assert result.output == "The limit is 7000."


def _thinking_model(seen: list[list[ModelMessage]]) -> FunctionModel:
    """A model that thinks, calls twice at once, and answers."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(messages)
        number = len(seen)
        if number % 2 == 0:
            return ModelResponse(parts=[TextPart("kept " * 40)])
        thought = ThinkingPart(f"thought {number}", signature=f"sealed {number}")
        calls = [ToolCallPart("look", {"part": n}, f"call_{number}_{n}") for n in range(2)]
        return ModelResponse(parts=[thought, TextPart("I look."), *calls])

    return FunctionModel(answer, profile={"context_window": 2_500})


def test_pictures_thoughts_and_parallel_calls_are_sent_as_they_were_or_not_at_all() -> None:
    picture = BinaryContent(b"\x89PNG" + bytes(40), media_type="image/png")
    address = ImageUrl("https://example.org/a.png")
    seen: list[list[ModelMessage]] = []
    compaction = CompactionCapability("pipeline", model="extractive")
    agent = Agent(_thinking_model(seen), capabilities=[compaction])

    @agent.tool_plain
    def look(part: int) -> list[Any]:
        return [f"part {part} " + "and so on " * 60, picture]

    history: list[ModelMessage] = []
    for number in range(20):
        prompt = [question(number), address, picture]
        result = agent.run_sync(prompt, message_history=history, conversation_id="chat")
        history = result.all_messages()
    assert compaction.compactor("chat").window == 2_500  # the model's own
    assert any(e.type == "compaction_ended" for e in compaction.compactor("chat").events)
    own_parts = {id(part) for message in history for part in message.parts}
    known = {part.tool_call_id for m in history for part in m.parts if hasattr(part, "args")}
    for messages in seen:
        parts = [part for message in messages for part in message.parts]
        calls = [part.tool_call_id for part in parts if part.part_kind == "tool-call"]
        results = [part.tool_call_id for part in parts if part.part_kind == "tool-return"]
        assert calls == results and set(calls) <= known
        assert all(id(part) in own_parts for part in parts if part.part_kind == "thinking")
        assert all(message.parts for message in messages)


def test_what_a_compactor_refuses_is_refused_at_once() -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        CompactionCapability("nonsense")
    with pytest.raises(SettingError, match="model"):
        CompactionCapability("summarize")
