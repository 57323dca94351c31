from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from engine.models.provider import Provider, completion, refusal, request, serving
from engine.models.provider import model as cached

from workbench import ModelError, Refused
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.wrappers import CachedModel


@pytest.fixture(autouse=True)
def answers(provider: Provider) -> None:
    provider.replies = [completion("the summary")]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "answers.sqlite", run="r")


def test_a_question_is_paid_for_once(provider: Provider, ledger: Ledger) -> None:
    model = cached(provider, ledger)
    assert model.complete(request()) == model.complete(request())
    assert len(provider.requests) == 1


def warmer(model: CachedModel) -> CachedModel:
    inner = model.model
    assert isinstance(inner, LiteLLM) and inner.options is not None
    return replace(
        model, model=replace(inner, options=inner.options.model_copy(update={"temperature": 1.0}))
    )


@pytest.mark.parametrize(
    "other",
    [
        lambda model: (model, request("another prompt")),
        lambda model: (model, request(most=299)),
        lambda model: (model, replace(request(), system="other")),
        lambda model: (model, replace(request(), model="openai/other")),
        lambda model: (replace(model, replicate=1), request()),
        lambda model: (replace(model, model=replace(model.model, model="openai/other")), request()),
        lambda model: (warmer(model), request()),
    ],
)
def test_a_question_that_differs_in_anything_is_asked(
    provider: Provider, ledger: Ledger, other: object
) -> None:
    model = cached(provider, ledger)
    model.complete(request())
    another, question = other(model)  # type: ignore[operator]
    another.complete(question)
    assert len(provider.requests) == 2


def test_patience_and_limits_make_no_other_question(provider: Provider, ledger: Ledger) -> None:
    cached(provider, ledger).complete(request())
    cached(provider, replace(ledger, max_usd=0.0, run="other"), timeout=5.0, tries=1).complete(
        request()
    )
    assert len(provider.requests) == 1


def test_with_the_network_cut_the_cache_answers(ledger: Ledger) -> None:
    with serving() as server:
        server.replies = [completion("the summary")]
        model = cached(server, ledger)
        first = model.complete(request())
    assert replace(model, only=True).complete(request()) == first


def test_with_the_cache_alone_nothing_is_asked_and_the_error_says_so(
    provider: Provider, ledger: Ledger
) -> None:
    with pytest.raises(Refused, match="from the cache alone"):
        replace(cached(provider, ledger), only=True).complete(request())
    assert provider.requests == []


def test_an_error_is_not_kept(provider: Provider, ledger: Ledger) -> None:
    model = cached(provider, ledger)
    provider.replies = [refusal(400, "temperature must be a number"), completion("fine")]
    with pytest.raises(ModelError):
        model.complete(request())
    assert model.complete(request()).text == "fine"


def test_an_empty_answer_was_paid_for_and_is_kept(provider: Provider, ledger: Ledger) -> None:
    provider.replies = [completion("")]
    model = cached(provider, ledger)
    assert model.complete(request()).text == model.complete(request()).text == ""
    assert len(provider.requests) == 1


def test_two_that_ask_the_same_at_once_pay_once(provider: Provider, ledger: Ledger) -> None:
    both = threading.Barrier(2)

    def one(number: int) -> str:
        both.wait(10)
        return cached(provider, ledger).complete(request()).text

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(one, range(2))) == ["the summary"] * 2
    assert len(provider.requests) == 1


NO_COMPLETIONS = [
    {"text": None},
    {"text": "x", "input_tokens": "many"},
    {"text": "x", "calls": [1]},
]


@pytest.mark.parametrize("damaged", NO_COMPLETIONS)
def test_a_stored_answer_that_is_none_is_asked_again_and_replaced(
    provider: Provider, ledger: Ledger, damaged: dict[str, object]
) -> None:
    model = cached(provider, ledger)
    ledger.keep(model.key(request()), damaged)
    assert [model.complete(request()).text for _ in range(2)] == ["the summary"] * 2
    assert len(provider.requests) == 1
