from __future__ import annotations

import pytest
import validators
from live.talk import answered, asked, back, openai, used

from workbench import Compactor, Preset, Settings, Strategy, find_model, preset
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.live.events import CompactionEnded, ErrorJudged, LastResort

TOO_LONG = "prompt is too long: 213462 tokens > 200000 maximum"


def compactor(
    preset: str | Preset = "summarize", window: int = 400_000, **given: object
) -> Compactor:
    return Compactor(preset, model=find_model("extractive"), window=window, **given)  # type: ignore[arg-type]


def test_an_overflow_is_compacted_and_tried_again_once() -> None:
    messages = openai(20)
    live = compactor()
    live.before_request(messages)
    before = live.tokens
    retry = live.on_error(TOO_LONG)
    assert retry is not None
    assert live.tokens < before and len(retry.messages) < len(messages)
    assert validators.openai_chat([*retry.messages, asked("?")]) == []
    assert live.on_error(TOO_LONG) is None
    live.before_request(openai(40))
    assert live.on_error(TOO_LONG) is not None


def test_the_stated_limit_is_the_window_until_it_expires() -> None:
    now = [0.0]
    live = compactor(clock=lambda: now[0])
    live.before_request(openai(20), model="m")
    live.on_error(TOO_LONG, model="m")
    assert live.window == 200_000
    assert [event.learned for event in live.events if isinstance(event, ErrorJudged)] == [200_000]
    now[0] = 3_600.0
    assert live.window == 400_000


def test_what_the_error_says_was_used_is_believed_over_our_count() -> None:
    live = compactor(window=10_000)
    live.before_request(openai(6))
    live.on_error("prompt is too long: 11000 tokens > 10000 maximum")
    started = next(event for event in live.events if event.type == "compaction_started")
    assert (started.tokens, started.reason) == (11_000, "overflow")


def test_less_output_is_asked_for_where_that_is_enough() -> None:
    messages = openai(6)
    live = compactor()
    live.before_request(messages)
    retry = live.on_error(
        "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000"
    )
    assert retry is not None
    assert (retry.max_tokens, retry.messages) == (20_000, messages)
    assert live.window == 400_000


def test_a_request_that_is_refused_again_with_less_output_is_compacted() -> None:
    live = compactor(window=10_000)
    live.before_request(openai(6))
    error = "prompt tokens plus max_tokens exceed the context window of 200000"
    lowered = live.on_error(error)
    assert lowered is not None and lowered.max_tokens
    compacted = live.on_error(error)
    assert compacted is not None and compacted.max_tokens is None
    assert len(compacted.messages) < len(lowered.messages)


@pytest.mark.parametrize(
    "error",
    [
        "Rate limit reached: tokens per min",
        "messages.3: image exceeds 5 MB maximum",
        "Incorrect API key provided",
        "`tool_use` ids were found without `tool_result` blocks",
    ],
)
def test_what_compaction_does_not_mend_is_left_to_the_host(error: str) -> None:
    messages = openai(6)
    live = compactor()
    live.before_request(messages)
    assert live.on_error(error) is None
    assert live.before_request(messages) == messages


def test_a_broken_history_is_repaired_and_tried_again() -> None:
    messages = [
        asked("do it"),
        used("c1"),
        asked("never mind"),
        back("c2", "orphan"),
        answered("ok"),
        asked("so?"),
    ]
    live = compactor()
    assert validators.openai_chat(live.before_request(messages))
    retry = live.on_error(
        "An assistant message with 'tool_calls' must be followed by tool messages", messages
    )
    assert retry is not None
    assert validators.openai_chat(retry.messages) == []
    assert live.original == messages


def test_an_error_of_another_model_says_nothing_about_this_one() -> None:
    live = compactor()
    live.before_request(openai(6), model="new")
    assert live.on_error(TOO_LONG, model="old") is None
    assert live.window == 400_000


def test_a_preset_that_never_compacts_does_not_try_again() -> None:
    live = compactor("none", settings=Settings(last_resort=False))
    live.before_request(openai(6))
    assert live.on_error(TOO_LONG) is None


@pytest.mark.parametrize("error", [TOO_LONG, "maximum context length exceeded"])
def test_the_last_resort_answers_an_overflow_that_the_preset_does_not(error: str) -> None:
    messages = openai(6)
    live = compactor("none")
    live.before_request(messages)
    retry = live.on_error(error)
    assert retry is not None and len(retry.messages) < len(messages)
    assert validators.openai_chat(retry.messages) == []
    assert [event.fits for event in live.events if isinstance(event, LastResort)] == [True]


def test_the_presets_own_answer_to_an_overflow_is_used() -> None:
    cautious = Preset(
        "cautious",
        Strategy("nothing", ()),
        preset("none").trigger,
        overflow=Strategy("cut", (STAGES["truncate"](),)),
    )
    live = compactor(cautious)
    live.before_request(openai(20))
    assert live.on_error(TOO_LONG) is not None
    assert [[s.name for s in e.stages] for e in live.events if isinstance(e, CompactionEnded)] == [
        ["truncate"]
    ]


def test_how_often_one_request_is_tried_again_is_a_setting() -> None:
    live = compactor(settings=Settings(retries=0))
    live.before_request(openai(20))
    assert live.on_error(TOO_LONG) is None


def test_too_many_bytes_are_compacted_as_well() -> None:
    live = compactor("truncate")
    live.before_request(openai(20))
    assert live.on_error({"type": "request_too_large", "status": 413}) is not None


def test_an_overflow_that_nothing_can_mend_is_given_up() -> None:
    live = compactor("truncate", window=400_000)
    live.before_request([asked("hi")])
    assert live.on_error(TOO_LONG) is None
