"""OpenAI's Responses items and Gemini's contents, through the compactor: what comes back is what
the APIs take.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import validators
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live.shapes import contents, items
from live.talk import Record, asked
from live.talk import openai as openai_talk
from live.test_validity import chats
from preset_names import BUILTIN_PRESETS

from profiles import examples
from workbench import Compactor, find_model

PRESETS = sorted(BUILTIN_PRESETS)
RELAXED = settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
WINDOWS = st.sampled_from([400, 1_000, 3_000])
TOOLS = [{"name": "read", "description": "x" * 2_400}]
BESIDE = 600
"""Tokens of the tools, so that the messages have as little room as in a smaller window."""


def answers(messages: Sequence[Record]) -> list[int]:
    """Where an answer begins, so that a request is due before it."""
    by_model = [
        m.get("role") in ("assistant", "model") or m.get("type") in ("reasoning", "function_call")
        for m in messages
    ]
    return [i for i, one in enumerate(by_model) if one and not (i and by_model[i - 1])]


def requests(
    preset: str, messages: list[Record], window: int, *, by_hand: bool = False
) -> list[list[Record]]:
    """All requests of a conversation, the last one with the whole of it."""
    live = Compactor(preset, model=find_model("extractive"), window=window + BESIDE)
    sent = [live.before_request(messages[:end], tools=TOOLS) for end in answers(messages)]
    if by_hand and live.preset.host.manual_in_turn:
        live.compact(messages=messages)
    return [*sent, live.before_request(messages, tools=TOOLS)]


def parted(given: Sequence[Record], sent: Sequence[Record]) -> list[str]:
    """Items that are sent under their id without the reasoning that the API gave them with."""
    needs: dict[str, str] = {}
    thought = ""
    for item in given:
        kind = item.get("type")
        thought = (
            item["id"]
            if kind == "reasoning"
            else thought
            if kind in ("message", "function_call")
            else ""
        )
        if item.get("id") and kind != "reasoning" and thought:
            needs[item["id"]] = thought
    there = {item.get("id") for item in sent}
    return [id for id, reasoning in needs.items() if id in there and reasoning not in there]


@pytest.mark.parametrize("preset", PRESETS)
@RELAXED
@given(messages=chats().map(items), window=WINDOWS)
def test_responses_takes_it(preset: str, messages: list[Record], window: int) -> None:
    before = copy.deepcopy(messages)
    for sent in requests(preset, messages, window):
        assert validators.openai_responses(sent) == []
        assert parted(messages, sent) == []
    assert messages == before


@pytest.mark.parametrize("preset", PRESETS)
@RELAXED
@given(messages=chats(), window=WINDOWS, ids=st.booleans())
def test_gemini_takes_it(preset: str, messages: list[Record], window: int, ids: bool) -> None:
    talk = contents(messages, ids=ids)
    before = copy.deepcopy(talk)
    for sent in requests(preset, talk, window):
        assert validators.gemini(sent) == []
        assert unsealed(sent) == []
    assert talk == before


def unsealed(sent: Sequence[Record]) -> list[int]:
    """Steps of the turn under way whose first call has no signature, which Gemini 3 refuses."""
    said = [
        i
        for i, one in enumerate(sent)
        if one["role"] == "user" and any("text" in part for part in one["parts"])
    ]
    calls = [[part for part in one["parts"] if "functionCall" in part] for one in sent]
    return [
        i for i in range(said[-1], len(sent)) if calls[i] and "thoughtSignature" not in calls[i][0]
    ]


def takes_responses(sent: Any) -> None:
    responses = pytest.importorskip("openai.types.responses.response_input_param")
    pytest.importorskip("pydantic").TypeAdapter(responses.ResponseInputParam).validate_python(sent)


def takes_gemini(sent: Any) -> None:
    types = pytest.importorskip("google.genai.types")
    for one in sent:
        types.Content.model_validate(one)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_clients_own_types_accept_it(preset: str) -> None:
    chat = [*openai_talk(12), asked("and now?")]
    takes_responses(requests(preset, items(chat), 1_500, by_hand=True)[-1])
    takes_gemini(requests(preset, contents(chat), 1_500, by_hand=True)[-1])


def signed_talk(steps: int) -> list[Any]:
    """A question and steps whose answers are the objects of Google's client, with signatures."""
    types = pytest.importorskip("google.genai.types")
    question = {"role": "user", "parts": [{"text": "Look at it."}]}
    messages: list[Any] = [question]
    for number in range(steps):
        call = types.FunctionCall(name="read", args={"path": f"{number}.py"})
        part = types.Part(function_call=call, thought_signature=b"seal\xff\xfe%d" % number)
        response = {"name": "read", "response": {"output": f"line {number} " * 100}}
        messages.append(types.Content(role="model", parts=[part]))
        messages.append({"role": "user", "parts": [{"functionResponse": response}]})
    return messages


