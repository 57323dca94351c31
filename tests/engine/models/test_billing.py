"""What is read from a response, with responses that nobody has to ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import httpx
import openai
import pytest
from engine.models.provider import request

from workbench import Completion, ModelError
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions

DOLLAR = 1_000_000.0
"""A price of a dollar a token, as options name it."""
OPTIONS = ProviderOptions(
    api_base="http://127.0.0.1:9/v1", tries=1, input_usd=DOLLAR, output_usd=2 * DOLLAR
)
SET_ASIDE = 256 + len("Summarise this.") + 2 * 100
"""The most dollars that `request()` can cost."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and what it cost by the ledger."""

    completion: Completion
    spent: float


Read = Callable[..., Answered]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Read:
    """Asks a provider that gives this response."""

    def answered(response: SimpleNamespace, max_usd: float | None = None) -> Answered:
        monkeypatch.setattr("litellm.completion", lambda **_: response)
        before = Ledger(tmp_path / "answers.sqlite", run="r")
        spent_before = before.spent
        model = LiteLLM("openai/stub", OPTIONS, replace(before, max_usd=max_usd))
        completion = model.complete(request())
        return Answered(completion, before.spent - spent_before)

    return answered


def response(text: object, read: int = 10, wrote: int = 5, finish: str = "stop") -> SimpleNamespace:
    choice = SimpleNamespace(message=SimpleNamespace(content=text), finish_reason=finish)
    usage = SimpleNamespace(prompt_tokens=read, completion_tokens=wrote, prompt_tokens_details=None)
    return SimpleNamespace(choices=[choice], usage=usage, model="stub")


def test_an_answer_has_its_words_without_thoughts_its_tokens_and_its_price(read: Read) -> None:
    completion = read(response("<think>hm</think> The goal.")).completion
    assert completion.text == "The goal."
    assert (completion.input_tokens, completion.output_tokens) == (10, 5)
    assert completion.usd == 20.0 and completion.model == "litellm:stub"
    assert not completion.counted and not completion.cut


def test_an_answer_in_parts_is_one_and_one_that_was_cut_says_so(read: Read) -> None:
    assert read(response([{"text": "in "}, {"text": "parts"}])).completion.text == "in parts"
    assert read(response("The", finish="length")).completion.cut


@pytest.mark.parametrize(("prompt", "wrote"), [(0, 5), (10, 0), (10, -1), (10, 101), (10_000, 5)])
def test_a_report_that_cannot_be_true_is_counted_anew(read: Read, prompt: int, wrote: int) -> None:
    completion = read(response("The goal.", prompt, wrote)).completion
    assert completion.counted
    assert 0 < completion.input_tokens < 10 and 0 < completion.output_tokens < 10


def test_a_response_without_a_choice_holds_no_answer(read: Read) -> None:
    with pytest.raises(ModelError, match="no choice"):
        read(SimpleNamespace(choices=[]))
    assert read(response(None)).completion.why == "it ended with 'stop'"


def test_a_report_beyond_what_was_possible_is_named_and_counts_as_what_was_set_aside(
    read: Read,
) -> None:
    assert read(response("The goal.")).spent == 20.0
    beyond = read(response("The goal.", 10, 5_000))
    assert beyond.spent == SET_ASIDE
    assert (
        beyond.completion.misreport
        == "openai/stub reported an answer of 5,000 tokens, where it was asked for 100 at most"
    )


def test_a_reported_cost_beyond_what_was_possible_is_not_believed(read: Read) -> None:
    dear = response("The goal.")
    dear._hidden_params = {"response_cost": 1e9}
    beyond = read(dear)
    assert beyond.spent == SET_ASIDE
    assert "reported a cost of $1,000,000,000.0000" in beyond.completion.misreport
    assert beyond.completion.usd is not None and beyond.completion.usd < 100


def test_under_a_limit_an_answer_far_beyond_its_bound_is_refused(read: Read) -> None:
    limit = 10 * SET_ASIDE
    assert read(response("word " * 500), limit).completion.text
    with pytest.raises(ModelError, match="more than 656 tokens, though 100 were the most"):
        read(response("word " * 1_000), limit)
    with pytest.raises(ModelError, match="the answer is not used"):
        read(response("x" * 1_000_000), limit)
    assert read(response("word " * 1_000)).completion.text


def test_a_request_that_was_refused_cost_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(**_: object) -> None:
        asked = httpx.Request("POST", "http://127.0.0.1:9/v1")
        raise openai.RateLimitError("no", response=httpx.Response(429, request=asked), body=None)

    monkeypatch.setattr("litellm.completion", refuse)
    ledger = Ledger(tmp_path / "answers.sqlite", run="r")
    with pytest.raises(ModelError):
        LiteLLM("openai/stub", OPTIONS, ledger).complete(request())
    assert ledger.spent == 0
