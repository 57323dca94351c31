"""A running agent asks for what was taken out of its context."""

from __future__ import annotations

import json

import pytest
from live.talk import Record, anthropic, asked, back, openai, used

import workbench as wb


@pytest.mark.parametrize("format", ["openai", "anthropic"])
def test_an_agent_is_offered_recall_and_gets_an_early_fact_back(format: str) -> None:
    messages = openai(30) if format == "openai" else anthropic(30)
    live = wb.Compactor("truncate+recall", window=4_000)
    sent = live.before_request(messages)
    assert "keep its limit at 1003" not in str(sent)
    (tool,) = live.tools()
    assert (tool["function"]["name"] if format == "openai" else tool["name"]) == "recall"
    line = next(line for line in str(sent).split("\\n") if "earlier messages are archived" in line)
    assert "recall" in line
    answer = live.recall(query="part 3 limit")
    assert "keep its limit at 1003" in answer
    id = answer.split("[", 1)[1][:8]
    assert live.recall(id) in answer and len(live.recall(query="word", tokens=100)) <= 400
    assert len(live.recall(query="zq" * 50_000)) < 200 > len(live.recall("zq" * 50_000))


@pytest.mark.parametrize(
    ("format", "keys"),
    [
        ("openai", {"type", "function"}),
        ("anthropic", {"name", "description", "input_schema"}),
        ("responses", {"type", "name", "description", "parameters"}),
        ("gemini", {"functionDeclarations"}),
    ],
)
def test_the_tool_has_the_shape_that_each_api_takes(format: str, keys: set[str]) -> None:
    assert set(wb.Compactor("pipeline+recall").tools(format)[0]) == keys


def test_a_format_without_tools_is_refused_and_a_preset_without_recall_has_none() -> None:
    with pytest.raises(wb.WorkbenchError, match="known are openai"):
        wb.Compactor("pipeline+recall").tools("telegram")
    assert wb.Compactor("pipeline").tools() == []


def test_a_whole_loop_calls_recall_and_goes_on() -> None:
    live = wb.Compactor("pipeline+recall", model="extractive", window=4_000)
    messages = openai(30)
    live.before_request(messages, tools=live.tools())
    messages += [
        asked("what was the limit of part 2?"),
        used("call_r", "recall", query="limit of part 2"),
    ]
    messages.append(back("call_r", live.recall(query="limit of part 2")))
    sent = live.before_request(messages, tools=live.tools())
    assert "limit is 1002" in sent[-1]["content"] or "limit at 1002" in sent[-1]["content"]
    assert live.tokens <= 4_000


@pytest.mark.parametrize(
    "arguments", [{"query": ["limit", "part"]}, {"id": None, "query": "limit"}, {"query": "limit", "tokens": "500"}],
)  # fmt: skip
def test_a_call_with_arguments_of_another_kind_is_answered(arguments: Record) -> None:
    assert "limit" in compacted().recall(**arguments)


@pytest.mark.parametrize(
    "arguments", [{}, {"query": None}, {"query": {"words": "limit"}}, {"q": "limit"}]
)
def test_a_call_without_a_query_is_told_what_it_needs(arguments: Record) -> None:
    assert compacted().recall(**arguments) == "recall needs an id or a query."


def compacted() -> wb.Compactor:
    live = wb.Compactor("pipeline+recall", model="extractive", window=6_000)
    live.before_request(openai(60))
    return live


def test_one_conversation_answers_nothing_of_another() -> None:
    first, second = (wb.Compactor("truncate+recall", window=4_000) for _ in range(2))
    first.before_request(openai(30))
    second.before_request([asked("hello")])
    assert "Part 3 is done" in first.recall(query="part 3")
    assert second.recall(query="part 3").startswith("Nothing in the archive")


def test_what_the_last_resort_drops_is_within_reach_too() -> None:
    live = wb.Compactor("none+recall", window=3_000)
    sent = live.before_request(openai(40))
    assert any(event.type == "last_resort" for event in live.events) and live.tokens <= 3_000
    assert "earlier messages are archived" in str(sent)
    assert "limit at 1003" in live.recall(query="part 3 limit")


def test_going_back_leaves_the_archive_of_what_was_said_before() -> None:
    messages = openai(40)
    live = wb.Compactor("truncate+recall", window=4_000)
    live.before_request(messages)
    before = live.recall(query="part 3 limit")
    live.before_request([*messages, asked("one more")])
    live.before_request([*messages, asked("another one")])
    assert live.recall(query="part 3 limit") == before


def test_a_conversation_that_was_saved_and_loaded_answers_the_same_calls_by_the_same_ids() -> None:
    messages = openai(40)
    live = wb.Compactor("truncate+recall", window=4_000)
    live.before_request(messages)
    again = wb.Compactor.load(json.loads(json.dumps(live.save())))
    answer = again.recall(query="part 3 limit")
    assert "limit at 1003" in answer and answer == live.recall(query="part 3 limit")
    assert again.tools("openai") == live.tools("openai") and again.tools("openai")
    longer = [*messages, *openai(40)[1:]]
    assert again.before_request(longer) == live.before_request(longer)
    id = answer.split("[", 1)[1][:8]
    assert again.recall(id) == live.recall(id) and not again.recall(id).startswith("Nothing")
