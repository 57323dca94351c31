"""A quota of tokens bounds requests while it is stated, and is no window of the model."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from live.talk import Record, anthropic, openai

from workbench import Compactor
from workbench.live.events import CompactionEnded, ErrorJudged, LastResort

QUOTA = 3_000
WINDOW = 200_000
OPENAI = (
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 3000,"
    " Requested 9021. The input or output tokens must be reduced in order to run successfully."
)
ANTHROPIC = json.dumps(
    {
        "type": "error",
        "error": {
            "type": "rate_limit_error",
            "message": "This request would exceed the rate limit for your organization (c2) of"
            " 3,000 input tokens per minute.",
        },
    }
)
APIS = [
    pytest.param(openai, f"Error code: 429 - {OPENAI}", id="openai"),
    pytest.param(anthropic, f"Error code: 429 - {ANTHROPIC}", id="anthropic"),
]
both_apis = pytest.mark.parametrize(("talk", "error"), APIS)


def refused(talk: Callable[[int], list[Record]], error: str) -> Compactor:
    """An agent whose request of about 8,000 tokens was above the quota."""
    live = Compactor("truncate", window=WINDOW, clock=lambda: 0.0)
    live.before_request(talk(24), model="m")
    assert live.on_error(error, model="m") is not None
    return live


@both_apis
def test_a_quota_is_no_window(talk: Callable[[int], list[Record]], error: str) -> None:
    live = refused(talk, error)
    assert (live.window, live.quota) == (WINDOW, QUOTA)
    assert [event.learned for event in live.events if isinstance(event, ErrorJudged)] == [None]


@both_apis
def test_no_later_request_is_above_the_quota(
    talk: Callable[[int], list[Record]], error: str
) -> None:
    live = refused(talk, error)
    for turns in range(25, 60):
        live.before_request(talk(turns), model="m")
        assert live.tokens <= QUOTA
    assert not any(isinstance(event, LastResort) for event in live.events)


@both_apis
def test_requests_below_the_quota_are_not_compacted_for_it(
    talk: Callable[[int], list[Record]], error: str
) -> None:
    live = refused(talk, error)
    live.before_request(talk(4), model="m")
    compactions = [event for event in live.events if isinstance(event, CompactionEnded)]
    live.before_request(talk(5), model="m")
    assert compactions == [event for event in live.events if isinstance(event, CompactionEnded)]


@both_apis
def test_a_quota_goes_when_a_larger_request_is_answered(
    talk: Callable[[int], list[Record]], error: str
) -> None:
    live = refused(talk, error)
    live.report_usage({"prompt_tokens": 2 * QUOTA, "completion_tokens": 9})
    assert live.quota is None
    messages = talk(48)
    sent = live.before_request(messages, model="m")
    assert live.tokens > QUOTA and len(sent) > len(messages) / 2


@both_apis
def test_a_request_above_the_quota_is_no_overflow(
    talk: Callable[[int], list[Record]], error: str
) -> None:
    live = refused(talk, error)
    before = len(live.events)
    live.report_usage({"prompt_tokens": QUOTA + 100, "completion_tokens": 9})
    assert live.events[before:] == []


@both_apis
def test_what_a_quota_counts_is_no_scale_of_the_messages(
    talk: Callable[[int], list[Record]], error: str
) -> None:
    live = refused(talk, error)
    fresh = Compactor("truncate", window=WINDOW)
    live.before_request(talk(2), model="m")
    fresh.before_request(talk(2), model="m")
    assert live.tokens == fresh.tokens


@both_apis
def test_a_quota_is_of_its_model_and_is_saved(
    talk: Callable[[int], list[Record]], error: str
) -> None:
    loaded = Compactor.load(refused(talk, error).save(), clock=lambda: 0.0)
    assert (loaded.window, loaded.quota) == (WINDOW, QUOTA)
    loaded.before_request(talk(30), model="n")
    assert loaded.quota is None


def test_a_quota_is_forgotten_after_an_hour() -> None:
    now = [0.0]
    live = Compactor("truncate", window=WINDOW, clock=lambda: now[0])
    live.before_request(openai(24))
    live.on_error(f"Error code: 429 - {OPENAI}")
    now[0] = 3_600.0
    assert live.quota is None
