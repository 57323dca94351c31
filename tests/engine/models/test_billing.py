"""What is read from a response, with responses that nobody has to ask for."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from workbench import ModelError
from workbench.engine.models.billing import BoundedRequest, bound, read_response, was_free
from workbench.engine.models.provider_options import ProviderOptions

DOLLAR = 1_000_000.0
"""A price of a dollar a token, as options name it."""


def sent(most: int = 100, **how: Any) -> BoundedRequest:
    call = {"messages": [{"role": "user", "content": "Summarise this."}]}
    provider_options = ProviderOptions(**{"input_usd": DOLLAR, "output_usd": 2 * DOLLAR, **how})
    return BoundedRequest(
        "openai/stub", call, bound("openai/stub", provider_options, ["Summarise this."], most)
    )


def response(text: object, read: int = 10, wrote: int = 5, finish: str = "stop") -> SimpleNamespace:
    choice = SimpleNamespace(message=SimpleNamespace(content=text), finish_reason=finish)
    usage = SimpleNamespace(prompt_tokens=read, completion_tokens=wrote, prompt_tokens_details=None)
    return SimpleNamespace(choices=[choice], usage=usage, model="stub")


def test_an_answer_has_its_words_without_thoughts_its_tokens_and_its_price() -> None:
    completion, _ = read_response(response("<think>hm</think> The goal."), sent())
    assert (
        completion.text,
        completion.input_tokens,
        completion.output_tokens,
        completion.counted,
    ) == (
        "The goal.",
        10,
        5,
        False,
    )
    assert completion.usd == 20.0 and not completion.cut and completion.model == "litellm:stub"
    assert (
        read_response(response([{"text": "in "}, {"text": "parts"}]), sent())[0].text == "in parts"
    )
    assert read_response(response("The", finish="length"), sent())[0].cut


@pytest.mark.parametrize(("read", "wrote"), [(0, 5), (10, 0), (10, -1), (10, 101), (10_000, 5)])
def test_a_report_that_cannot_be_true_is_counted_anew(read: int, wrote: int) -> None:
    completion, _ = read_response(response("The goal.", read, wrote), sent())
    assert (
        completion.counted
        and 0 < completion.input_tokens < 10
        and 0 < completion.output_tokens < 10
    )


def test_a_response_without_a_choice_holds_no_answer() -> None:
    with pytest.raises(ValueError, match="no choice"):
        read_response(SimpleNamespace(choices=[]), sent())
    assert read_response(response(None), sent())[0].why == "it ended with 'stop'"


def test_a_report_beyond_what_was_possible_is_named_and_counts_as_what_was_set_aside() -> None:
    assert read_response(response("The goal."), sent())[1] == 20.0
    completion, spent = read_response(response("The goal.", 10, 5_000), sent())
    assert spent is None
    assert (
        completion.misreport
        == "openai/stub reported an answer of 5,000 tokens, where it was asked for 100 at most"
    )


def test_a_reported_cost_beyond_what_was_possible_is_not_believed() -> None:
    dear = response("The goal.")
    dear._hidden_params = {"response_cost": 1e9}
    completion, spent = read_response(dear, sent())
    assert spent is None and "reported a cost of $1,000,000,000.0000" in completion.misreport
    assert completion.usd is not None and completion.usd < 100


def test_under_a_limit_an_answer_far_beyond_its_bound_is_refused() -> None:
    limited = replace(sent(), is_limited=True)
    assert read_response(response("word " * 500), limited)[0].text
    with pytest.raises(ModelError, match="more than 656 tokens, though 100 were the most"):
        read_response(response("word " * 1_000), limited)
    with pytest.raises(ModelError, match="the answer is not used"):
        read_response(response("x" * 1_000_000), limited)
    assert read_response(response("word " * 1_000), sent())[0].text


def test_only_a_request_that_was_refused_or_never_arrived_surely_was_free() -> None:
    refused = type("RateLimitError", (Exception,), {"__module__": "openai", "status_code": 429})()
    unreached = type("ConnectError", (Exception,), {"__module__": "httpx"})()
    lost = type("ReadTimeout", (Exception,), {"__module__": "httpx"})()
    assert was_free(refused) and was_free(unreached) and not was_free(lost)
    wrapped = ValueError("no")
    wrapped.__cause__ = unreached
    assert was_free(wrapped) and not was_free(ValueError("no"))
