"""A provider's own compaction at a real server on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Provider, Reply, refusal, serving

from workbench import Completion, ModelError
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.model import ServerRequest
from workbench.engine.models.provider_options import ProviderOptions

MESSAGES = [{"role": "user", "content": "Mend the parser."}]
BLOCK = {"type": "compaction", "content": "The parser is mended.", "signature": "seal"}
ITERATION = {
    "type": "compaction",
    "input_tokens": 180_000,
    "output_tokens": 3_500,
    "cache_read_input_tokens": 20_000,
    "cache_creation_input_tokens": 0,
}
ANSWER = {"content": [BLOCK], "usage": {"input_tokens": 0, "iterations": [ITERATION]}}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "WORKBENCH_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        yield server


def compacted(
    provider: Provider, *replies: Reply, model: str = "anthropic/claude-haiku-4-5", **how: Any
) -> Completion:
    provider.replies = list(replies)
    given: dict[str, Any] = {"api_base": provider.address, "first_wait": 0.01, "timeout": 5.0}
    options = ProviderOptions(**{**given, **how})
    request = ServerRequest(service="compact_on_demand", messages=MESSAGES)
    return LiteLLM(model, options).compact_on_server(request)


def test_the_usage_of_the_compaction_counts_where_it_is_reported_apart(provider: Provider) -> None:
    completion = compacted(provider, Reply(ANSWER))
    assert completion.text == "The parser is mended." and completion.sealed_tokens == 0
    assert (completion.input_tokens, completion.cached_tokens, completion.output_tokens) == (
        200_000,
        20_000,
        3_500,
    )
    assert completion.usd is not None and 0.15 < completion.usd < 0.25


def test_a_busy_provider_is_asked_again_and_a_refusal_is_final(provider: Provider) -> None:
    assert compacted(provider, refusal(529, "overloaded"), Reply(ANSWER)).text
    assert len(provider.requests) == 2
    with pytest.raises(ModelError, match="did not compact: 400"):
        compacted(provider, refusal(400, "compaction_nothing_to_summarize"), Reply(ANSWER))
    assert len(provider.requests) == 3


def test_a_conversation_that_is_too_long_is_told_as_such(provider: Provider) -> None:
    with pytest.raises(ModelError) as raised:
        compacted(provider, refusal(400, "prompt is too long: 210000 tokens > 200000 maximum"))
    assert raised.value.overflow


def test_wishes_take_the_place_of_the_providers_prompt(provider: Provider) -> None:
    provider.replies = [Reply(ANSWER)]
    options = ProviderOptions(api_base=provider.address)
    request = ServerRequest(
        service="compact_on_demand", messages=MESSAGES, instructions="Name every file."
    )
    LiteLLM("claude-haiku-4-5", options).compact_on_server(request)
    assert provider.requests[0]["compaction"]["instructions"].endswith("Name every file.")


def test_no_redirect_is_followed_with_a_key(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    with serving() as other:
        other.replies = [Reply(ANSWER)]
        with pytest.raises(ModelError):
            compacted(provider, Reply({}, 307, {"location": f"{other.address}/messages"}))
        assert not other.requests


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("gemini/gemini-2.5-flash", "has no compaction compact_on_demand, which is anthropic's"),
        ("claude-haiku-4-5", "needs the environment variable ANTHROPIC_API_KEY"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_in_a_sentence(
    provider: Provider, model: str, reason: str
) -> None:
    request = ServerRequest(service="compact_on_demand", messages=MESSAGES)
    with pytest.raises(ModelError, match=reason):
        LiteLLM(model, ProviderOptions()).compact_on_server(request)


def test_nothing_is_asked_under_a_spending_limit(provider: Provider, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "answers.sqlite", run="r", max_usd=1.0)
    provider.replies = [Reply(ANSWER)]
    options = ProviderOptions(api_base=provider.address)
    request = ServerRequest(service="compact_on_demand", messages=MESSAGES)
    with pytest.raises(ModelError, match="a spending limit holds"):
        LiteLLM("claude-haiku-4-5", options, ledger).compact_on_server(request)
    assert not provider.requests


@pytest.mark.parametrize(
    ("options", "reason", "shown"),
    [
        ({}, "no a1b2 here", "no a1b2 here"),
        ({"key": "PLAIN_NAME"}, "no a1b2 here", "no [key] here"),
    ],
)
def test_a_key_that_the_options_name_may_be_short(
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    reason: str,
    shown: str,
) -> None:
    monkeypatch.setenv("PLAIN_NAME", "a1b2")
    with pytest.raises(ModelError, match=re.escape(shown)):
        compacted(provider, refusal(400, reason), **options)
