"""What an API takes as one unit stays one: a call and its results, a thought and its call, a
message of one form.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import validators
from live.talk import Record
from preset_names import preset_names

import workbench as wb
from workbench import FormatError, WorkbenchError
from workbench.live.events import CompactionStarted, CompactsOften

PRESETS = [name for name in preset_names() if name != "none"]


def calls(step: int, n: int = 3) -> Record:
    """An answer with `n` calls at once."""
    functions = [
        {"name": "read", "arguments": json.dumps({"path": f"{step}_{i}.py"})} for i in range(n)
    ]
    listed = [
        {"id": f"c{step}_{i}", "type": "function", "function": one}
        for i, one in enumerate(functions)
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def results(step: int, n: int = 3, chars: int = 1_500) -> list[Record]:
    """The results of these calls."""
    return [
        {
            "role": "tool",
            "tool_call_id": f"c{step}_{i}",
            "content": f"result {step}_{i} " + "z" * chars,
        }
        for i in range(n)
    ]


def steps(n: int) -> list[Record]:
    """A question and `n` answers with three calls each."""
    messages: list[Record] = [{"role": "user", "content": "Read all files."}]
    for step in range(n):
        messages += [calls(step), *results(step)]
    return messages


def as_anthropic(messages: list[Record]) -> list[Record]:
    """The same in Anthropic's form, all results of an answer in one message."""
    converted: list[Record] = []
    for message in messages:
        if message["role"] == "assistant":
            uses = [
                {
                    "type": "tool_use",
                    "id": one["id"],
                    "name": "read",
                    "input": json.loads(one["function"]["arguments"]),
                }
                for one in message["tool_calls"]
            ]
            converted.append({"role": "assistant", "content": uses})
        elif message["role"] == "tool":
            part = {
                "type": "tool_result",
                "tool_use_id": message["tool_call_id"],
                "content": message["content"],
            }
            if converted[-1]["role"] == "assistant":
                converted.append({"role": "user", "content": []})
            converted[-1]["content"].append(part)
        else:
            converted.append(message)
    return converted


def compacted_by_hand(live: wb.Compactor, messages: list[Record]) -> None:
    """A compaction by hand, which some presets refuse during a turn."""
    try:
        live.compact(messages=messages)
    except WorkbenchError:
        return


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("there", [0, 1, 2])
def test_a_compaction_by_hand_leaves_calls_that_wait_and_the_results_that_are_there(
    preset: str, there: int
) -> None:
    live = wb.Compactor(preset, model=wb.find_model("extractive"), window=16_000)
    history = steps(10)
    live.before_request(history)
    waiting = [*history, calls(99), *results(99)[:there]]
    compacted_by_hand(live, waiting)
    assert validators.openai_chat(live.before_request([*history, calls(99), *results(99)])) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_so_it_does_where_all_results_are_one_message(preset: str) -> None:
    live = wb.Compactor(
        preset, model=wb.find_model("extractive"), window=16_000, format="anthropic"
    )
    history = steps(10)
    live.before_request(as_anthropic(history))
    compacted_by_hand(live, as_anthropic([*history, calls(99)]))
    assert (
        validators.anthropic(live.before_request(as_anthropic([*history, calls(99), *results(99)])))
        == []
    )


@pytest.mark.parametrize("preset", ["ddx_agent", "docker_agent"])
def test_a_preset_that_looks_after_tools_waits_for_all_results_of_an_answer(preset: str) -> None:
    live = wb.Compactor(preset, model=wb.find_model("extractive"), window=40_000)
    history = [*steps(1), calls(99)]
    for result in results(99, chars=100_000)[:2]:
        history.append(result)
        live.after_tools(history)
        assert not any(isinstance(event, CompactionStarted) for event in live.events)
    history.append(results(99)[2])
    live.after_tools(history)
    assert any(isinstance(event, CompactionStarted) for event in live.events)


def paths_of(message: Record) -> list[str]:
    return [one["function"]["arguments"]["path"] for one in message["tool_calls"]]


