"""A provider that is down is noticed after a few calls, by all that ask it within one command."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from engine.models.provider import Provider, completion, model, refusal, request

from workbench import ModelError
from workbench.engine.models.ledger import Ledger

ROUNDS = 4


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "answers.sqlite", run="r", sitting="one command")


def asked(provider: Provider, ledger: Ledger, prompt: str, tries: int = 1) -> str:
    """What the model says; a new one for each request, as in workers."""
    try:
        return model(provider, ledger, tries=tries).complete(request(prompt)).text
    except ModelError as error:
        assert error.outage
        return str(error)


@pytest.mark.parametrize("status", [401, 500])
def test_a_provider_that_is_down_is_not_called_again(
    provider: Provider, ledger: Ledger, status: int
) -> None:
    provider.replies = [refusal(status, "no")]
    ends = [asked(provider, ledger, f"number {n}") for n in range(8)]
    assert len(provider.requests) == ROUNDS
    assert (
        f"openai/stub is not asked any more, since {ROUNDS} calls failed one after another"
        in ends[-1]
    )
    assert "no" in ends[-1], "the last error is told"


def test_another_command_calls_it_again(provider: Provider, ledger: Ledger) -> None:
    provider.replies = [refusal(401, "no")]
    for n in range(ROUNDS + 1):
        asked(provider, ledger, f"number {n}")
    provider.replies = [completion("fine")]
    assert asked(provider, replace(ledger, sitting="the next command"), "number 0") == "fine"


def test_an_answer_in_between_begins_the_count_anew(provider: Provider, ledger: Ledger) -> None:
    provider.replies = [
        *[refusal(500, "oops")] * (ROUNDS - 1),
        completion("fine"),
        refusal(500, "oops"),
    ]
    for n in range(2 * ROUNDS - 1):
        asked(provider, ledger, f"number {n}")
    assert len(provider.requests) == 2 * ROUNDS - 1


def test_one_request_that_always_fails_is_no_outage(provider: Provider, ledger: Ledger) -> None:
    provider.by = lambda sent: (
        refusal(500, "oops") if "poison" in str(sent["messages"]) else completion("fine")
    )
    asked(provider, ledger, "poison", tries=2 * ROUNDS)
    assert len(provider.requests) == 2 * ROUNDS
    assert asked(provider, ledger, "another") == "fine"


def test_what_a_model_refuses_is_an_answer_of_its_provider(
    provider: Provider, ledger: Ledger
) -> None:
    provider.replies = [refusal(400, "prompt is too long: 9 tokens > 8 maximum")]
    for n in range(ROUNDS + 2):
        with pytest.raises(ModelError) as caught:
            model(provider, ledger).complete(request(f"{n}"))
        assert caught.value.overflow and not caught.value.outage
    assert len(provider.requests) == ROUNDS + 2


def test_calls_that_fail_at_the_same_time_count_once(provider: Provider, ledger: Ledger) -> None:
    """A provider that is busy for a second is no outage, however many workers ask it in that
    second.
    """
    calls = [replace(ledger, request=f"{n}").open("m", 0.1, 60) for n in range(8)]
    for n, call in enumerate(calls):
        replace(ledger, request=f"{n}").close(call, 0.0, "busy")
    time.sleep(0.01)
    ledger.close(ledger.open("m", 0.1, 60), 0.1)


def test_workers_notice_it_together(provider: Provider, ledger: Ledger) -> None:
    provider.replies = [refusal(401, "no")]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: asked(provider, ledger, f"number {n}"), range(60)))
    assert ROUNDS <= len(provider.requests) <= 4 * ROUNDS


def test_what_was_paid_is_known_by_what_was_asked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "answers.sqlite", run="r", request="q")
    ledger.close(ledger.open("m", 0.5, 60), 0.25)
    assert ledger.paid(["q", "other"]) == {"q": 0.25, "other": 0.0}


def test_what_a_call_of_unknown_price_has_cost_is_unknown(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "answers.sqlite", run="r", request="q")
    ledger.close(ledger.open("m", None, 60), None, "the connection broke")
    assert ledger.paid(["q"]) == {"q": None}
    free = replace(ledger, request="refused")
    free.close(free.open("m", None, 60), 0.0, "no")
    assert free.paid(["refused"]) == {"refused": 0.0}
