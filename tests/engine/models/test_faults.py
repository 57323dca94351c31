"""What becomes of a question when the provider fails: with the cache and a spending limit, as in
a run.
"""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Provider, Reply, calls, completion, model, refusal, request

from workbench import ModelError, Refused
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions

DOLLAR = 1_000_000.0
"""A price of a dollar a token."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "answers.sqlite", run="r")


PAID = (20 + 100 + 2 * 7) / 1_000_000
"""What `completion` costs: the table has no price of its own for what is cached."""


@pytest.mark.parametrize(
    "fault",
    [
        refusal(429, "Rate limit reached"),
        refusal(429, "Rate limit reached", retry_after="0"),
        refusal(
            429, "Rate limit reached", retry_after=format_datetime(datetime.now(UTC), usegmt=True)
        ),
        refusal(500, "the server had an error"),
        refusal(503, "overloaded", retry_after="0"),
        Reply("", resets=True),
        Reply('{"id": "x", "choices": [{"index"'),
        Reply("<html>Bad gateway</html>"),
        Reply(""),
        Reply({"id": "x", "object": "chat.completion", "model": "stub", "choices": []}),
    ],
    ids=[
        "429",
        "429 wait",
        "429 date",
        "500",
        "503",
        "reset",
        "cut JSON",
        "HTML",
        "empty",
        "no choice",
    ],
)
def test_a_passing_fault_is_outlived_and_the_answer_is_paid_once(
    provider: Provider, ledger: Ledger, fault: Reply
) -> None:
    provider.replies = [fault, completion("fine")]
    cached_model = model(provider, ledger)
    assert cached_model.complete(request()).text == cached_model.complete(request()).text == "fine"
    assert len(provider.requests) == calls(ledger) == 2


IN_SUCCESS = {
    "an object": (
        {"error": {"message": "insufficient capacity", "type": "server_error"}},
        "insufficient capacity",
    ),
    "a text": ({"error": "the model is overloaded"}, "the model is overloaded"),
    "with its code": ({"error": {"message": "slow down", "code": 429}}, r"slow down \(429\)"),
    "beside choices": ({"id": "x", "choices": [], "error": {"message": "no room"}}, "no room"),
    "a list": ([{"error": {"message": "the quota is used up"}}], "the quota is used up"),
    "a detail": ({"detail": "not for this key"}, "not for this key"),
    "a message": ({"object": "error", "message": "there is no model x"}, "there is no model x"),
    "a page": ("<html>captive portal</html>", "no JSON: <html>captive portal"),
    "nothing": ("", "its answer is empty"),
}


@pytest.mark.parametrize(("body", "reason"), IN_SUCCESS.values(), ids=IN_SUCCESS)
def test_an_error_in_an_answer_with_the_status_of_success_tells_its_reason(
    provider: Provider, ledger: Ledger, body: Any, reason: str
) -> None:
    provider.replies = [Reply(body)]
    with pytest.raises(ModelError, match=f"openai/stub gave no answer: .*{reason}") as caught:
        model(provider, ledger, tries=1).complete(request())
    assert caught.value.retryable and caught.value.outage


def test_an_overflow_in_an_answer_with_the_status_of_success_is_one(
    provider: Provider, ledger: Ledger
) -> None:
    text = (
        "This model's maximum context length is 4096 tokens. However, your messages resulted in"
        " 9999 tokens."
    )
    provider.replies = [Reply({"error": {"message": text, "code": "context_length_exceeded"}})]
    with pytest.raises(
        ModelError, match="does not fit into openai/stub: This model's maximum"
    ) as caught:
        model(provider, ledger, tries=1).complete(request())
    assert caught.value.overflow and not caught.value.retryable


@pytest.mark.parametrize(
    "fault", [refusal(429, "slow down"), refusal(500, "oops"), refusal(400, "no")]
)
def test_a_refused_request_costs_nothing(provider: Provider, ledger: Ledger, fault: Reply) -> None:
    provider.replies = [fault]
    with pytest.raises(ModelError):
        model(provider, ledger).complete(request())
    assert ledger.spent == 0


@pytest.mark.parametrize(
    "fault", [Reply("", resets=True), Reply('{"id": "x", "choi'), Reply("", hangs=True)]
)
def test_a_request_whose_answer_was_lost_counts_as_all_that_it_can_cost(
    provider: Provider, ledger: Ledger, fault: Reply
) -> None:
    provider.replies = [fault]
    with pytest.raises(ModelError):
        model(provider, ledger, tries=1, timeout=0.3).complete(request())
    assert ledger.spent > PAID


def test_a_server_that_was_never_reached_costs_nothing(ledger: Ledger) -> None:
    provider_options = ProviderOptions(
        api_base="http://127.0.0.1:9/v1", tries=1, timeout=5.0, input_usd=1.0, output_usd=1.0
    )
    with pytest.raises(ModelError) as caught:
        LiteLLM("openai/stub", provider_options, ledger).complete(request())
    assert caught.value.retryable and ledger.spent == 0


def test_an_answer_that_drips_for_ever_is_given_up_in_time(
    provider: Provider, ledger: Ledger
) -> None:
    # each byte in time, the whole a minute late
    provider.replies = [replace(completion("x" * 3_000), drips=0.02)]
    with pytest.raises(ModelError, match=r"in 0\.4 seconds") as caught:
        model(provider, ledger, tries=1, timeout=0.4).complete(request())
    assert caught.value.retryable


def test_an_answer_that_drips_but_comes_in_time_is_taken(
    provider: Provider, ledger: Ledger
) -> None:
    provider.replies = [replace(completion("fine"), drips=0.0005)]
    assert model(provider, ledger).complete(request()).text == "fine"


FALSE_USAGE = {
    "none": None,
    "empty": {},
    "zero": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "negative": {"prompt_tokens": -5, "completion_tokens": 3, "total_tokens": -2},
    "more cached than read": {
        "prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 500},
    },
}  # fmt: skip
TOO_MUCH = {
    "huge prompt": {"prompt_tokens": 10**9, "completion_tokens": 3, "total_tokens": 10**9 + 3},
    "huge answer": {"prompt_tokens": 12, "completion_tokens": 10**6, "total_tokens": 10**6 + 12},
    "a token too much": {"prompt_tokens": 12, "completion_tokens": 101, "total_tokens": 113},
}


@pytest.mark.parametrize(
    "usage", [*FALSE_USAGE.values(), *TOO_MUCH.values()], ids=[*FALSE_USAGE, *TOO_MUCH]
)
def test_usage_that_cannot_be_true_is_counted_here(
    provider: Provider, ledger: Ledger, usage: Any
) -> None:
    provider.replies = [completion("one two three", usage=usage)]
    answer = model(provider, ledger).complete(request())
    assert answer.counted
    assert (answer.input_tokens, answer.output_tokens, answer.cached_tokens) == (5, 3, 0)
    assert answer.usd == pytest.approx((5 + 2 * 3) / 1_000_000)


@pytest.mark.parametrize("usage", FALSE_USAGE.values(), ids=FALSE_USAGE)
def test_what_was_counted_here_counts_as_spent(
    provider: Provider, ledger: Ledger, usage: Any
) -> None:
    provider.replies = [completion("one two three", usage=usage)]
    assert model(provider, ledger).complete(request()).usd == pytest.approx(ledger.spent)


SET_ASIDE = (256 + len("Summarise this.") + 2 * 100) / 1_000_000
"""The most that `request()` can cost: a token a byte, and the whole answer."""


@pytest.mark.parametrize("usage", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_report_of_more_than_was_possible_counts_as_what_was_set_aside_and_is_named(
    provider: Provider, ledger: Ledger, usage: Any
) -> None:
    provider.replies = [completion("one two three", usage=usage)]
    answer = model(provider, ledger).complete(request())
    assert ledger.spent == pytest.approx(SET_ASIDE)
    assert answer.misreport.startswith("openai/stub reported ")


def test_after_such_reports_the_run_goes_on_within_its_limit(
    provider: Provider, ledger: Ledger
) -> None:
    provider.replies = [completion("one", usage=TOO_MUCH["huge answer"])]
    tight = model(provider, replace(ledger, max_usd=20 * SET_ASIDE))
    assert [tight.complete(request(f"question {n:06}")).text for n in range(20)] == ["one"] * 20
    assert ledger.spent <= 20 * SET_ASIDE
    with pytest.raises(Refused, match="are spent, and the limit is"):
        tight.complete(request("one more"))


@pytest.mark.parametrize("characters", [50_000, 10_000_000])
def test_under_a_limit_an_answer_beyond_its_bound_is_refused_and_costs_no_more_than_was_set_aside(
    provider: Provider, ledger: Ledger, characters: int
) -> None:
    written = {"prompt_tokens": 12, "completion_tokens": characters // 5, "total_tokens": 1}
    provider.replies = [completion("word " * (characters // 5), usage=written)]
    tight = replace(ledger, max_usd=1.0)
    with pytest.raises(ModelError, match="the answer is not used"):
        model(provider, tight).complete(request())
    assert 0 < ledger.spent <= SET_ASIDE * 1.000001
    assert not model(provider, tight).ledger.stored("anything")


def test_a_body_without_end_is_not_read_to_its_end(
    provider: Provider, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.models.bounded_body.MOST", 100_000)
    provider.replies = [completion("word " * 100_000)]
    with pytest.raises(ModelError, match="gave no answer"):
        model(provider, ledger, tries=1).complete(request())
    provider.replies = [completion("fine")]
    assert model(provider, ledger).complete(request()).text == "fine"


def test_a_model_that_costs_nothing_is_asked_whatever_it_reports(
    provider: Provider, ledger: Ledger
) -> None:
    provider.replies = [completion("one", usage=TOO_MUCH["huge answer"])]
    free = model(provider, replace(ledger, max_usd=0.0), input_usd=0.0, output_usd=0.0)
    assert [free.complete(request(f"{n}")).text for n in range(3)] == ["one"] * 3


def test_near_the_limit_no_more_calls_are_open_than_it_can_pay_for(
    provider: Provider, ledger: Ledger
) -> None:
    both = threading.Barrier(2)
    provider.replies = [
        replace(completion("fine"), meets=both),
        replace(completion("fine"), meets=both),
        completion("fine"),
    ]
    most = (256 + len("number 0") + 2 * 100) / 1_000_000
    tight = model(provider, replace(ledger, max_usd=2.9 * most))
    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(lambda n: tight.complete(request(f"number {n}")).text, range(4)))
    assert ends == ["fine"] * 4 and provider.most_open == 2
    assert ledger.spent == pytest.approx(4 * PAID)


def test_a_price_of_ones_own_goes_before_the_table(provider: Provider, ledger: Ledger) -> None:
    provider.replies = [completion("fine")]
    provider_options = ProviderOptions(api_base=provider.address, input_usd=1.0, output_usd=2.0)
    answer = LiteLLM("openai/gpt-4o-mini", provider_options, ledger).complete(request())
    assert answer.usd == pytest.approx(PAID) == pytest.approx(ledger.spent)


def test_a_model_whose_answers_cannot_be_bounded_is_not_asked_under_a_limit(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPH_API_KEY", "none")
    with pytest.raises(Refused, match="no bound on the length of its answers"):
        LiteLLM(
            "morph/morph-v3-fast", ProviderOptions(tries=1), replace(ledger, max_usd=1.0)
        ).complete(request())
    assert calls(ledger) == 0


def test_usage_that_can_be_true_is_taken(provider: Provider, ledger: Ledger) -> None:
    provider.replies = [completion("fine")]
    answer = model(provider, ledger).complete(request())
    assert not answer.counted and answer.input_tokens == 120
    assert ledger.spent == answer.usd == pytest.approx(PAID)


def test_an_answer_that_reached_its_bound_says_so(provider: Provider, ledger: Ledger) -> None:
    provider.replies = [completion("and then", finish="length")]
    assert model(provider, ledger).complete(request()).cut


def test_a_question_is_not_sent_where_it_could_pass_the_limit(
    provider: Provider, ledger: Ledger
) -> None:
    provider.replies = [completion("fine")]
    tight = model(provider, replace(ledger, max_usd=0.0001))
    with pytest.raises(Refused, match="limit"):
        tight.complete(request())
    assert provider.requests == []


def test_many_questions_at_once_spend_up_to_the_limit_and_not_past_it(
    provider: Provider, ledger: Ledger
) -> None:
    faults = [
        refusal(429, "slow down", retry_after="0"),
        Reply('{"id": "x", "choi'),
        refusal(500, "oops"),
    ]
    turns: Counter[str] = Counter()

    def answered(asked: dict[str, Any]) -> Reply:
        """The first tries of most questions meet a fault, whatever the order in which they come;
        the fourth none.
        """
        text = str(asked["messages"])
        turns[text] += 1
        return (
            faults[turns[text] - 1]
            if turns[text] <= len(text) % 3 + text.count("1") % 2
            else completion("fine")
        )

    provider.by = answered
    limit = 60 * PAID
    tight = model(provider, replace(ledger, max_usd=limit, concurrency=4), tries=4)

    def one(number: int) -> str:
        try:
            return tight.complete(request(f"Summarise session {number}.")).text
        except Refused:
            return "refused"

    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(one, range(120)))
    assert set(ends) == {"fine", "refused"}
    paid = sum(PAID for text in ends if text == "fine")
    assert paid <= ledger.spent <= limit
    assert provider.most_open <= 4


def test_a_run_that_stopped_at_its_limit_goes_on_with_a_higher_one(
    provider: Provider, ledger: Ledger
) -> None:
    provider.replies = [completion("fine")]
    tight = replace(ledger, max_usd=0.001)
    first = model(provider, tight)
    done = 0
    with pytest.raises(Refused):
        for done in range(100):
            first.complete(request(f"{done}"))
    second = model(provider, replace(ledger, max_usd=1.0))
    for number in range(done + 3):
        second.complete(request(f"{number}"))
    assert len(provider.requests) == done + 3


def test_an_answer_without_a_bound_gets_one_under_a_limit(
    provider: Provider, ledger: Ledger
) -> None:
    provider.replies = [completion("fine")]
    model(provider, replace(ledger, max_usd=1.0)).complete(request(most=None))
    assert "max_tokens" in provider.requests[0] or "max_completion_tokens" in provider.requests[0]
    model(provider, ledger).complete(request("another", most=None))
    assert (
        "max_tokens" not in provider.requests[1]
        and "max_completion_tokens" not in provider.requests[1]
    )
