"""The middleware inside LangChain's own agent, with its own client against a server on this
machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import refusal
from preset_names import BUILTIN_PRESETS

from profiles import FULL
from workbench import SettingError, UnknownName
from workbench.live.events import Event

pytest.importorskip("langchain_openai")
pytest.importorskip("langgraph.checkpoint.sqlite")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from live.dropins.graph_checks import (
    changes_only_the_small_field_in_most_steps,
    holds_every_question_once,
    keeps_every_message_and_stays_within_the_window,
)
from live.dropins.langchain_agent import CONFIG, ask, asked, made, read_part
from live.dropins.ordeal import NONE, TURNS, faults, ordeal
from live.dropins.server import answering, chat, refusing, requests, size

from workbench.live.dropins.langchain import CompactionMiddleware


def test_the_state_keeps_every_message_and_what_is_sent_stays_within_the_window() -> None:
    with answering(chat) as provider:
        agent, compaction = made(provider.address, "summarize", InMemorySaver())
        keeps_every_message_and_stays_within_the_window(agent, provider)
        live = compaction.compactor(agent.get_state(CONFIG).values)
        assert [event.type for event in live.events].count("compaction_ended") == 2
        assert len(live.original) == 80 and "compactor" not in agent.invoke(asked(20), CONFIG)


def test_most_steps_change_only_the_small_field_of_the_state() -> None:
    with answering(chat) as provider:
        agent, _ = made(provider.address, "truncate", InMemorySaver(), window=100_000)
        changes_only_the_small_field_in_most_steps(agent)


@pytest.mark.parametrize("how", ["sync", "async"] if FULL else ["sync"])
def test_killed_in_mid_turn_it_goes_on_with_the_requests_of_an_agent_that_was_not(
    tmp_path: Path, how: str
) -> None:
    with answering(chat) as provider:
        ask(made(provider.address, "summarize", InMemorySaver(), window=2_000)[0], 10)
    killed = requests("langchain_agent.py", tmp_path / "chat.db", "summarize", how, "10", kills=18)
    assert killed.pop(17) == killed[17] and killed == provider.requests
    assert "part 0," not in str(killed[16])  # something was compacted before the kill


def test_a_hundred_turns_with_three_kills(tmp_path: Path) -> None:
    file = str(tmp_path / "chat.db")
    sent = ordeal("langchain_agent.py", file, "pipeline", "sync")
    assert len(sent) >= 2 * TURNS and faults(sent) == NONE
    with SqliteSaver.from_conn_string(file) as saver:
        holds_every_question_once(made("http://none", "pipeline", saver)[0])


class _Reminding(AgentMiddleware[Any, Any, Any]):
    """Adds a reminder to each request, and to no state."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        reminder = HumanMessage("Remember to be brief.")
        return handler(request.override(messages=[*request.messages, reminder]))


@pytest.mark.parametrize("is_last", [True, False])
def test_beside_a_middleware_that_changes_requests_it_may_stand_first_or_last(
    is_last: bool,
) -> None:
    def reply(asked: dict[str, Any]) -> Any:
        return chat({**asked, "messages": asked["messages"][:-1]})

    with answering(reply) as provider:
        compaction = CompactionMiddleware("pipeline", model="extractive", window=3_000)
        middlewares: list[Any] = (
            [_Reminding(), compaction] if is_last else [compaction, _Reminding()]
        )
        model = ChatOpenAI(model="stub", base_url=provider.address, api_key="none", max_retries=0)
        agent = create_agent(
            model, [read_part], middleware=middlewares, checkpointer=InMemorySaver()
        )
        messages = ask(agent, 20)
        assert messages[-1].content == "The limit is 7019."
        assert max(map(size, provider.requests)) <= 3_000
        for sent in provider.requests:
            assert sent["messages"][-1]["content"] == "Remember to be brief."
            assert "What is the limit in part" in str(sent["messages"][-4:])
        live = compaction.compactor(agent.get_state(CONFIG).values)
        assert sum(getattr(event, "undone", 0) for event in live.events) == 0


