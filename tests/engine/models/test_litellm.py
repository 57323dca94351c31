from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Provider, Reply, completion, refusal, serving

from workbench import ModelError, SetupError, SummaryRequest, find_model
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions

API_BASE = "WORKBENCH_API_BASE"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        API_BASE,
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        yield server


def request(prompt: str = "Summarise this.", most: int | None = 300) -> SummaryRequest:
    return SummaryRequest(
        purpose="summary", system="You summarise.", write=lambda _: prompt, max_tokens=most
    )


def told(server: Provider, replies: Sequence[Reply], *, tries: int = 3) -> LiteLLM:
    server.replies = list(replies)
    provider_options = ProviderOptions(
        api_base=server.address, tries=tries, first_wait=0.01, timeout=20.0
    )
    return LiteLLM("openai/stub", provider_options)


def test_an_answer_comes_with_its_tokens_and_time(provider: Provider) -> None:
    answer = told(provider, [completion("  ## Goal\n- ship it ")]).complete(request())
    assert answer.text == "## Goal\n- ship it"
    assert (answer.input_tokens, answer.output_tokens, answer.cached_tokens) == (120, 7, 100)
    assert answer.seconds > 0
    assert answer.model == "litellm:stub"


def test_the_request_holds_the_wording_and_the_bound_and_offers_no_tools(
    provider: Provider,
) -> None:
    told(provider, [completion("fine")]).complete(request("the transcript", most=77))
    sent = provider.requests[0]
    assert sent["messages"] == [
        {"role": "system", "content": "You summarise."},
        {"role": "user", "content": "the transcript"},
    ]
    assert sent.get("max_tokens", sent.get("max_completion_tokens")) == 77
    assert "tools" not in sent and "functions" not in sent


def test_a_price_nobody_knows_is_none_and_not_zero(provider: Provider) -> None:
    assert told(provider, [completion("fine")]).complete(request()).usd is None


def test_a_known_price_is_charged_with_its_cached_part(provider: Provider) -> None:
    provider.replies = [completion("fine")]
    answer = LiteLLM("openai/gpt-4o-mini", ProviderOptions(api_base=provider.address)).complete(
        request()
    )
    assert answer.usd == pytest.approx(20 * 1.5e-07 + 100 * 7.5e-08 + 7 * 6e-07)