def test_a_signature_of_bytes_is_the_same_after_a_kill(tmp_path: Path) -> None:
    live = Compactor("truncate", window=100_000)
    messages = signed_talk(12)
    live.before_request(messages[:-4])
    live.compact(keep_recent=2_000)
    live.save_to(tmp_path / "chat.journal")
    live = Compactor.load(tmp_path / "chat.journal")
    stored = [
        message if isinstance(message, dict) else message.model_dump(mode="json", exclude_none=True)
        for message in messages
    ]
    sent = live.before_request(stored)
    takes_gemini(sent)
    assert not live.events
    assert stored[-2] in sent
    assert live.original == stored


@pytest.mark.parametrize("preset", ["truncate", "pipeline", "clear_tool_uses", "opal"])
def test_every_format_is_compacted_alike(preset: str) -> None:
    chat = [*openai_talk(20)[1:], asked("and now?")]
    left = []
    for talk in (chat, items(chat), contents(chat)):
        live = Compactor(preset, model=find_model("extractive"), window=3_000)
        for end in answers(talk):
            live.before_request(talk[:end])
        live.before_request(talk)
        left.append(
            [(e.tokens_before, e.tokens_after) for e in live.events if e.type == "compaction_ended"]
        )
    assert left[0] and left[1] == left[0] and left[2] == left[0]


@pytest.mark.parametrize("preset", PRESETS)
def test_what_a_user_says_right_behind_a_summary_is_one_content_with_it(preset: str) -> None:
    messages = contents(openai_talk(20))
    live = Compactor(preset, model=find_model("extractive"), window=40_000)
    live.before_request(messages[:-1])
    live.after_turn(messages)
    live.compact()
    sent: list[Record] = []
    for said in ("What is left?", "And now?"):
        messages = [*messages, {"role": "user", "parts": [{"text": said}]}]
        before, sent = sent, live.before_request(messages)
        assert validators.gemini(sent) == [] and said in str(sent[-1])
        assert sent[: len(before)] == before
        messages.append({"role": "model", "parts": [{"text": "Nothing."}]})
    resumed = Compactor.load(json.loads(json.dumps(live.save())), model=find_model("extractive"))
    messages.append({"role": "user", "parts": [{"text": "Why?"}]})
    assert live.before_request(messages) == resumed.before_request(messages)


def test_what_the_host_adds_behind_all_is_one_content_with_a_summary_that_stands_last() -> None:
    messages = contents(openai_talk(20))
    live = Compactor("ddx_agent", model=find_model("extractive"), window=40_000, format="gemini")
    sent: list[Record] = []
    for turn in (17, 18, 19, 20):
        reminder = {"role": "user", "parts": [{"text": f"Reminder: this is turn {turn}."}]}
        if turn == 20:
            live.compact(messages=messages)
        sent = live.before_request([*messages[: 6 * turn], reminder])
    assert validators.gemini(sent) == []
    assert "<summary>" in str(sent[-1]) and "turn 20" in str(sent[-1])


@pytest.mark.parametrize("preset", ["truncate", "summarize", "ddx_agent", "null"])
def test_contents_of_one_role_follow_each_other_only_where_the_host_has_them_so(
    preset: str,
) -> None:
    talk: list[Record] = []
    for n, content in enumerate(contents(openai_talk(24, words=100))):
        talk.append(content)
        if n % 4 == 0 and "functionResponse" in content["parts"][0]:
            talk.append({"role": "user", "parts": [{"text": f"Stop, and do part {n} otherwise."}]})
    pairs = [pair for sent in requests(preset, talk, 6_000) for pair in itertools.pairwise(sent)]
    own = [
        (one["parts"][-1], two["parts"][0])
        for one, two in itertools.pairwise(talk)
        if one["role"] == two["role"]
    ]
    doubles = [
        (one["parts"][-1], two["parts"][0]) for one, two in pairs if one["role"] == two["role"]
    ]
    assert all(double in own for double in doubles) and (doubles or preset == "null")
