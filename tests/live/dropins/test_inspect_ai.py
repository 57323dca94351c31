"""The strategy inside Inspect's own compaction, and inside its agent `react`, against a server on
this machine.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Reply, completion

from workbench import SettingError, UnknownName

pytest.importorskip("inspect_ai")

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentAudio,
    ContentImage,
    ContentReasoning,
    ContentText,
)
from inspect_ai.tool import ToolCall
from live.dropins.inspect_agent import ask, made, read_part
from live.dropins.ordeal import NONE, TURNS, faults, ordeal, question
from live.dropins.server import answering, chat, size

from workbench.live.dropins.inspect_ai import WorkbenchCompaction, _Records


def test_the_conversation_keeps_every_message_and_what_is_sent_stays_within_the_window() -> None:
    told: list[Any] = []
    strategy = WorkbenchCompaction(
        "summarize", threshold=1_600, model="extractive", on_event=told.append
    )
    with answering(chat) as provider:
        messages = asyncio.run(ask(made(provider.address), strategy, 20))
        assert len(messages) == 81 and messages[-1].text == "The limit is 7019."
        assert max(map(size, provider.requests)) <= 2_000
    types = [event.type for event in told]
    assert types.count("compaction_ended") >= 2
    assert {"rewound", "usage_ignored", "callback_failed"}.isdisjoint(types)


@pytest.mark.parametrize("preset", ["summarize", "pipeline"])
def test_a_hundred_turns_with_three_kills(tmp_path: Path, preset: str) -> None:
    sent = ordeal("inspect_agent.py", str(tmp_path), preset)
    assert len(sent) >= 2 * TURNS and faults(sent) == NONE
    messages = json.loads((tmp_path / "steps.json").read_text())["messages"]
    asked = [message["content"] for message in messages if message["role"] == "user"]
    assert asked == [question(number) for number in range(TURNS)]


def test_inspects_own_agent_compacts_with_it(tmp_path: Path) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        number = len(provider.requests)
        if number > 40:
            arguments: dict[str, Any] = {"answer": "the limits were read"}
            function = {"name": "submit", "arguments": json.dumps(arguments)}
        else:
            function = {"name": "read_part", "arguments": json.dumps({"part": number})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        usage = {"prompt_tokens": size(asked), "completion_tokens": 9}
        usage["total_tokens"] = size(asked) + 9
        return completion(None, finish="tool_calls", usage=usage, tool_calls=[call])

    strategy = WorkbenchCompaction("pipeline", threshold=2_500, model="extractive")
    with answering(reply) as provider:
        task = Task(
            dataset=[Sample(input="Read all parts, and keep their limits.")],
            solver=react(tools=[read_part()], compaction=strategy),
        )
        (log,) = eval(task, model=made(provider.address), log_dir=str(tmp_path), display="none")
        assert log.status == "success" and log.samples
        compactions = [event for event in log.samples[0].events if event.event == "compaction"]
        assert compactions and compactions[0].metadata is not None
        assert compactions[0].metadata["strategy"] == "WorkbenchCompaction"
        assert max(map(size, provider.requests)) <= 3_200
        for request in provider.requests:
            assert "Read all parts, and keep their limits." in str(request["messages"])


def test_pictures_sounds_thoughts_and_calls_are_sent_as_they_were() -> None:
    call = ToolCall("call", "look", {"part": 1})
    thought = ContentReasoning(reasoning="because", signature="sealed")
    messages = [
        ChatMessageUser(content=[ContentText(text="see"), ContentImage(image="data:image/png,AA")]),
        ChatMessageUser(content=[ContentAudio(audio="data:audio/wav,AA", format="wav")]),
        ChatMessageAssistant(content=[thought, ContentText(text="I look.")], tool_calls=[call]),
        ChatMessageTool(content="long " * 50, tool_call_id="call", function="look"),
    ]
    conversation = _Records(messages)
    assert conversation.messages(conversation.records) == messages
    result = {**conversation.records[3], "content": "short"}
    answer = {**conversation.records[2], "content": "I look"}
    changed_answer, changed_result = conversation.messages([answer, result])
    assert changed_result == messages[3].model_copy(update={"content": "short"})
    assert isinstance(changed_answer, ChatMessageAssistant)
    assert changed_answer.tool_calls == [call] and changed_answer.content[0] == thought


def test_what_a_compactor_refuses_is_refused_at_once() -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        WorkbenchCompaction("nonsense")
    with pytest.raises(SettingError, match="model"):
        WorkbenchCompaction("summarize")
