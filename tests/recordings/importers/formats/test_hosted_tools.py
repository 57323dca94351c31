"""Tools that OpenAI runs itself: an item of the Responses API has the call and its result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only

from workbench import AssistantMessage
from workbench.engine.transcript.message import Image, ToolResult, plain_text

LOGS = "the mean of all numbers is 12.5"
LISTED = {"type": "mcp_list_tools", "tools": [{"description": "rolls dice for somebody"}]}
HOSTED: dict[str, tuple[dict[str, Any], str, dict[str, Any], str]] = {
    "code_interpreter_call": (
        {"code": "print(mean(numbers))", "outputs": [{"type": "logs", "logs": LOGS}]},
        "code_interpreter",
        {"code": "print(mean(numbers))"},
        LOGS,
    ),
    "file_search_call": (
        {"queries": ["the mean"], "results": [{"text": LOGS}]},
        "file_search",
        {"queries": ["the mean"]},
        LOGS,
    ),
    "mcp_call": (
        {"name": "mean", "arguments": '{"of": "numbers"}', "output": LOGS},
        "mean",
        {"of": "numbers"},
        LOGS,
    ),
}


def response(*items: dict[str, Any]) -> dict[str, Any]:
    """A response with these items before its answer."""
    answer = {"role": "assistant", "content": [{"type": "output_text", "text": "It is 12.5."}]}
    prompt = {"role": "user", "content": [{"type": "input_text", "text": "what is the mean?"}]}
    return {"id": "resp_1", "model": "big", "input": [prompt], "output": [*items, answer]}


@pytest.mark.parametrize("type_", HOSTED)
def test_an_item_is_a_call_with_its_result(tmp_path: Path, type_: str) -> None:
    item, name, arguments, returned = HOSTED[type_]
    session = only(document(tmp_path, response({"type": type_, "id": "i1", **item})))
    made, result = session.messages[1:3]
    assert isinstance(made, AssistantMessage) and isinstance(result, ToolResult)
    assert [(call.id, call.name, call.arguments) for call in made.calls] == [
        ("i1", name, arguments)
    ]
    assert (result.call_id, plain_text(result)) == ("i1", returned)
    assert (session.origin.text_read, session.origin.skipped) == (1.0, ())


def test_a_call_that_returned_nothing_has_no_result(tmp_path: Path) -> None:
    item = {"type": "code_interpreter_call", "id": "i1", "code": "pass", "outputs": None}
    session = only(document(tmp_path, response(item)))
    assert [message.role for message in session.messages] == ["user", "assistant"]


def test_the_error_of_a_call_is_what_it_returned(tmp_path: Path) -> None:
    item = {"type": "mcp_call", "id": "i1", "name": "mean", "arguments": "{}", "error": "no such"}
    session = only(document(tmp_path, response(item)))
    assert plain_text(session.messages[2]) == "no such"


@pytest.mark.parametrize(
    "items",
    [
        [{"type": "image_generation_call", "id": "i1", "result": "AAAA"}],
        [
            {"type": "computer_call", "call_id": "i1", "action": {"type": "screenshot"}},
            {
                "type": "computer_call_output",
                "call_id": "i1",
                "output": {
                    "type": "computer_screenshot",
                    "image_url": "data:image/png;base64,AAAA",
                },
            },
        ],
    ],
    ids=["made", "seen"],
)
def test_a_picture_that_came_back_is_one(tmp_path: Path, items: list[dict[str, Any]]) -> None:
    session = only(document(tmp_path, response(*items)))
    result = session.messages[2]
    assert isinstance(result, ToolResult)
    assert [type(block) for block in result.blocks] == [Image]


def test_the_tools_of_a_server_are_left_out_and_told(tmp_path: Path) -> None:
    session = only(document(tmp_path, response(LISTED)))
    assert "block of type 'mcp_list_tools'" in session.origin.skipped[0]