def test_the_address_may_stand_in_the_environment(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.replies = [completion("fine")]
    monkeypatch.setenv(API_BASE, provider.address)
    assert find_model("litellm:openai/stub").complete(request()).text == "fine"


def test_a_provider_that_names_a_wait_is_taken_at_its_word(provider: Provider) -> None:
    slow = LiteLLM(
        "openai/stub", ProviderOptions(api_base=provider.address, tries=2, first_wait=3_600.0)
    )
    provider.replies = [refusal(429, "Rate limit reached", retry_after="0"), completion("fine")]
    assert slow.complete(request()).text == "fine"


def test_a_wait_of_an_hour_is_not_waited(provider: Provider) -> None:
    model = told(
        provider, [refusal(429, "Rate limit reached", retry_after="3600"), completion("fine")]
    )
    with pytest.raises(ModelError) as caught:
        model.complete(request())
    assert caught.value.retryable and len(provider.requests) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_failing_provider_is_asked_as_often_as_allowed_and_no_more(
    provider: Provider, status: int
) -> None:
    with pytest.raises(ModelError) as caught:
        told(provider, [refusal(status, "the server had an error")]).complete(request())
    assert caught.value.retryable and not caught.value.overflow
    assert len(provider.requests) == 3


@pytest.mark.parametrize("content", ["", "   \n", None])
def test_an_empty_answer_comes_back_empty_with_what_it_cost(
    provider: Provider, content: str | None
) -> None:
    answer = told(provider, [completion(content)]).complete(request())
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("", 120, 7)
    assert len(provider.requests) == 1


def test_a_wish_for_a_tool_is_an_empty_answer_that_says_so(provider: Provider) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    answer = told(provider, [completion(None, finish="tool_calls", tool_calls=[call])]).complete(
        request()
    )
    assert answer.text == "" and "tool_calls" in answer.why


NO_CHOICE = {"id": "x", "object": "chat.completion", "model": "stub", "choices": []}


@pytest.mark.parametrize(
    "body", ['{"id": "x", "choices": [{"index"', "<html>Bad gateway</html>", "", NO_CHOICE]
)
def test_an_answer_that_stays_broken_is_an_error(
    provider: Provider, body: str | dict[str, Any]
) -> None:
    with pytest.raises(ModelError) as caught:
        told(provider, [Reply(body)]).complete(request())
    assert caught.value.retryable and len(provider.requests) == 3


def test_what_the_model_thought_is_dropped(provider: Provider) -> None:
    replies = [
        completion("<think>first, the\ngoal</think>\n\nthe summary", reasoning_content="hidden")
    ]
    assert told(provider, replies).complete(request()).text == "the summary"


def test_a_thought_that_never_ends_is_no_answer(provider: Provider) -> None:
    answer = told(provider, [completion("<think>first, the goal, then", finish="length")]).complete(
        request()
    )
    assert answer.text == "" and answer.cut


@pytest.mark.parametrize(
    ("reply", "overflow"),
    [
        (refusal(400, "prompt is too long: 215000 tokens > 200000 maximum"), True),
        (refusal(413, "Request Entity Too Large"), True),
        (
            refusal(
                400,
                "max_tokens is too large: 99999. This model supports at most 4096 completion"
                " tokens",
            ),
            False,
        ),
        (
            refusal(
                400,
                "messages with role 'tool' must be a response to a preceding message with"
                " 'tool_calls'",
            ),
            False,
        ),
        (refusal(400, "temperature must be a number"), False),
        (refusal(429, "You exceeded your current quota", "insufficient_quota"), False),
    ],
)
def test_a_refused_request_is_not_sent_again_and_says_whether_it_was_too_large(
    provider: Provider, reply: Reply, overflow: bool
) -> None:
    with pytest.raises(ModelError) as caught:
        told(provider, [reply]).complete(request())
    assert (caught.value.overflow, caught.value.retryable, len(provider.requests)) == (
        overflow,
        False,
        1,
    )


def test_a_rate_limit_in_the_words_of_an_overflow_is_none(provider: Provider) -> None:
    told_off = refusal(
        429,
        "Rate limit reached: too many tokens per minute, please reduce the length of your requests",
    )
    with pytest.raises(ModelError) as caught:
        told(provider, [told_off], tries=1).complete(request())
    assert not caught.value.overflow


def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", API_BASE):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SetupError, match="ANTHROPIC_API_KEY"):
        LiteLLM("anthropic/claude-haiku-4-5").complete(request())


def test_a_name_that_no_provider_knows_is_an_error_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(API_BASE, raising=False)
    with pytest.raises(ModelError) as caught:
        LiteLLM("no-such-model").complete(request())
    assert not caught.value.retryable


def test_another_model_may_be_asked_for_one_question(provider: Provider) -> None:
    model = told(provider, [completion("fine")])
    model.complete(
        SummaryRequest(purpose="summary", system="", write=lambda _: "x", model="openai/other")
    )
    assert provider.requests[0]["model"] == "other"
    assert [message["role"] for message in provider.requests[0]["messages"]] == ["user"]


def test_naming_a_model_does_not_import_litellm() -> None:
    code = (
        "import sys, workbench.engine.models as m; m.find_model('litellm:x'); assert 'litellm' not"
        " in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_an_answer_keeps_its_words_but_for_whole_keys(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-proj-Ab3dEfGh1j+KlMnOp/QrStUvWxYz0123456789wxyz"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    text = "The goal ... is to keep sk-proj-Ab3 out. " * 1_000
    model = told(provider, [completion(text), completion(text + key)])
    first, second = (model.complete(request(most=None)) for _ in range(2))
    assert first.text == text.strip()
    assert key not in second.text and second.text.endswith("[key]")


def test_a_password_in_the_servers_address_is_a_key(provider: Provider) -> None:
    address = provider.address.replace("http://", "http://gateway:s3cr3tPassw0rd@")
    provider.replies = [refusal(400, f"cannot reach {address}?token=abcdefgh1234")]
    options = ProviderOptions(api_base=f"{address}?token=abcdefgh1234", tries=1)
    with pytest.raises(ModelError) as caught:
        LiteLLM("openai/stub", options).complete(request())
    host = provider.address.removeprefix("http://")
    assert f"cannot reach http://[key]:[key]@{host}?token=[key]" in str(caught.value)