@pytest.mark.parametrize("preset", BUILTIN_PRESETS if FULL else ["pipeline", "ex_athena"])
def test_a_streamed_agent_is_compacted_under_every_preset(preset: str) -> None:
    class Streaming(GenericFakeChatModel):
        """Answers in pieces, with the usage in the last one."""

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

        def _stream(
            self, messages: list[BaseMessage], *_: Any, **__: Any
        ) -> Iterator[ChatGenerationChunk]:
            seen.append({"messages": convert_to_openai_messages(messages)})
            usage = {
                "input_tokens": size(seen[-1]),
                "output_tokens": 9,
                "total_tokens": size(seen[-1]) + 9,
            }
            for piece in ("The limit ", "is " + "long " * 40, "kept."):
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage))

    seen: list[dict[str, Any]] = []
    compaction = CompactionMiddleware(preset, model="extractive", window=2_000)
    model = Streaming(messages=iter(()))
    agent = create_agent(model, [read_part], middleware=[compaction], checkpointer=InMemorySaver())
    for part in range(40):
        pieces = [*agent.stream(asked(part), CONFIG, stream_mode="messages")]
        assert len(pieces) >= 3
    live = compaction.compactor(agent.get_state(CONFIG).values)
    # it counts otherwise than the provider
    assert max(map(size, seen)) < 1.05 * 2_000 and len(live.original) == 80
    assert {"usage_ignored", "rewound", "callback_failed"}.isdisjoint(
        event.type for event in live.events
    )


def test_with_recall_the_agent_calls_the_tool_and_gets_back_what_went() -> None:
    with answering(chat) as provider:
        agent, _ = made(provider.address, "truncate+recall", InMemorySaver())
        ask(agent, 20)
        question = {"messages": [{"role": "user", "content": "Use recall for what went."}]}
        messages = agent.invoke(question, CONFIG)["messages"]
        offered = [tool["function"]["name"] for tool in provider.requests[-1]["tools"]]
        assert offered == ["recall", "read_part"] and "runtime" not in str(
            provider.requests[-1]["tools"]
        )
        assert messages[-2].name == "recall" and "limit = 7000" in messages[-2].content
        assert messages[-1].content == "The limit is 7000."


def test_a_refused_request_goes_out_again_smaller_and_the_limit_is_learned() -> None:
    told: list[Event] = []
    with answering(refusing(chat, 3_000)) as provider:
        agent, compaction = made(
            provider.address, "summarize", InMemorySaver(), window=100_000, on_event=told.append
        )
        assert ask(agent, 12)[-1].content == "The limit is 7011."
        assert sum(size(request) > 3_000 for request in provider.requests) == 1
        assert compaction.compactor(agent.get_state(CONFIG).values).window == 3_000
    assert any(event.type == "error_judged" for event in told)


def test_an_error_that_compaction_does_not_mend_reaches_the_agent() -> None:
    with answering(lambda _: refusal(401, "no such key", "invalid_api_key")) as provider:
        agent, _ = made(provider.address, "summarize", InMemorySaver())
        with pytest.raises(Exception, match="no such key"):
            ask(agent, 1)


def test_what_the_provider_reports_is_counted() -> None:
    with answering(chat) as provider:
        agent, compaction = made(provider.address, "summarize", InMemorySaver())
        ask(agent, 2)
        live = compaction.compactor(agent.get_state(CONFIG).values)
        assert abs(live.tokens - size(provider.requests[-1]) - 20) < 20


def test_only_the_content_of_a_changed_result_is_another() -> None:
    with answering(chat) as provider:
        agent, _ = made(provider.address, "pipeline", InMemorySaver())
        ask(agent, 20)
        results = [
            message
            for request in provider.requests
            for message in request["messages"]
            if message["role"] == "tool"
        ]
        assert any("nothing of note" not in result["content"] for result in results)
        assert all(result["tool_call_id"].startswith("call_read_part") for result in results)


def test_conversations_do_not_meet_and_an_earlier_checkpoint_goes_on_as_it_did() -> None:
    with answering(chat) as provider:
        agent, _ = made(provider.address, "summarize", InMemorySaver())
        ask(agent, 16)
        other: Any = {"configurable": {"thread_id": "other"}}
        agent.invoke(asked(1), other)
        assert "part 15" not in str(provider.requests[-1])
        then = next(
            state
            for state in agent.get_state_history(CONFIG)
            if len(state.values["messages"]) == 48
        )
        was = next(
            request for request in provider.requests if "part 12" in str(request["messages"][-1])
        )
        agent.invoke(asked(12), then.config)
        assert provider.requests[-2] == was


def test_what_a_compactor_refuses_is_refused_at_once() -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        CompactionMiddleware("nonsense")
    with pytest.raises(SettingError, match="model"):
        CompactionMiddleware("summarize")
