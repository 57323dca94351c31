"""A provider's own compaction, chosen as a stage: asked for at a real server on this machine, and
sent back as it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import validators
from engine.models.provider import Provider, Reply, completion, serving
from live.talk import Record, asked
from live.talk import anthropic as anthropic_talk
from live.talk import openai as openai_talk
from live.test_native_compactions import turn

import workbench as wb
from workbench import Compaction, Compactor
from workbench.engine.compaction.stages import BUILTIN
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions

SYSTEM = "Work carefully."
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}]
SUMMARY = "The limits of the parts are 1000 and more."


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "WORKBENCH_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with serving() as server:
        yield server


def block(number: int, text: str = SUMMARY) -> Record:
    return {
        "type": "compaction",
        "content": text,
        "signature": f"seal {number}",
        "tool_changes": [],
    }


def by_anthropic(asked_for: dict[str, Any], number: int) -> Reply:
    usage = {"input_tokens": 50, "output_tokens": 20, "cache_read_input_tokens": 900}
    body = {"content": [block(number)], "stop_reason": "compaction", "usage": usage}
    return Reply(body)


def sealed_item(number: int) -> Record:
    return {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": "x" * 4_000}


def by_openai(asked_for: dict[str, Any], number: int) -> Reply:
    questions = [item for item in asked_for["input"] if item.get("role") == "user"]
    usage = {
        "input_tokens": 1_000,
        "output_tokens": 20,
        "input_tokens_details": {"cached_tokens": 9},
    }
    return Reply({"output": [*questions, sealed_item(number)], "usage": usage})


def compactor(provider: Provider, service: str, model: str, **options: Any) -> Compactor:
    provider_options = ProviderOptions(
        api_base=provider.address, tries=2, first_wait=0.01, timeout=20.0
    )
    preset = wb.preset("anthropic_on_demand", service=service)
    return Compactor(
        preset,
        model=LiteLLM(model, provider_options),
        window=options.pop("window", 4_000),
        **options,
    )


def requests_of(talk: list[Record]) -> Iterator[list[Record]]:
    """The host's list at each of its requests."""
    for index, message in enumerate(talk):
        if message["role"] == "assistant":
            yield talk[:index]


def test_anthropics_block_is_first_and_stays_as_it_came_through_forty_turns(
    provider: Provider,
) -> None:
    provider.by = lambda asked_for: by_anthropic(asked_for, len(provider.requests))
    live = compactor(provider, "compact_on_demand", "anthropic/claude-haiku-4-5")
    compacted_requests = 0
    for messages in requests_of(anthropic_talk(40)):
        sent = live.before_request(messages, system=SYSTEM, tools=TOOLS)
        if not provider.requests:
            assert sent == messages
            continue
        compacted_requests += 1
        assert sent[0] == {"role": "assistant", "content": [block(len(provider.requests))]}
        assert validators.anthropic([asked("(earlier)"), *sent]) == []
    assert compacted_requests > 60 and len(provider.requests) >= 3
    assert live.usd is not None and live.usd > 0


def test_anthropic_is_sent_the_conversation_itself_with_its_system_prompt_and_tools(
    provider: Provider,
) -> None:
    provider.by = lambda asked_for: by_anthropic(asked_for, len(provider.requests))
    live = compactor(provider, "compact_on_demand", "anthropic/claude-haiku-4-5")
    talk = anthropic_talk(30)
    for messages in requests_of(talk):
        live.before_request(messages, system=SYSTEM, tools=TOOLS)
    first, second = provider.requests[:2]
    assert provider.path == "/v1/messages"
    assert provider.headers["anthropic-beta"] == "compact-2026-09-04"
    assert provider.authorization == "Bearer sk-ant-0123456789abcdef"
    assert first["compaction"] == {"type": "summarize"}
    assert (first["model"], first["system"], first["tools"]) == ("claude-haiku-4-5", SYSTEM, TOOLS)
    assert first["messages"] == talk[: len(first["messages"])]
    assert second["messages"][0] == {"role": "assistant", "content": [block(1)]}
    for request in provider.requests:
        last = request["messages"][-1]
        assert not (last["role"] == "assistant" and "tool_use" in str(last)), "no call is left open"


def test_openais_items_are_sent_back_as_they_came_through_forty_turns(provider: Provider) -> None:
    provider.by = lambda asked_for: by_openai(asked_for, len(provider.requests))
    live = compactor(provider, "responses_compact", "openai/gpt-5.5")
    talk: list[Record] = []
    for number in range(40):
        talk += turn(number)
        sent = live.before_request([*talk, asked("and now?")], system=SYSTEM)
        if provider.requests:
            sealed = [item for item in sent if item.get("type") == "compaction"]
            assert sealed == [sealed_item(len(provider.requests))]
            behind = sent[sent.index(sealed[0]) + 1 :]
            assert validators.openai_responses([asked("(earlier)"), *behind]) == []
    assert len(provider.requests) >= 2
    assert provider.path == "/v1/responses/compact"
    assert provider.authorization == "Bearer sk-0123456789abcdef"
    first, second = provider.requests[:2]
    assert first["input"] == talk[: len(first["input"])] and first["instructions"] == SYSTEM
    assert sealed_item(1) in second["input"]
    assert "only the provider can read it" not in str(sent)


def test_encrypted_items_count_as_many_tokens_as_those_of_the_host(provider: Provider) -> None:
    provider.by = lambda asked_for: Reply({"output": [sealed_item(1)], "usage": {}})
    live = compactor(provider, "responses_compact", "openai/gpt-5.5")
    for number in range(6):
        live.before_request([item for n in range(number + 1) for item in turn(n)])
    live.compact()
    native = Compactor("none")
    sent = live.before_request([item for n in range(6) for item in turn(n)])
    native.before_request(sent)
    assert live.tokens == pytest.approx(native.tokens, abs=60), "and a line of ours above them"


