"""A host's messages in and out: what is kept is the host's own, what is rewritten keeps its
other fields.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from live.talk import Record, answered, asked, back, used

from workbench import AssistantMessage, Compactor, Summary, Text, ToolCall, UserMessage
from workbench.engine.transcript.message import (
    Image,
    Message,
    Thinking,
    ToolResult,
    chars_per_token,
)
from workbench.live.message_reader import MessageReader
from workbench.live.outgoing import write_messages

GAP = "(earlier messages were left out here)"

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}


class Read:
    """A host's messages as they are read, and how changed ones are sent in its format."""

    def __init__(self, *records: Record) -> None:
        self.path = list(MessageReader(chars_per_token).read(records))
        self.place: dict[str, int] = {}
        self.messages: list[Message] = []
        for number, host_message in enumerate(self.path):
            self.messages += host_message.messages
            self.place |= {message.id: number for message in host_message.messages}

    def sent(self, messages: list[Message], format: Any = "openai") -> list[Any]:
        outgoing = write_messages(messages, self.path, self.place, format)
        return [message.object for message in outgoing]


def test_openai_messages_become_ours() -> None:
    system, user, call, result = Read(
        {"role": "developer", "content": "Be careful."},
        {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE], "name": "ann"},
        {**used("c1", "grep", pattern="x"), "reasoning_content": "hm"},
        back("c1", "found"),
    ).messages
    assert system.role == "system" and system.pinned
    assert isinstance(user, UserMessage) and user.name == "ann"
    assert [type(block) for block in user.blocks] == [Text, Image]
    assert isinstance(call, AssistantMessage)
    assert [type(block) for block in call.blocks] == [Thinking, ToolCall]
    assert call.calls[0].arguments == {"pattern": "x"}
    assert isinstance(result, ToolResult) and (result.name, result.call_id) == ("grep", "c1")


def test_anthropic_results_become_messages_of_their_own() -> None:
    messages = Read(
        asked("look"),
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "a.py", "is_error": True},
                {"type": "text", "text": "hurry"},
            ],
        },
    ).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user"]
    result = messages[2]
    assert isinstance(result, ToolResult) and (result.name, result.is_error) == ("ls", True)


def test_a_rewritten_result_keeps_everything_else_of_its_message() -> None:
    record = {**back("c1", "long " * 50), "cache_control": {"type": "ephemeral"}}
    host = Read(asked("go"), used("c1"), record)
    messages = host.messages
    messages[2] = replace(messages[2], blocks=(Text("short"),))  # type: ignore[arg-type]  # it is a tool result
    assert host.sent(messages)[2] == {**record, "content": "short"}
    assert record["content"] == "long " * 50


def test_one_of_several_anthropic_results_can_be_rewritten() -> None:
    uses = [{"type": "tool_use", "id": f"t{n}", "name": "ls", "input": {}} for n in range(3)]
    results: list[Record] = [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"files {n}"} for n in range(3)
    ]
    results[2]["cache_control"] = {"type": "ephemeral"}
    host = Read(
        asked("go"), {"role": "assistant", "content": uses}, {"role": "user", "content": results}
    )
    messages = host.messages
    messages[3] = replace(messages[3], blocks=(Text("short"),))  # type: ignore[arg-type]  # it is a tool result
    content = host.sent(messages, "anthropic")[2]["content"]
    assert content == [results[0], {**results[1], "content": "short"}, results[2]]


def test_a_picture_that_stays_in_a_rewritten_message_is_the_hosts_own_part() -> None:
    host = Read({"role": "user", "content": [{"type": "text", "text": "see " * 90}, PICTURE]})
    messages = host.messages
    user = messages[0]
    assert isinstance(user, UserMessage)
    short = replace(user, blocks=(Text("see"), user.blocks[1]))
    assert host.sent([short])[0]["content"] == [{"type": "text", "text": "see"}, PICTURE]


def test_changed_arguments_are_valid_json_in_the_hosts_own_entry() -> None:
    host = Read(asked("go"), used("c1", "write", text="x" * 500), back("c1", "ok"))
    messages = host.messages
    call = messages[1]
    assert isinstance(call, AssistantMessage)
    messages[1] = replace(call, blocks=(replace(call.calls[0], arguments={"text": 'cut "here"'}),))
    entry = host.sent(messages)[1]["tool_calls"][0]
    assert (entry["id"], entry["function"]["name"]) == ("c1", "write")
    assert json.loads(entry["function"]["arguments"]) == {"text": 'cut "here"'}


def test_thoughts_stay_as_they_were_or_go_altogether() -> None:
    thought = {"type": "thinking", "thinking": "well", "signature": "seal"}
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    host = Read(asked("go"), {"role": "assistant", "content": [thought, use]})
    messages = host.messages
    answer = messages[1]
    assert isinstance(answer, AssistantMessage)
    changed = replace(answer, blocks=(Thinking("we…"), answer.blocks[1]))
    assert host.sent([messages[0], changed], "anthropic")[1]["content"] == [use]
    longer = replace(answer, blocks=(*answer.blocks, Text("so")))
    assert host.sent([messages[0], longer], "anthropic")[1]["content"][:2] == [thought, use]


