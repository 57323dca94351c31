"""A quota of tokens bounds requests while it is stated, and is no window of the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from engine.models.provider import Provider, Reply, completion, serving
from live.talk import Record, anthropic, openai

from workbench import Compactor
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions
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


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        yield server


def refused(talk: Callable[[int], list[Record]], error: str) -> Compactor:
    """An agent whose request of about 8,000 tokens was above the quota."""
    live = Compactor("truncate", window=WINDOW, clock=lambda: 0.0)
    live.before_request(talk(24), model="m")
    assert live.on_error(error, model="m") is not None
    return live


@dataclass
class Metered:
    """A server whose minute has so many tokens, and which answers with the parts that a request
    shows.
    """

    answer: Callable[[str], Reply]
    error: str
    sizes: list[int] = field(default_factory=list)
    told: str = ""

    def __call__(self, request: Record) -> Reply:
        text = json.dumps(request["messages"])
        tokens = len(text) // 4 + request.get("max_tokens", 0)
        self.sizes.append(tokens)
        if tokens > SUMMARY_QUOTA:
            return Reply(json.loads(self.error), 429)
        self.told += text
        return self.answer("The parts were read.")


def anthropic_answer(text: str) -> Reply:
    return Reply(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 120, "output_tokens": 7},
        }
    )


SUMMARY_QUOTA = 6_000
TOO_LARGE = OPENAI.replace("Limit 3000", f"Limit {SUMMARY_QUOTA}").replace("9021", "19021")
SERVERS = [
    pytest.param(
        "openai/gpt-4o",
        completion,
        json.dumps({"error": {"message": TOO_LARGE, "type": "tokens"}}),
        id="openai",
    ),
    pytest.param(
        "anthropic/claude-haiku-4-5",
        anthropic_answer,
        ANTHROPIC.replace("3,000", f"{SUMMARY_QUOTA:,}"),
        id="anthropic",
    ),
]


@pytest.mark.parametrize(("name", "answer", "error"), SERVERS)
def test_a_summary_request_above_the_quota_is_split(
    provider: Provider, name: str, answer: Callable[[str], Reply], error: str
) -> None:
    server = Metered(answer, error)
    provider.by = server
    model = LiteLLM(name, ProviderOptions(api_base=provider.address, tries=2, first_wait=0.0))
    live = Compactor("summarize", model=model, window=20_000)
    live.before_request(openai(40))
    (event,) = [event for event in live.events if isinstance(event, CompactionEnded)]
    (summary,) = [summary for stage in event.stages for summary in stage.completions]
    above = [tokens for tokens in server.sizes if tokens > SUMMARY_QUOTA]
    assert len(above) == 1 and len(server.sizes) > 2
    assert summary.method == f"in {len(server.sizes) - 1} parts" and event.warning == ""
    assert all(f"part {turn} " in server.told for turn in range(30))


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


VAGUE = [
    pytest.param(openai, "Error code: 400 - Input is too long for requested model.", id="openai"),
    pytest.param(
        anthropic,
        "Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error',"
        " 'message': 'prompt is too long'}}",
        id="anthropic",
    ),
]


@pytest.mark.parametrize(("talk", "error"), VAGUE)
def test_an_overflow_without_a_number_bounds_later_requests_by_the_refused_one(
    talk: Callable[[int], list[Record]], error: str
) -> None:
    live = Compactor("truncate", window=WINDOW, clock=lambda: 0.0)
    live.before_request(talk(24), model="m")
    refused_tokens = live.tokens
    assert live.on_error(error, model="m") is not None
    assert live.window == WINDOW
    for turns in range(25, 70):
        live.before_request(talk(turns), model="m")
        assert live.tokens < refused_tokens


def test_a_size_that_was_answered_before_is_no_bound() -> None:
    live = Compactor("truncate", window=WINDOW, clock=lambda: 0.0)
    live.before_request(openai(24), model="m")
    live.report_usage({"prompt_tokens": 9 * QUOTA, "completion_tokens": 9})
    live.on_error("Error code: 400 - Input is too long for requested model.", model="m")
    assert live.quota is None
