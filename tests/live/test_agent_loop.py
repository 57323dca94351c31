"""A whole agent: litellm, a tool, a model on this machine with a small window, and a compactor
between them.
"""

from __future__ import annotations

from typing import Any

import pytest
import validators
from live.talk import Record, asked

from workbench import Compactor, Loopback, Settings, ToolCall, find_model
from workbench.live.events import CompactionEnded, ErrorJudged

litellm = pytest.importorskip("litellm")

WINDOW = 4_000
PARTS = 25
SCRIPT: list[str | ToolCall] = [
    said
    for part in range(PARTS)
    for said in (
        ToolCall(f"call_{part}", "read_part", {"part": part}),
        f"Part {part} holds the limit {part + 7000}.",
    )
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_part",
            "description": "Read one part.",
            "parameters": {"type": "object", "properties": {"part": {"type": "integer"}}},
        },
    }
]


def read_part(part: int) -> str:
    return (
        "\n".join(f"part {part}, line {n}: nothing of note" for n in range(20))
        + f"\nlimit = {part + 7000}"
    )


def worked(compactor: Compactor, server: Loopback) -> list[Record]:
    """The agent's whole conversation, its own list; what it sends goes through the compactor."""
    litellm.suppress_debug_info = True
    target: dict[str, Any] = {
        "model": "openai/loopback",
        "api_base": server.url,
        "api_key": "none",
        "tools": TOOLS,
        "num_retries": 0,
        "max_retries": 0,
    }
    messages: list[Record] = [
        {"role": "system", "content": "Read each part. Never touch secrets.env."}
    ]
    for part in range(PARTS):
        messages.append(asked(f"What is the limit in part {part}?"))
        while messages[-1]["role"] != "assistant":
            sent = compactor.before_request(messages, tools=TOOLS)
            try:
                response = litellm.completion(messages=sent, **target)
            except litellm.BadRequestError as error:
                retry = compactor.on_error(error)
                if retry is None:
                    raise
                response = litellm.completion(messages=retry.messages, **target)
            answer = response.choices[0].message
            compactor.report_usage(response.usage, stop=response.choices[0].finish_reason)
            messages.append(answer.model_dump(exclude_none=True))
            for call in answer.tool_calls or ():
                messages.append(
                    {"role": "tool", "tool_call_id": call.id, "content": read_part(part)}
                )
        compactor.after_turn(messages)
    return messages


@pytest.mark.parametrize("preset", ["truncate", "summarize", "pipeline"])
def test_an_agent_works_through_more_than_its_window_and_is_never_refused(preset: str) -> None:
    compactor = Compactor(preset, model=find_model("extractive"), window=WINDOW)
    with Loopback(SCRIPT, WINDOW) as server:
        messages = worked(compactor, server)
    assert len(messages) == 1 + 4 * PARTS
    assert server.refused == 0
    assert sum(isinstance(event, CompactionEnded) for event in compactor.events) > 1
    assert all(validators.openai_chat(request["messages"]) == [] for request in server.requests)
    assert compactor.original == messages


def test_an_agent_that_believes_in_too_large_a_window_is_refused_once_and_learns() -> None:
    compactor = Compactor(
        "summarize", model=find_model("extractive"), window=100_000, clock=lambda: 0.0
    )
    with Loopback(SCRIPT, WINDOW) as server:
        messages = worked(compactor, server)
    assert server.refused == 1
    assert compactor.window == WINDOW
    assert [event.learned for event in compactor.events if isinstance(event, ErrorJudged)] == [
        WINDOW
    ]
    assert all(validators.openai_chat(request["messages"]) == [] for request in server.requests)
    assert compactor.original == messages


def test_without_a_second_try_the_refusal_reaches_the_agent() -> None:
    compactor = Compactor(
        "summarize", model=find_model("extractive"), window=100_000, settings=Settings(retries=0)
    )
    with (
        Loopback(SCRIPT, WINDOW) as server,
        pytest.raises(litellm.BadRequestError, match="too long"),
    ):
        worked(compactor, server)
