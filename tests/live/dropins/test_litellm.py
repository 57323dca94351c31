"""The hook inside a real LiteLLM proxy, before a server on this machine."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engine.models.provider import Provider

from profiles import FULL
from workbench import SettingError, UnknownName

pytest.importorskip("litellm_proxy_extras")

from live.dropins.ordeal import KILLS, NONE, TURNS, WINDOW, faults, question
from live.dropins.proxy import Caller, MessagesCaller, Proxy, ResponsesCaller
from live.dropins.server import answering, any_api, chat, refusing, size

from workbench.live.dropins.litellm import HEADER, ProxyCompaction


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with answering(chat) as server:
        yield server


@pytest.fixture(scope="module")
def proxy(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    running = Proxy(tmp_path_factory.mktemp("proxy"), provider.address, "summarize", WINDOW)
    yield running
    running.kill()


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> None:
    if "provider" in request.fixturenames:
        server = request.getfixturevalue("provider")
        server.requests.clear()
        server.by = chat


def test_two_conversations_at_once_are_each_compacted_and_do_not_meet(
    provider: Provider, proxy: Proxy
) -> None:
    first, second = Caller(proxy, "first"), Caller(proxy, "second")
    for number in range(15):
        assert first.ask(question(number)) == f"The limit is {7000 + number}."
        assert second.ask(question(50 + number)) == f"The limit is {7050 + number}."
    assert len(first.messages) == 61
    assert max(map(size, provider.requests)) <= WINDOW
    assert "part 0, line" not in str(provider.requests[-2:])
    for sent in provider.requests:
        text = str(sent["messages"])
        assert ("part 0?" in text) != ("part 50?" in text)


def test_two_clients_with_one_name_get_their_own_texts(provider: Provider, proxy: Proxy) -> None:
    first, second = Caller(proxy, "same"), Caller(proxy, "same")
    for number in range(12):
        first.ask(question(number))
        second.ask(question(50 + number))
    for sent in provider.requests:
        parts = [int(part) for part in re.findall(r"part (\d+)", str(sent["messages"]))]
        assert parts and (max(parts) < 50 or min(parts) >= 50)
    assert max(map(size, provider.requests)) <= WINDOW


def test_a_request_that_names_no_conversation_passes_as_it_came(
    provider: Provider, proxy: Proxy
) -> None:
    caller = Caller(proxy, "")
    for number in range(12):
        caller.ask(question(number))
    assert [sent["messages"] for sent in provider.requests][-1] == caller.messages[:-1]


def test_the_name_may_stand_in_the_metadata(provider: Provider, proxy: Proxy) -> None:
    caller = Caller(proxy, "", metadata={"conversation_id": "named"})
    for number in range(15):
        caller.ask(question(number))
    assert max(map(size, provider.requests)) <= WINDOW


def test_a_refused_request_is_smaller_when_it_comes_again(provider: Provider, proxy: Proxy) -> None:
    provider.by = refusing(chat, 1_200)
    caller = Caller(proxy, "refused")
    refused = 0
    for number in range(12):
        try:
            caller.ask(question(number))
        except OSError:
            refused += 1
            del caller.messages[-1]  # the question, which is asked again
            caller.ask(question(number))
    assert refused == 1
    assert sum(size(sent) > 1_200 for sent in provider.requests) == 1


@pytest.mark.parametrize("caller_of", [MessagesCaller, ResponsesCaller])
def test_anthropics_and_openais_other_route_are_compacted_and_learn_from_a_refusal(
    provider: Provider, proxy: Proxy, caller_of: type[MessagesCaller | ResponsesCaller]
) -> None:
    provider.by = refusing(any_api, 1_200)
    caller = caller_of(proxy, "route")
    refused = 0
    for number in range(15):
        try:
            answer = caller.ask(question(number))
        except OSError:
            refused += 1
            del caller.messages[-1]  # the question, which is asked again
            answer = caller.ask(question(number))
        assert answer == f"The limit is {7000 + number}."
    assert refused == sum(size(sent) > 1_200 for sent in provider.requests) == 1


@pytest.mark.parametrize("preset", ["summarize", "pipeline"] if FULL else ["pipeline"])
def test_a_hundred_turns_while_the_proxy_is_killed_three_times(tmp_path: Path, preset: str) -> None:
    def reply(asked: dict[str, Any]) -> Any:
        if len(server.requests) in KILLS:
            running.kill()
        return chat(asked)

    with answering(reply) as server:
        running = Proxy(tmp_path, server.address, preset, WINDOW)
        caller = Caller(running, "chat")
        for number in range(TURNS):
            assert caller.ask(question(number)) == f"The limit is {7000 + number}."
        running.kill()
        assert len(server.requests) == 2 * TURNS + len(KILLS)
        assert faults(server.requests) == NONE
    assert len([*(tmp_path / "journals").glob("*.journal")]) == 1


def _called(hook: ProxyCompaction, call_type: str, key: str, **data: Any) -> dict[str, Any]:
    request = {"proxy_server_request": {"headers": {HEADER: "chat"}}, **data}
    request |= {"litellm_call_id": "call", "model": "stub"}
    user = SimpleNamespace(api_key=key)
    return asyncio.run(hook.async_pre_call_hook(user, None, request, call_type))


def test_one_name_under_two_keys_is_two_conversations() -> None:
    hook = ProxyCompaction("truncate", window=100_000)
    messages = [{"role": "user", "content": "hello"}]
    _called(hook, "acompletion", "one", messages=messages)
    assert hook.compactor("chat", key="one").original == messages
    assert hook.compactor("chat", key="two").original == []


def test_anthropics_and_openais_other_requests_are_compacted_in_their_own_form() -> None:
    hook = ProxyCompaction("truncate", window=1_000)
    messages: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for number in range(20):
        use = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "word " * 100}
        messages.append({"role": "user", "content": question(number)})
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "Seen."}]})
        items.append({"role": "user", "content": question(number)})
        call = {"type": "function_call", "call_id": f"c{number}", "name": "look"}
        items.append({**call, "arguments": "{}"})
        output = {"type": "function_call_output", "call_id": f"c{number}"}
        items.append({**output, "output": "word " * 100})
    sent = _called(hook, "anthropic_messages", "", messages=[*messages], system="Be brief.")
    assert len(json.dumps(sent["messages"])) < 4_000 and sent["system"] == "Be brief."
    sent = _called(hook, "aresponses", "", input=[*items])
    assert len(json.dumps(sent["input"])) < 4_000


@pytest.mark.parametrize(
    ("call_type", "data"),
    [
        ("aembedding", {"input": ["a"]}),
        ("aresponses", {"input": "a text"}),
        ("aresponses", {"input": [], "previous_response_id": "r"}),
        ("acompletion", {"messages": [{"role": "stranger", "content": "x"}]}),
    ],
)
def test_what_it_cannot_read_passes_as_it_came(call_type: str, data: dict[str, Any]) -> None:
    sent = _called(ProxyCompaction("truncate"), call_type, "", **data)
    assert {name: sent[name] for name in data} == data


def test_what_a_compactor_refuses_is_refused_at_once() -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        ProxyCompaction("nonsense")
    with pytest.raises(SettingError, match="model"):
        ProxyCompaction("summarize")