def test_a_compaction_at_a_threshold_pauses_behind_it_and_needs_50_000_tokens(
    provider: Provider,
) -> None:
    provider.by = lambda asked_for: by_anthropic(asked_for, len(provider.requests))
    live = compactor(
        provider, "compact_20260112", "claude-haiku-4-5", window=100_000, format="anthropic"
    )
    talk = anthropic_talk(30, words=1_500)
    for messages in requests_of(talk):
        live.before_request(messages)
    (edit,) = provider.requests[0]["context_management"]["edits"]
    assert edit == {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": 50_000},
        "pause_after_compaction": True,
    }
    assert provider.headers["anthropic-beta"] == "compact-2026-01-12"


def finished(live: Compactor) -> list[str]:
    """How each summary came about."""
    compactions: list[Compaction] = live_compactions[live]
    return [done.method for compaction in compactions for done in compaction.completions]


live_compactions: dict[Compactor, list[Compaction]] = {}


def watched(provider: Provider, service: str, model: str, **options: Any) -> Compactor:
    """The same, whose compactions are written down."""
    compactions: list[Any] = []
    hooks = wb.Hooks(after=compactions.append)
    live = compactor(provider, service, model, hooks=hooks, **options)
    live_compactions[live] = compactions
    return live


@pytest.mark.parametrize(
    ("service", "model", "talk", "reason"),
    [
        ("compact_on_demand", "openai/gpt-5.5", anthropic_talk, "which is anthropic's"),
        (
            "compact_on_demand",
            "anthropic/claude-x",
            openai_talk,
            "takes no messages in the format openai",
        ),
        (
            "compact_20260112",
            "anthropic/claude-x",
            anthropic_talk,
            "compacts from 50,000 tokens on",
        ),
        (
            "responses_compact",
            "openai/gpt-5.5",
            openai_talk,
            "takes no messages in the format openai",
        ),
    ],
)
def test_where_the_service_does_not_suit_the_model_writes_a_summary_and_says_so(
    provider: Provider, service: str, model: str, talk: Any, reason: str
) -> None:
    provider.replies = [completion("## Task\nBuild the parts.")]
    live = watched(provider, service, model)
    if model.startswith("anthropic/"):
        provider.replies = [Reply(anthropic_answer("## Task\nBuild the parts."))]
    for messages in requests_of(talk(30)):
        sent = live.before_request(messages)
    assert "Build the parts." in str(sent)
    methods = finished(live)
    assert methods
    for method in methods:
        assert method.startswith(f"in the place of {service}: ") and reason in method


def anthropic_answer(text: str) -> Record:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }


@pytest.mark.parametrize(
    "refused",
    [
        Reply(
            {"error": {"type": "invalid_request_error", "message": "no sk-ant-0123456789abcdef"}},
            400,
        ),
        Reply({"content": [{"type": "compaction", "content": None}]}),
        Reply("<html>busy</html>"),
    ],
)
def test_a_server_that_gives_no_compaction_costs_no_message(
    provider: Provider, refused: Reply
) -> None:
    def reply(asked_for: dict[str, Any]) -> Reply:
        return refused if "compaction" in asked_for else Reply(anthropic_answer("## Task\nGo on."))

    provider.by = reply
    live = watched(provider, "compact_on_demand", "anthropic/claude-x")
    for messages in requests_of(anthropic_talk(30)):
        sent = live.before_request(messages, system=SYSTEM)
        assert validators.anthropic(sent) == []
    assert "Go on." in str(sent)
    assert all("in the place of compact_on_demand" in method for method in finished(live))
    assert "0123456789abcdef" not in str(finished(live)), "no key is told"


def test_a_replay_says_that_a_models_summary_stands_for_the_servers() -> None:
    replay = wb.replay(wb.bundled()[0], "anthropic_on_demand", window=32_000)
    (first, *_) = replay.compactions
    assert [done.method for done in first.completions] == ["in the place of compact_on_demand"]


def test_it_is_a_stage_by_name_beside_others(provider: Provider) -> None:
    provider.by = lambda asked_for: by_anthropic(asked_for, len(provider.requests))
    mine = wb.Preset(
        "mine", wb.Strategy("mine", (BUILTIN["server_compaction"](),)), wb.AtShare(0.8, 0.4)
    )
    provider_options = ProviderOptions(api_base=provider.address)
    live = Compactor(mine, model=LiteLLM("anthropic/claude-x", provider_options), window=4_000)
    for messages in requests_of(anthropic_talk(30)):
        sent = live.before_request(messages)
    assert sent[0]["content"][0]["signature"].startswith("seal")


def test_a_compaction_by_the_server_is_saved_and_sent_again(provider: Provider) -> None:
    provider.by = lambda asked_for: by_anthropic(asked_for, len(provider.requests))
    live = compactor(provider, "compact_on_demand", "anthropic/claude-x")
    talk = anthropic_talk(30)
    for messages in requests_of(talk):
        sent = live.before_request(messages)
    again = Compactor.load(live.save(), preset=live.preset, model="extractive")
    assert again.before_request(messages) == sent


def test_a_host_that_goes_on_from_what_it_got_keeps_the_block(provider: Provider) -> None:
    provider.by = lambda asked_for: by_anthropic(asked_for, len(provider.requests))
    live = compactor(provider, "compact_on_demand", "anthropic/claude-x")
    messages: list[Record] = []
    for message in anthropic_talk(40):
        if message["role"] == "assistant":
            messages = live.before_request(messages)
            if provider.requests:
                assert messages[0]["content"][0] == block(len(provider.requests))
        messages.append(message)
    assert len(provider.requests) >= 3
