"""Content blocks of LangChain's that have no form in OpenAI's chat format."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb

pytest.importorskip("langchain_core")

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from workbench.live.dropins.langchain_messages import MessageRecords

BLOCKS: list[Any] = [
    {"type": "video", "url": "https://example.org/a.mp4"},
    {"type": "video", "base64": "AAAA", "mime_type": "video/mp4"},
    {"type": "file", "url": "https://example.org/a.pdf"},
    {"type": "image", "file_id": "file-1"},
    {"type": "audio", "url": "https://example.org/a.wav"},
    {"type": "text-plain", "text": "plain words", "mime_type": "text/plain"},
    {"type": "media", "mime_type": "video/mp4", "file_uri": "gs://bucket/a"},
    {"type": "guard_content", "text": "guarded"},
    {"cachePoint": {"type": "default"}},
    {"type": "non_standard", "value": {"any": 1}},
    {"type": "reasoning", "reasoning": "because"},
    {"type": "server_tool_call", "id": "1", "name": "web", "args": {}},
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(block.get("type", "untyped")))
@pytest.mark.parametrize("role", ["human", "ai", "tool"])
def test_a_block_without_a_form_is_counted_and_sent_as_it_was(
    block: dict[str, Any], role: str
) -> None:
    call: Any = {"id": "call", "name": "look", "args": {}}
    messages: list[BaseMessage] = [HumanMessage("What is in it?", id="question")]
    if role == "tool":
        messages.append(AIMessage("", tool_calls=[call], id="call"))
    content: list[Any] = [{"type": "text", "text": "here"}, block]
    last: dict[str, BaseMessage] = {
        "human": HumanMessage(content, id="last"),
        "ai": AIMessage(content, id="last"),
        "tool": ToolMessage(content, tool_call_id="call", id="last"),
    }
    messages.append(last[role])
    conversation = MessageRecords(messages)
    live = wb.Compactor("pipeline", model="extractive", format="openai", window=100_000)
    sent = live.before_request(conversation.records)
    assert conversation.messages(sent) == messages
    assert live.tokens > 5


def test_a_changed_message_gets_its_blocks_back() -> None:
    video = {"type": "video", "url": "https://example.org/a.mp4"}
    message = HumanMessage([{"type": "text", "text": "long " * 50}, video], id="question")
    conversation = MessageRecords([message])
    (record,) = conversation.records
    words, stand_in = record["content"]
    changed = {**record, "content": [{**words, "text": "short"}, stand_in]}
    (sent,) = conversation.messages([changed])
    assert sent.id == "question" and sent.content == [{"type": "text", "text": "short"}, video]