def test_of_several_thoughts_all_stay_or_none() -> None:
    thoughts = [
        {"type": "thinking", "thinking": f"well {n}", "signature": f"seal {n}"} for n in range(2)
    ]
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    host = Read(asked("go"), {"role": "assistant", "content": [*thoughts, use]})
    messages = host.messages
    answer = messages[1]
    assert isinstance(answer, AssistantMessage)
    fewer = replace(answer, blocks=answer.blocks[1:])
    assert host.sent([messages[0], fewer], "anthropic")[1]["content"] == [use]


def test_reasoning_beside_the_content_goes_with_its_thought() -> None:
    host = Read(asked("go"), {**answered("so"), "reasoning_content": "hm", "refusal": None})
    messages = host.messages
    answer = messages[1]
    assert isinstance(answer, AssistantMessage)
    bare = replace(answer, blocks=answer.blocks[1:])
    assert host.sent([messages[0], bare])[1] == {
        "role": "assistant",
        "content": "so",
        "refusal": None,
    }


def test_a_result_that_stands_in_joins_the_others_of_its_turn() -> None:
    uses = [{"type": "tool_use", "id": f"t{n}", "name": "ls", "input": {}} for n in range(2)]
    told = {"type": "tool_result", "tool_use_id": "t1", "content": "files"}
    host = Read(
        asked("go"), {"role": "assistant", "content": uses}, {"role": "user", "content": [told]}
    )
    messages = host.messages
    messages.insert(2, ToolResult(id="new", call_id="t0", blocks=(Text("lost"),), is_error=True))
    stand_in = {"type": "tool_result", "tool_use_id": "t0", "content": "lost", "is_error": True}
    assert host.sent(messages, "anthropic")[2] == {
        "role": "user",
        "content": [stand_in, told],
    }


def test_a_block_that_only_its_provider_understands_is_kept_as_it_is() -> None:
    search = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"encrypted_content": "abc" * 99}],
    }
    record = {"role": "assistant", "content": [search, {"type": "text", "text": "found " * 50}]}
    host = Read(asked("go"), record)
    messages = host.messages
    answer = messages[1]
    assert isinstance(answer, AssistantMessage)
    assert chars_per_token(answer) > 70
    short = replace(answer, blocks=(answer.blocks[0], Text("found")))
    assert host.sent([messages[0], short], "anthropic")[1]["content"][0] == search


def test_a_summary_is_a_users_message_and_never_the_systems() -> None:
    host = Read({"role": "system", "content": "rules"}, asked("go"), answered("done"))
    messages = host.messages
    summary = Summary(id="s", text="all of it", lead="Summary: ")
    assert host.sent([messages[0], summary])[1] == {
        "role": "user",
        "content": "Summary: all of it",
    }


def test_answers_that_did_not_follow_each_other_are_parted() -> None:
    host = Read(asked("a"), answered("b"), asked("c"), answered("d"))
    messages = host.messages
    assert [one["content"] for one in host.sent([messages[0], messages[1], messages[3]])] == [
        "a",
        "b",
        GAP,
        "d",
    ]
    assert [one["content"] for one in host.sent(messages[1:])] == [GAP, "b", "c", "d"]


class Dumped:
    """A message as a client library's object."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def model_dump(self, exclude_none: bool = False) -> Record:
        return {
            key: value
            for key, value in self.record.items()
            if value is not None or not exclude_none
        }


def test_a_client_librarys_message_objects_are_read_and_sent_back() -> None:
    answer = Dumped({"role": "assistant", "content": "hello", "refusal": None})
    live = Compactor("truncate")
    assert live.before_request([asked("hi"), answer, asked("more")])[1] is answer
    assert live.original[1] == {"role": "assistant", "content": "hello"}


def test_a_client_librarys_blocks_inside_a_message_are_read_as_well() -> None:
    use = Dumped({"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}})
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    host = Read(
        asked("go"), {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}
    )
    messages = host.messages
    answer = messages[1]
    assert isinstance(answer, AssistantMessage) and [call.id for call in answer.calls] == ["t1"]
    assert host.sent(messages, "anthropic")[1] == {"role": "assistant", "content": [use]}


def test_the_old_function_calls_are_paired_by_name() -> None:
    call = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "ls", "arguments": "{}"},
    }
    _, answer, result = Read(
        asked("go"), call, {"role": "function", "name": "ls", "content": "a.py"}
    ).messages
    assert isinstance(answer, AssistantMessage) and isinstance(result, ToolResult)
    assert answer.calls[0].id == result.call_id


@pytest.mark.parametrize("arguments", ["{not json", "[1]", "", None, "7"])
def test_arguments_that_are_no_object_do_no_harm(arguments: Any) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "x", "arguments": arguments}}
    host = Read(asked("go"), {"role": "assistant", "content": None, "tool_calls": [call]})
    messages = host.messages
    assert host.sent(messages)[1]["tool_calls"] == [call]
