"""pydantic-ai's messages as records, and what comes back of them after a refusal."""

from __future__ import annotations

import pytest

import workbench as wb

pytest.importorskip("pydantic_ai")

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from workbench.live.dropins.pydantic_messages import MessageRecords

QUESTION = ModelRequest(parts=[UserPromptPart("Do it.")])
CALL_ID = "call_" + "x" * 60
SHORT_ID = "93d9af240"
"""What it is where a provider wants nine letters and digits."""


def test_calls_and_results_get_the_ids_that_a_provider_wants() -> None:
    answer = ModelResponse(parts=[TextPart("I look."), ToolCallPart("read", {"part": 1}, CALL_ID)])
    results = ModelRequest(parts=[ToolReturnPart("read", "done", CALL_ID)])
    conversation = MessageRecords([QUESTION, answer, results])
    live = wb.Compactor("truncate", window=100_000, format="openai")
    live.before_request(conversation.records)
    retry = live.on_error("tool call id must be 9 letters and digits, 400")
    assert retry is not None
    question, mended_answer, mended_results = conversation.messages(retry.messages)
    assert question is QUESTION
    text, call = mended_answer.parts
    assert isinstance(text, TextPart) and text.content == "I look."
    assert isinstance(call, ToolCallPart) and call.args_as_dict() == {"part": 1}
    (result,) = mended_results.parts
    assert isinstance(result, ToolReturnPart) and result.content == "done"
    assert call.tool_name == result.tool_name == "read"
    assert call.tool_call_id == result.tool_call_id == SHORT_ID
