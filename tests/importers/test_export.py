from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from builders import called, result, rules, said, told
from profiles import examples
from workbench.importers.export import to_anthropic, to_openai
from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Message,
    Summary,
    Text,
    Thinking,
    ToolCall,
    UserMessage,
)

ids = st.sampled_from(["c1", "c2", "c3", "call|x", ""])
texts = st.sampled_from(["", " ", "words", "more words"])
call = st.builds(ToolCall, ids, st.sampled_from(["read", "a.b", ""]), st.just({"path": "a"}))
answers = st.builds(
    AssistantMessage,
    id=st.just("a"),
    blocks=st.lists(
        st.builds(Text, texts) | call | st.builds(Thinking, texts, st.sampled_from(["", "seal"])), max_size=4
    ).map(tuple),
)
anything = st.one_of(
    st.builds(said, texts),
    answers,
    st.builds(result, texts, ids),
    st.builds(rules, texts),
    st.builds(Summary, id=st.just("s"), text=texts, said_by=st.sampled_from(["user", "assistant"])),
)


def openai_violations(exported: list[dict[str, Any]]) -> list[str]:
    """What OpenAI's API would refuse."""
    wrong, waiting, seen = [], [], set()
    for message in exported:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                wrong.append("a result without a call before it")
            else:
                waiting.remove(message["tool_call_id"])
            if not message["content"]:
                wrong.append("an empty result")
            continue
        if waiting:
            wrong.append("a call without a result")
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        wrong += ["an id twice" for one in waiting if one in seen or not one or len(one) > 40]
        seen |= set(waiting)
        if message["role"] not in ("system", "user", "assistant") or not (message["content"] or waiting):
            wrong.append("an empty message or a role that has no place here")
    return wrong + (["a call without a result"] if waiting else [])


def anthropic_violations(exported: list[dict[str, Any]]) -> list[str]:
    """What Anthropic's API would refuse."""
    wrong, waiting, seen = [], set(), set()
    for i, message in enumerate(exported):
        if message["role"] != ("user", "assistant")[i % 2]:
            wrong.append("roles do not alternate from user on")
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        if set(results) != waiting or len(results) != len(set(results)):
            wrong.append("results do not answer the calls before them")
        if any(block["type"] != "tool_result" for block in message["content"][: len(results)]):
            wrong.append("results do not come first")
        made = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        wrong += ["an id twice" for one in made if one in seen or not one]
        waiting = set(made)
        seen |= waiting
        empty = [b for b in message["content"] if b["type"] == "text" and not b["text"].strip()]
        if empty or not message["content"]:
            wrong.append("an empty block or message")
    return wrong + (["a call without a result"] if waiting else [])


@given(st.lists(anything, max_size=9))
@settings(max_examples=examples(400), deadline=None)
def test_openai_would_take_it(messages: list[Message]) -> None:
    assert openai_violations(to_openai(messages)) == []


@given(st.lists(anything, max_size=9))
@settings(max_examples=examples(400), deadline=None)
def test_anthropic_would_take_it(messages: list[Message]) -> None:
    assert anthropic_violations(to_anthropic(messages)) == []


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    messages = [said("go"), called("read", "c1"), said("never mind")]
    answer = to_anthropic(messages)[2]["content"][0]
    assert answer["tool_use_id"] == "c1"
    assert answer["is_error"]
    assert answer["content"] == "[no result of this call is in the context]"
    assert [message["role"] for message in to_openai(messages)] == ["user", "assistant", "tool", "user"]


def test_a_result_without_a_call_is_left_out() -> None:
    assert to_openai([said("go"), result("found", "c9")]) == [{"role": "user", "content": "go"}]


def test_a_result_stands_directly_behind_its_call() -> None:
    messages = [said("go"), called("read", "c1"), said("wait"), result("found", "c1")]
    assert [message["role"] for message in to_openai(messages)] == ["user", "assistant", "tool", "user"]
    assert to_openai(messages)[2]["content"] == "found"
    assert to_anthropic(messages)[2]["content"][0] == {"type": "tool_result", "tool_use_id": "c1", "content": "found"}


def test_an_error_stays_an_error() -> None:
    messages = [said("go"), called("read", "c1"), result("no such file", "c1", is_error=True)]
    assert to_anthropic(messages)[2]["content"][0]["is_error"]


def test_a_summary_is_said_by_whom_it_names_and_never_by_the_system() -> None:
    summary = Summary(id="s", text="so far", lead="<summary>", tail="</summary>", said_by="user")
    assert to_openai([rules("be brief"), summary]) == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "<summary>so far</summary>"},
    ]


def test_neighbours_of_one_role_are_merged_for_anthropic() -> None:
    assert len(to_anthropic([said("a"), said("b"), told("c"), told("d")])) == 2


def test_a_picture_is_named() -> None:
    message = UserMessage(id="u", blocks=(Image("image/png", 1234, 99),))
    assert to_openai([message]) == [{"role": "user", "content": "[image: image/png, 1,234 bytes]"}]
