"""What a compactor hands out is what providers take, whatever the conversation and the preset."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import validators
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.shapes import blocks
from live.talk import Record, answered, asked, back, used
from live.talk import anthropic as anthropic_talk
from live.talk import openai as openai_talk
from preset_names import BUILTIN_PRESETS

from profiles import examples
from workbench import Compactor, find_model

PRESETS = sorted(BUILTIN_PRESETS)
RELAXED = settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def chats(draw: st.DrawFn) -> list[Record]:
    """OpenAI chat: turns with 0 to 3 steps of 1 to 3 parallel calls, results of any length in
    any order.
    """
    messages: list[Record] = (
        [{"role": "system", "content": "Be careful."}] if draw(st.booleans()) else []
    )
    calls = 0
    for turn in range(draw(st.integers(1, 7))):
        messages += [asked(f"question {turn} " + "why " * draw(st.integers(0, 60)))] * draw(
            st.integers(1, 2)
        )
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"call_{calls + n}" for n in range(draw(st.integers(1, 3)))]
            calls += len(ids)
            made = used(ids[0], path=f"src/{turn}.py")
            made["tool_calls"] += [used(id, path=f"src/{id}.py")["tool_calls"][0] for id in ids[1:]]
            made["content"] = draw(st.sampled_from([None, "Let me see."]))
            if draw(st.booleans()):
                made["reasoning_content"] = "I should look. " * draw(st.integers(1, 30))
            results = [
                back(id, draw(TEXTS) * draw(st.integers(1, 80)))
                for id in draw(st.permutations(ids))
            ]
            messages += [made, *results]
        if draw(st.booleans()):
            messages.append(answered(f"answer {turn} " + "so " * draw(st.integers(0, 40))))
    return [*messages, asked("and now?")]


TEXTS = st.sampled_from(
    ["a line of output\n", "数据 ", "👩‍👩‍👧 ", "x", "path/to/file.py:12 error E42; "]
)


WINDOWS = st.sampled_from([400, 1_000, 3_000])
TOOLS = [{"name": "read", "description": "x" * 2_400}]
BESIDE = 600
"""Tokens of the tools, so that the messages have as little room as in a smaller window."""


def sent(
    preset: str, messages: list[Record], window: int, *, by_hand: bool = False
) -> list[Record]:
    """What is handed out at the end of the conversation, after a request at each of its answers."""
    live = Compactor(preset, model=find_model("extractive"), window=window + BESIDE)
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            live.before_request(messages[:end], tools=TOOLS)
        elif message["role"] == "user" and end:
            live.after_turn(messages[:end])
    if by_hand and (live.preset.host.manual_in_turn or messages[-1]["role"] == "assistant"):
        live.compact(messages=messages)
    return live.before_request(messages, tools=TOOLS)


@pytest.mark.parametrize("preset", PRESETS)
@RELAXED
@given(messages=chats(), window=WINDOWS)
def test_openai_takes_it(preset: str, messages: list[Record], window: int) -> None:
    before = copy.deepcopy(messages)
    assert validators.openai_chat(messages) == []
    assert validators.openai_chat(sent(preset, messages, window)) == []
    assert messages == before


@pytest.mark.parametrize("preset", PRESETS)
@RELAXED
@given(messages=chats().map(blocks), window=WINDOWS)
def test_anthropic_takes_it(preset: str, messages: list[Record], window: int) -> None:
    before = copy.deepcopy(messages)
    assert validators.anthropic(messages) == []
    assert validators.anthropic(sent(preset, messages, window)) == []
    assert messages == before


@pytest.mark.parametrize("preset", PRESETS)
def test_gemini_and_openais_responses_take_it_as_litellm_translates_it(preset: str) -> None:
    messages = [*openai_talk(20), asked("and now?")]
    compacted = sent(preset, messages, 2_000, by_hand=True)
    if preset in {"truncate", "summarize", "pipeline"}:
        assert len(compacted) < len(messages)
    assert validators.openai_responses(as_responses(compacted)) == []
    assert validators.gemini(as_gemini(compacted)) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_parallel_calls_with_sealed_thoughts_stay_valid_for_anthropic(preset: str) -> None:
    messages = [*anthropic_talk(20, calls=3), asked("and now?")]
    compacted = sent(preset, messages, 2_000, by_hand=True)
    assert validators.anthropic(compacted) == []
    seals = {
        part["signature"]: part["thinking"]
        for message in messages
        for part in message["content"]
        if isinstance(part, dict) and part["type"] == "thinking"
    }
    thoughts = [
        p
        for m in compacted
        for p in m["content"]
        if isinstance(p, dict) and p["type"] == "thinking"
    ]
    assert all(seals[part["signature"]] == part["thinking"] for part in thoughts)


def test_a_truncated_conversation_begins_with_a_users_turn() -> None:
    messages = [
        asked("do it all"),
        *[m for n in range(40) for m in (used(f"c{n}", path="a"), back(f"c{n}", "x " * 80))],
    ]
    messages.insert(-2, asked("hurry up"))
    compacted = sent("truncate", messages, 1_500)
    assert compacted[0]["role"] == "user"
    assert validators.openai_chat(compacted) == []


def as_responses(messages: list[Record]) -> list[Any]:
    from litellm.completion_extras.litellm_responses_transformation.transformation import (
        LiteLLMResponsesTransformationHandler,
    )

    handler = LiteLLMResponsesTransformationHandler()  # type: ignore[no-untyped-call]
    spoken: list[Any] = copy.deepcopy(messages)
    items, _ = handler.convert_chat_completion_messages_to_responses_api(spoken)
    return list(items)


def as_gemini(messages: list[Record]) -> list[Any]:
    from litellm.llms.vertex_ai.gemini.transformation import _gemini_convert_messages_with_history

    spoken: list[Any] = [
        message for message in copy.deepcopy(messages) if message["role"] != "system"
    ]
    return list(_gemini_convert_messages_with_history(spoken))


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        ([asked("hi"), back("c", "x")], validators.openai_chat),
        ([asked("hi"), used("c"), asked("so?")], validators.openai_chat),
        ([asked("hi"), answered("")], validators.openai_chat),
        ([answered("hi"), asked("hi")], validators.anthropic),
        (
            blocks([asked("hi"), used("c"), back("c", "x"), back("c", "x"), asked("so?")]),
            validators.anthropic,
        ),
        (blocks([asked("hi"), used("c"), asked("so?")]), validators.anthropic),
        (
            [{"type": "function_call_output", "call_id": "c", "output": "x"}],
            validators.openai_responses,
        ),
        (
            [{"type": "function_call", "call_id": "c", "arguments": "{}"}],
            validators.openai_responses,
        ),
        ([{"role": "model", "parts": [{"text": "hi"}]}], validators.gemini),
        ([{"role": "user", "parts": [{"function_response": {}}]}], validators.gemini),
    ],
)
def test_the_validators_find_what_is_broken(broken: list[Record], check: Any) -> None:
    assert check(broken)
