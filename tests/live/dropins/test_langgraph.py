"""The node inside LangGraph's own agent and inside a graph of one's own, against a server on this
machine.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from workbench import SettingError, UnknownName

pytest.importorskip("langchain_openai")
pytest.importorskip("langgraph.checkpoint.sqlite")

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from live.dropins.graph_checks import (
    changes_only_the_small_field_in_most_steps,
    holds_every_question_once,
    keeps_every_message_and_stays_within_the_window,
)
from live.dropins.langchain_agent import CONFIG, asked
from live.dropins.langgraph_agent import made
from live.dropins.ordeal import NONE, TURNS, faults, ordeal
from live.dropins.server import answering, chat, refusing, size

from workbench.live.dropins.langgraph import CompactedState, CompactionNode


def test_the_state_keeps_every_message_and_what_is_sent_stays_within_the_window() -> None:
    with answering(chat) as provider:
        agent, node = made(provider.address, "summarize", InMemorySaver())
        keeps_every_message_and_stays_within_the_window(agent, provider)
        live = node.compactor(agent.get_state(CONFIG).values)
        types = [event.type for event in live.events]
        assert types.count("compaction_ended") == 2
        assert {"rewound", "usage_ignored", "callback_failed"}.isdisjoint(types)
        assert abs(live.tokens - size(provider.requests[-1])) < 40  # usage is taken in


@pytest.mark.parametrize("preset", ["summarize", "pipeline"])
def test_a_hundred_turns_with_three_kills(tmp_path: Path, preset: str) -> None:
    file = str(tmp_path / "chat.db")
    sent = ordeal("langgraph_agent.py", file, preset)
    assert len(sent) >= 2 * TURNS and faults(sent) == NONE
    with SqliteSaver.from_conn_string(file) as saver:
        holds_every_question_once(made("http://none", preset, saver)[0])


def test_most_steps_change_only_the_small_field_of_the_state() -> None:
    with answering(chat) as provider:
        agent, _ = made(provider.address, "truncate", InMemorySaver(), window=100_000)
        changes_only_the_small_field_in_most_steps(agent)


def test_after_a_refusal_the_update_of_the_state_sends_a_smaller_request() -> None:
    refused = 0
    with answering(refusing(chat, 3_000)) as provider:
        agent, node = made(provider.address, "summarize", InMemorySaver(), window=100_000)
        for part in range(12):
            try:
                agent.invoke(asked(part), CONFIG)
            except Exception as error:  # noqa: BLE001
                refused += 1
                update = node.after_error(error, agent.get_state(CONFIG).values)
                agent.update_state(CONFIG, update, as_node="pre_model_hook")
                agent.invoke(None, CONFIG)
        state = agent.get_state(CONFIG).values
        assert refused == 1 and state["messages"][-1].content == "The limit is 7011."
        assert node.compactor(state).window == 3_000
        assert sum(size(request) > 3_000 for request in provider.requests) == 1


def test_a_graph_of_ones_own_sends_what_stands_in_the_state() -> None:
    async def talk(url: str) -> CompactedState:
        model = ChatOpenAI(model="stub", base_url=url, api_key="none", max_retries=0)
        node = CompactionNode("summarize", llm=model, model="extractive", window=1_000)

        async def answer(state: CompactedState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["llm_input_messages"])]}

        builder = StateGraph(CompactedState)
        builder.add_node("compact", node)
        builder.add_node("answer", answer)
        builder.add_edge(START, "compact")
        builder.add_edge("compact", "answer")
        graph = builder.compile(checkpointer=InMemorySaver())
        for number in range(40):
            text = f"Remember number {number}. " + "and so on " * 30
            message = {"role": "user", "content": text}
            await graph.ainvoke({"messages": [message]}, CONFIG)
        state: CompactedState = graph.get_state(CONFIG).values
        return state

    with answering(chat) as provider:
        state = asyncio.run(talk(provider.address))
        assert len(state["messages"]) == 80
        assert max(map(size, provider.requests)) <= 1_000


def test_the_window_is_the_models_where_it_tells_one() -> None:
    model = ChatOpenAI(model="gpt-4o", api_key="none")
    node = CompactionNode("summarize", llm=model, model="extractive")
    assert node.compactor({}).window == 128_000


def test_what_a_compactor_refuses_is_refused_at_once() -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        CompactionNode("nonsense")
    with pytest.raises(SettingError, match="model"):
        CompactionNode("summarize")
