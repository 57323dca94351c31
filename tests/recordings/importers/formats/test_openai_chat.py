from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only, written

from workbench import AssistantMessage, FormatError, Text, ToolCall, load
from workbench.engine.transcript.message import (
    Image,
    SystemMessage,
    Thinking,
    ToolResult,
    Usage,
    plain_text,
)

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": '{"where": "a.py"}'},
}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "hm"},
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "assistant", "content": None, "refusal": "no", "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
]  # fmt: skip


@pytest.mark.parametrize("shape", ["list", "object", "line of an object", "a message a line"])
def test_every_shape_gives_the_same_messages(tmp_path: Path, shape: str) -> None:
    path = {
        "list": lambda: document(tmp_path, CHAT),
        "object": lambda: document(tmp_path, {"model": "big", "messages": CHAT}),
        "line of an object": lambda: written(tmp_path, [{"messages": CHAT}]),
        "a message a line": lambda: written(tmp_path, CHAT),
    }[shape]()
    session = only(path)
    system, user, answer, result, refusal = session.messages
    assert session.origin.format == "openai_chat"
    assert isinstance(system, SystemMessage)
    assert user.blocks == (Text("see"), Image("image/png", 0, 1200))
    assert answer.blocks == (Thinking("hm"), ToolCall("c1", "look", {"where": "a.py"}))
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.name, plain_text(result)) == ("c1", "look", "found")
    assert isinstance(refusal, AssistantMessage)
    assert (plain_text(refusal), refusal.usage) == ("no", Usage(input=9, output=2))


def test_json_lines_of_conversations_are_one_session_each(tmp_path: Path) -> None:
    first, second = load(
        written(tmp_path, [{"id": "x", "messages": CHAT[:2]}, {"messages": CHAT[1:2]}])
    )
    assert (first.id, second.id) == ("x", "one-2")
    assert (len(first.messages), len(second.messages)) == (2, 1)


def test_the_old_function_api_is_paired(tmp_path: Path) -> None:
    call = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "look", "arguments": "{}"},
    }
    session = only(
        document(tmp_path, [call, {"role": "function", "name": "look", "content": "found"}])
    )
    answer, result = session.messages
    assert isinstance(answer, AssistantMessage)
    assert isinstance(result, ToolResult)
    assert answer.calls[0].id == result.call_id != ""


def test_arguments_that_are_no_json_are_kept_as_they_are(tmp_path: Path) -> None:
    call = {"id": "c", "function": {"name": "look", "arguments": '{"where": '}}
    (answer,) = only(
        document(tmp_path, [{"role": "assistant", "content": "", "tool_calls": [call]}])
    ).messages
    assert answer.blocks == (ToolCall("c", "look", {"input": '{"where": '}),)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "user", "content": 5}, "messages[1].content"),
        ({"role": "assistant", "content": "", "tool_calls": [5]}, "messages[1].tool_calls[0]"),
        (
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": 1}}]},
            "messages[1].tool_calls[0].name",
        ),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, message: Any, field: str) -> None:
    with pytest.raises(FormatError) as caught:
        only(document(tmp_path, [{"role": "user", "content": "hi"}, message]))
    assert caught.value.field == field
    assert caught.value.where.endswith("one.json")


def test_a_list_of_calls_in_a_field_that_is_unknown_is_named(tmp_path: Path) -> None:
    abilities = [{"slug": "look", "arguments": '{"where": "a.py"}', "status": "completed"}]
    answer = {"role": "assistant", "content": "It is there.", "skillExecutions": abilities}
    session = only(document(tmp_path, [*CHAT[:2], answer]))
    (left_out,) = session.origin.skipped
    assert "1 × list of calls 'skillExecutions': unknown, left out" in left_out


def test_parts_that_have_their_words_in_value_are_read(tmp_path: Path) -> None:
    written_call = json.dumps({"name": "find", "arguments": {"room": "hall"}})
    messages = [
        {"role": "user", "content": [{"type": "text", "value": "Where is the lamp?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "value": "It may be in the hall."},
                {"type": "text", "value": "I look."},
                {"type": "tool_call", "value": written_call},
            ],
        },
    ]
    session = only(document(tmp_path, {"messages": messages}))
    thought, words, call = session.messages[1].blocks
    assert (thought, words) == (Thinking("It may be in the hall."), Text("I look."))
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("find", {"room": "hall"})