@pytest.mark.parametrize("preset", PRESETS)
def test_results_without_ids_keep_their_calls_and_their_order(preset: str) -> None:
    live = wb.Compactor(preset, model=wb.find_model("extractive"), window=8_000)
    history: list[Record] = [{"role": "user", "content": "Read all files."}]
    for step in range(12):
        names = [f"{step}_{i}" for i in range(3)]
        asked = [{"function": {"name": "read", "arguments": {"path": name}}} for name in names]
        history.append({"role": "assistant", "content": "", "tool_calls": asked})
        history += [
            {"role": "tool", "tool_name": "read", "content": f"{name} " + "z" * 800}
            for name in names
        ]
        sent = live.before_request(history)
        expected: list[str] = []
        for message in sent:
            if message["role"] == "tool":
                path = expected.pop(0)
                assert path in message["content"] or not message["content"][0].isdigit()
            else:
                assert expected == []
                expected = paths_of(message) if message.get("tool_calls") else []
        assert expected == []


@pytest.mark.parametrize("preset", ["operator_use", "gemini_cli", "observation_mask", "truncate"])
def test_an_answer_with_calls_keeps_a_thought_that_the_api_wants_back(preset: str) -> None:
    live = wb.Compactor(preset, model=wb.find_model("extractive"), window=8_000)
    history: list[Record] = [{"role": "user", "content": "Read all files."}]
    shortened = 0
    for step in range(40):
        thought = f"I think about step {step}. " + f"step {step} matters. " * (step % 7) * 20
        history.append({**calls(step, 1), "content": "", "reasoning_content": thought})
        history += results(step, 1, chars=900 + 200 * (step % 5))
        sent = live.before_request(history)
        kept = [message["reasoning_content"] for message in sent if message.get("tool_calls")]
        assert all(kept), "each call has a thought"
        shortened += any(thought not in str(history) for thought in kept)
    assert shortened, "some thought had to be cut"


def test_compactions_that_come_again_and_again_are_told_once() -> None:
    live = wb.Compactor("pi", model=wb.find_model("extractive"), window=16_384)
    history: list[Record] = [{"role": "user", "content": "Read all files."}]
    for step in range(60):
        history += [calls(step, 1), *results(step, 1, chars=6_000)]
        live.before_request(history)
    (event,) = [event for event in live.events if isinstance(event, CompactsOften)]
    assert event.compactions == 4 and event.requests < 12 and event.window == 16_384


def test_a_window_that_suffices_tells_nothing() -> None:
    live = wb.Compactor("pipeline", model=wb.find_model("extractive"), window=64_000)
    history: list[Record] = [{"role": "user", "content": "Read all files."}]
    for step in range(60):
        history += [calls(step, 1), *results(step, 1, chars=6_000)]
        live.before_request(history)
    assert not any(isinstance(event, CompactsOften) for event in live.events)
    assert any(isinstance(event, CompactionStarted) for event in live.events)


FOREIGN: dict[str, dict[str, Any]] = {
    "Bedrock's Converse API (toolUse)": {
        "role": "assistant",
        "content": [
            {"text": "I look."},
            {"toolUse": {"toolUseId": "t1", "name": "read", "input": {"path": "a.py"}}},
        ],
    },
    "Bedrock's Converse API (toolResult)": {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "class Pool"}]}}],
    },
    "Bedrock's Converse API (a text without a type)": {
        "role": "user",
        "content": [{"text": "Why does it leak?"}],
    },
    "Vercel's AI SDK (tool-call)": {
        "role": "assistant",
        "content": [
            {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": {"path": "a.py"}}
        ],
    },
    "Vercel's AI SDK (tool-result)": {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "read",
                "output": {"value": "class Pool"},
            }
        ],
    },
}


@pytest.mark.parametrize("owner", FOREIGN)
def test_a_message_of_another_apis_form_is_refused_and_never_half_read(owner: str) -> None:
    live = wb.Compactor("truncate", window=8_000)
    live.before_request([{"role": "user", "content": "Read all files."}])
    with pytest.raises(FormatError) as error:
        live.before_request([{"role": "user", "content": "Read all files."}, FOREIGN[owner]])
    assert (
        owner in str(error.value)
        and "messages[1]" in str(error.value)
        and "convert" in str(error.value)
    )
    assert len(live.original) == 1, "nothing of it was taken in"


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Read all files."}]},
        {
            "role": "user",
            "id": "m1",
            "content": "",
            "parts": [{"part_kind": "user-prompt", "content": "Read."}],
        },
        {"id": "m1", "parts": [{"type": "text", "text": "Read all files."}], "role": "assistant"},
    ],
)
def test_a_frameworks_own_messages_are_refused(message: Record) -> None:
    with pytest.raises(FormatError):
        wb.Compactor("truncate", window=8_000).before_request([message])
