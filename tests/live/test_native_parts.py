"""Items of the Responses API and parts of Gemini, one kind after another: read, changed by a
stage, and written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from live.talk import Record, asked
from live.test_native_formats import takes_gemini, takes_responses

from workbench import AssistantMessage, Compactor, Text
from workbench.engine.transcript.message import Image, Message, ToolResult, chars_per_token
from workbench.live.message_reader import MessageReader
from workbench.live.outgoing import write_messages

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)
BLANK = f"data:image/png;base64,{PIXEL}"
"""What stands for a screenshot that is no longer sent."""


class Talk:
    """A list of a host, read, and written again with other messages."""

    def __init__(self, *records: Any, is_of_responses: bool = False) -> None:
        self.reader = MessageReader(
            chars_per_token, format="responses" if is_of_responses else None
        )
        self.path = list(self.reader.read(records))
        self.messages = [message for host_message in self.path for message in host_message.messages]

    def sent(self, messages: list[Message]) -> list[Any]:
        place = {
            message.id: at
            for at, host_message in enumerate(self.path)
            for message in host_message.messages
        }
        return [
            outgoing_message.object
            for outgoing_message in write_messages(
                messages, self.path, place, self.reader.present_format
            )
        ]


def answer(*items: Record, output: Record | None = None) -> Talk:
    return Talk(
        {"type": "message", "role": "user", "content": "go"}, *items, *([output] if output else [])
    )


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "ls",
    "arguments": '{"path": "."}',
}
SAID = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
    "content": [{"type": "output_text", "text": "so", "annotations": []}],
}  # fmt: skip


def test_all_items_of_an_answer_are_one_message() -> None:
    talk = answer(REASONING, SAID, CALL)
    assert [message.role for message in talk.messages] == ["user", "assistant"]
    assert [block.type for block in talk.messages[1].blocks] == ["thinking", "text", "tool_call"]
    assert talk.sent(talk.messages)[1:] == [REASONING, SAID, CALL]


def test_an_answer_without_its_thoughts_is_sent_without_the_ids_that_ask_for_them() -> None:
    talk = answer(REASONING, SAID, CALL)
    message = talk.messages[1]
    assert isinstance(message, AssistantMessage)
    sent = talk.sent([talk.messages[0], replace(message, blocks=message.blocks[1:])])[1:]
    assert [item["type"] for item in sent] == ["message", "function_call"]
    assert not any("id" in item for item in sent)
    assert sent[1]["call_id"] == "c1" and sent[0]["phase"] == "commentary"


def test_reasoning_never_stays_alone() -> None:
    talk = answer(REASONING, CALL)
    message = talk.messages[1]
    assert isinstance(message, AssistantMessage)
    assert talk.sent([talk.messages[0], replace(message, blocks=message.blocks[:1])])[1:] == []


CALLS: list[tuple[Record, Record]] = [
    (CALL, {"type": "function_call_output", "call_id": "c1", "output": "long " * 50}),
    ({"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"},
     {"type": "custom_tool_call_output", "call_id": "c1", "output": "done " * 50}),
    ({"type": "local_shell_call", "id": "ls_1", "call_id": "c1", "status": "completed",
      "action": {"type": "exec", "command": ["ls"], "env": {}}},
     {"type": "local_shell_call_output", "id": "c1", "output": '{"output": "a.py"}'}),
    ({"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
     {"type": "shell_call_output", "call_id": "c1",
      "output": [{"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 3}}]}),
    ({"type": "apply_patch_call", "call_id": "c1", "status": "completed",
      "operation": {"type": "delete_file", "path": "a.py"}},
     {"type": "apply_patch_call_output", "call_id": "c1", "status": "completed", "output": "gone " * 50}),
]  # fmt: skip


@pytest.mark.parametrize(("call", "output"), CALLS, ids=[call["type"] for call, _ in CALLS])
def test_a_shortened_output_keeps_the_shape_of_its_kind(call: Record, output: Record) -> None:
    talk = answer(REASONING, call, output=output)
    result = talk.messages[2]
    assert isinstance(result, ToolResult) and result.call_id == talk.messages[1].calls[0].id == "c1"  # type: ignore[union-attr]  # it is an answer
    sent = talk.sent([*talk.messages[:2], replace(result, blocks=(Text("short"),))])
    takes_responses(sent)
    assert {**sent[-1], "output": None} == {**output, "output": None}
    assert "short" in str(sent[-1]["output"])


@pytest.mark.parametrize(("call", "output"), CALLS, ids=[call["type"] for call, _ in CALLS])
def test_changed_arguments_stay_in_the_shape_of_their_call(call: Record, output: Record) -> None:
    talk = answer(REASONING, call, output=output)
    message = talk.messages[1]
    assert isinstance(message, AssistantMessage)
    changed = replace(message.calls[0], arguments={**message.calls[0].arguments, "note": "cut"})
    sent = talk.sent(
        [talk.messages[0], replace(message, blocks=(message.blocks[0], changed)), talk.messages[2]]
    )
    assert sent[1] == REASONING and sent[2]["call_id"] == "c1" and sent[2]["type"] == call["type"]
    if call["type"] in ("function_call", "custom_tool_call"):
        takes_responses(sent)


def test_a_screenshot_that_was_taken_out_leaves_the_smallest_picture() -> None:
    call = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c1",
        "status": "completed",
        "pending_safety_checks": [],
        "action": {"type": "screenshot"},
    }
    shot = {"type": "computer_screenshot", "image_url": "data:image/png;base64," + "A" * 4_000}
    talk = answer(
        REASONING, call, output={"type": "computer_call_output", "call_id": "c1", "output": shot}
    )
    result = talk.messages[2]
    assert isinstance(result, ToolResult) and isinstance(result.blocks[0], Image)
    sent = talk.sent([*talk.messages[:2], replace(result, blocks=(Text("[picture left out]"),))])
    assert sent[-1]["output"] == {"type": "computer_screenshot", "image_url": BLANK}
    takes_responses(sent)


def test_items_of_the_client_library_are_sent_back_as_they_are() -> None:
    types = pytest.importorskip("openai.types.responses")
    reasoning = types.ResponseReasoningItem(
        id="rs_1", type="reasoning", summary=[], encrypted_content="x"
    )
    call = types.ResponseFunctionToolCall(
        type="function_call", call_id="c1", name="ls", arguments="{}", id="fc_1"
    )
    live = Compactor("truncate")
    sent = live.before_request(
        [
            asked("go"),
            reasoning,
            call,
            {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        ]
    )
    assert sent[1] is reasoning and sent[2] is call
    assert live.log.path()[1].message.calls[0].name == "ls"  # type: ignore[union-attr]  # it is an answer


def gemini_answer(*parts: Record) -> Record:
    return {"role": "model", "parts": list(parts)}


def gemini_call(name: str, **more: Any) -> Record:
    return {"functionCall": {"name": name, "args": {"path": name}}, **more}


def gemini_result(name: str, text: str) -> Record:
    return {"functionResponse": {"name": name, "response": {"result": text}}}


HELLO = {"role": "user", "parts": [{"text": "hello"}]}


def test_results_without_ids_answer_the_calls_of_their_name_in_order() -> None:
    talk = Talk(
        HELLO,
        gemini_answer(gemini_call("a"), gemini_call("b"), gemini_call("a")),
        {
            "role": "user",
            "parts": [gemini_result("a", "1"), gemini_result("a", "2"), gemini_result("b", "3")],
        },
    )
    first, second, third = talk.messages[1].calls  # type: ignore[union-attr]  # it is an answer
    assert [message.call_id for message in talk.messages[2:]] == [first.id, third.id, second.id]  # type: ignore[union-attr]  # results
    assert talk.sent(talk.messages) == [host_message.object for host_message in talk.path]


def test_a_shortened_gemini_result_keeps_its_key_and_its_name() -> None:
    told = {"role": "user", "parts": [gemini_result("a", "long " * 90), {"text": "hurry"}]}
    talk = Talk(HELLO, gemini_answer(gemini_call("a", thoughtSignature="c2VhbA==")), told)
    result = talk.messages[2]
    assert isinstance(result, ToolResult)
    sent = talk.sent(
        [*talk.messages[:2], replace(result, blocks=(Text("short"),)), talk.messages[3]]
    )
    assert sent[2]["parts"] == [gemini_result("a", "short"), {"text": "hurry"}]
    takes_gemini(sent)


def test_the_signature_of_the_first_call_goes_on_to_the_next_where_the_first_is_taken_out() -> None:
    talk = Talk(
        HELLO, gemini_answer(gemini_call("a", thoughtSignature="c2VhbA=="), gemini_call("b"))
    )
    message = talk.messages[1]
    assert isinstance(message, AssistantMessage)
    sent = talk.sent([talk.messages[0], replace(message, blocks=message.blocks[1:])])
    assert sent[1]["parts"] == [gemini_call("b", thoughtSignature="c2VhbA==")]


def test_contents_of_the_client_library_are_read_and_sent_back() -> None:
    types = pytest.importorskip("google.genai.types")
    part = types.Part(
        function_call=types.FunctionCall(name="ls", args={"path": "."}), thought_signature=b"seal"
    )
    picture = types.Part(
        inline_data=types.Blob(mime_type="image/png", data=b"\x89PNG\r\n\x1a\n" + b"0" * 40)
    )
    contents = [
        types.Content(role="user", parts=[types.Part(text="go"), picture]),
        types.Content(role="model", parts=[part]),
    ]
    talk = Talk(*contents)
    assert [block.type for block in talk.messages[0].blocks] == ["text", "image"]
    assert talk.sent(talk.messages) == contents
    answer = talk.messages[1]
    assert isinstance(answer, AssistantMessage)
    changed = replace(answer.calls[0], arguments={"path": "cut"})
    sent = talk.sent([talk.messages[0], replace(answer, blocks=(changed,))])
    made = types.Content.model_validate(sent[1])
    assert (
        made.parts[0].function_call.args == {"path": "cut"}
        and made.parts[0].thought_signature == b"seal"
    )


def test_a_format_that_is_named_is_not_guessed() -> None:
    talk = Talk({"role": "user", "content": "hi"}, is_of_responses=True)
    sent = talk.sent([ToolResult(id="r", call_id="c", blocks=(Text("x"),))])
    assert sent == [{"type": "function_call_output", "call_id": "c", "output": "x"}]
