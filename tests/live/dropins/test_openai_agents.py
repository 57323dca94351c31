"""The compactor inside the OpenAI Agents SDK's own runner and session, against a server on this
machine.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import refusal
from preset_names import BUILTIN_PRESETS

from profiles import FULL
from workbench import SettingError, UnknownName
from workbench.live.events import Event

pytest.importorskip("agents")

from agents import Agent, OpenAIResponsesModel, RunConfig, Runner, SQLiteSession
from agents.run import ModelInputData
from live.dropins.agents_agent import ask, made
from live.dropins.ordeal import NONE, TURNS, faults, ordeal, question
from live.dropins.server import answering, refusing, requests, responses, size
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseCompletedEvent

from workbench.live.dropins.openai_agents import AgentsCompactor


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "chats.db")


def test_the_session_keeps_every_item_and_what_is_sent_stays_within_the_window(file: str) -> None:
    with answering(responses) as provider:
        agent, compactor = made(provider.address, file, "summarize")
        items = asyncio.run(ask(agent, compactor, 20))
        assert len(items) == 80 and "The limit is 7019." in str(items[-1])
        assert max(map(size, provider.requests)) <= 3_000
        types = [event.type for event in compactor.compactor.events]
        assert (
            types.count("compaction_ended") >= 2
            and "rewound" not in types
            and "usage_ignored" not in types
        )


def test_killed_in_mid_run_it_goes_on_with_the_requests_of_an_agent_that_was_not(
    file: str, tmp_path: Path
) -> None:
    with answering(responses) as provider:
        asyncio.run(ask(*made(provider.address, file, "summarize", window=2_000), 10))
    killed = requests(
        "agents_agent.py", tmp_path / "killed.db", "summarize", "10", kills=18, answer=responses
    )
    assert killed.pop(17) == killed[17] and killed == provider.requests
    assert "part 0," not in str(killed[16])  # something was compacted before the kill


def test_a_hundred_turns_with_three_kills(file: str) -> None:
    sent = ordeal("agents_agent.py", file, "pipeline", answer=responses)
    assert len(sent) >= 2 * TURNS and faults(sent) == NONE
    items: list[Any] = asyncio.run(SQLiteSession("chat", file).get_items())
    questions = [item["content"] for item in items if item.get("role") == "user"]
    assert questions == [question(number) for number in range(TURNS)]


def test_each_request_adds_what_changed_to_the_session_of_what_the_compactor_knows(
    file: str,
) -> None:
    with answering(responses) as provider:
        agent, compactor = made(provider.address, file, "truncate", window=100_000)
        asyncio.run(ask(agent, compactor, 20))
    sessions = [SQLiteSession(f"chat/compactor-{number}", file) for number in range(2)]
    items: list[Any] = [asyncio.run(session.get_items()) for session in sessions]
    whole, *changes = max(items, key=len)
    assert len(changes) >= 40 and len(str(changes[-1])) < 0.2 * sum(map(len, map(str, changes)))
    assert whole["document"]["workbench"] == "compactor"


def test_with_recall_the_agent_calls_the_tool_and_gets_back_what_went(file: str) -> None:
    with answering(responses) as provider:
        agent, compactor = made(provider.address, file, "truncate+recall")
        asyncio.run(ask(agent, compactor, 20))
        again = made(provider.address, file, "truncate+recall")  # as after a restart
        result = Runner.run_sync(again[0], "Use recall for what went.", **again[1].arguments())
        assert [tool["name"] for tool in provider.requests[-1]["tools"]] == ["read_part", "recall"]
        assert "limit = 7000" in provider.requests[-1]["input"][-1]["output"]
        assert result.final_output == "The limit is 7000."


def test_after_a_refusal_that_compaction_mends_another_run_goes_on(file: str) -> None:
    async def talk(agent: Agent[Any], compactor: AgentsCompactor) -> int:
        refused = 0
        for part in range(12):
            try:
                await Runner.run(
                    agent, f"What is the limit in part {part}?", **compactor.arguments()
                )
            except Exception as error:  # noqa: BLE001
                refused += 1
                assert await compactor.on_error(error)
                await Runner.run(agent, [], **compactor.arguments())
        return refused

    told: list[Event] = []
    with answering(refusing(responses, 3_000)) as provider:
        agent, compactor = made(
            provider.address, file, "summarize", window=100_000, on_event=told.append
        )
        assert asyncio.run(talk(agent, compactor)) == 1
        assert (
            sum(size(request) > 3_000 for request in provider.requests) == 1
            and compactor.compactor.window == 3_000
        )
    assert any(event.type == "error_judged" for event in told)
    assert made("http://127.0.0.1:1", file, "summarize")[1].compactor.window == 3_000


def test_an_error_that_compaction_does_not_mend_is_no_reason_for_another_run(file: str) -> None:
    with answering(lambda _: refusal(401, "no such key", "invalid_api_key")) as provider:
        agent, compactor = made(provider.address, file, "summarize")
        with pytest.raises(Exception, match="no such key") as error:
            Runner.run_sync(agent, "hello", **compactor.arguments())
        assert not asyncio.run(compactor.on_error(error.value))


def test_what_the_provider_reports_is_counted(file: str) -> None:
    with answering(responses) as provider:
        agent, compactor = made(provider.address, file, "summarize")
        asyncio.run(ask(agent, compactor, 2))
        assert abs(compactor.compactor.tokens - size(provider.requests[-1])) < 20


def test_an_agent_that_is_a_tool_has_a_conversation_of_its_own(file: str) -> None:
    with answering(responses) as provider:
        reader, compactor = made(provider.address, file, "summarize")
        tool = reader.as_tool("ask_reader", "Ask about a part.")
        agent = Agent("asker", model=reader.model, tools=[tool])
        Runner.run_sync(agent, "Ask: What is the limit in part 3?", **compactor.arguments())
        assert [len(request["input"]) for request in provider.requests] == [1, 1, 3, 3]
    assert not [
        event for event in compactor.compactor.events if event.type in ("rewound", "usage_ignored")
    ]


def test_a_filter_of_the_hosts_own_comes_first(file: str) -> None:
    def louder(data: Any) -> ModelInputData:
        return ModelInputData(data.model_data.input, str(data.model_data.instructions).upper())

    with answering(responses) as provider:
        agent, compactor = made(provider.address, file, "summarize")
        config = RunConfig(call_model_input_filter=louder)
        Runner.run_sync(agent, "What is the limit in part 3?", **compactor.arguments(config))
        assert provider.requests[0]["instructions"] == "READ EACH PART."


def test_what_a_compactor_refuses_is_refused_at_once() -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        AgentsCompactor(SQLiteSession, "chat", "nonsense")
    with pytest.raises(SettingError, match="model"):
        AgentsCompactor(SQLiteSession, "chat", "summarize")


READING = [name for name in BUILTIN_PRESETS if name not in ("null", "ddx_agent")]
"""Presets whose newest message is the host's: `null` forgets the question, and DDx puts its
summary behind it.
"""


@pytest.mark.parametrize("preset", READING if FULL else ["pipeline", "ex_athena"])
def test_a_streamed_run_is_compacted(file: str, preset: str) -> None:
    class Streaming(OpenAIResponsesModel):
        """Answers in a stream whose last event has the whole answer, as the API's has."""

        async def stream_response(self, instructions: Any, input: Any, *_: Any, **__: Any) -> Any:
            seen.append({"input": input})
            answer = Response.model_validate(responses(seen[-1]).body)
            yield ResponseCompletedEvent(
                response=answer, sequence_number=0, type="response.completed"
            )

    async def talk() -> Any:
        agent, compactor = made("http://none", file, preset, window=4_000)
        agent.model = Streaming("stub", AsyncOpenAI(api_key="none"))
        for part in range(30):
            run = Runner.run_streamed(
                agent, f"What is the limit in part {part}?", **compactor.arguments()
            )
            assert [event async for event in run.stream_events()]
        return run.final_output, compactor.compactor

    seen: list[dict[str, Any]] = []
    said, live = asyncio.run(talk())
    assert said == "The limit is 7029." and len(live.original) >= 119
    assert max(map(size, seen)) < 1.05 * 4_000  # it counts otherwise than the provider
    assert {"usage_ignored", "rewound", "callback_failed"}.isdisjoint(
        event.type for event in live.events
    )
