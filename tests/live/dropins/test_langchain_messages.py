"""LangChain's messages as records, and what comes back of them after a refusal."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb

pytest.importorskip("langchain_core")

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from workbench.live.dropins.langchain_messages import MessageRecords


def test_calls_and_results_get_the_ids_that_a_provider_wants() -> None:
    long_id = "call_" + "x" * 60
    call: Any = {"id": long_id, "name": "read", "args": {}}
    messages = [
        HumanMessage("Do it.", id="question"),
        AIMessage("", tool_calls=[call], id="answer"),
        ToolMessage("done", tool_call_id=long_id, id="result"),
    ]
    conversation = MessageRecords(messages)
    live = wb.Compactor("truncate", window=100_000, format="openai")
    live.before_request(conversation.records)
    retry = live.on_error("tool call id must be 9 letters and digits, 400")
    assert retry is not None
    _, answer, result = conversation.messages(retry.messages)
    assert isinstance(answer, AIMessage) and isinstance(result, ToolMessage)
    assert answer.tool_calls[0]["id"] == result.tool_call_id == "93d9af240"
