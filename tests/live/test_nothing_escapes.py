"""Whatever a host's own parts raise, the agent gets what to send, and an event says why."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from threading import Event
from typing import Any

import pytest
from live.talk import asked, openai, without_fallback

from profiles import pairs
from workbench import (
    AtShare,
    Budget,
    Compactor,
    Completion,
    Context,
    Hooks,
    ModelError,
    Preset,
    Scripted,
    SettingError,
    Settings,
    Situation,
    Strategy,
    SummaryRequest,
    find_model,
    preset,
)
from workbench.live.events import (
    CallbackFailed,
    CompactionDropped,
    CompactionEnded,
    UsageIgnored,
)


class Unspeakable(Exception):
    """An error that cannot even write its own text."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Part:
    """Everything that a host may supply, and all of it raises."""

    name = "broken"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error or OSError("the host is broken")

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise self.error

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise self.error

    def plan(self, context: Context, budget: Budget, /) -> Any:
        raise self.error

    def check(self, situation: Situation, /) -> Any:
        raise self.error


PLAIN: dict[str, Any] = {"preset": "summarize", "model": find_model("extractive"), "window": 3_000}
STRICT = {**PLAIN, "preset": without_fallback("summarize")}
BROKEN: dict[str, Callable[[Part], dict[str, Any]]] = {
    "model": lambda part: {"model": part},
    "before": lambda part: {"hooks": Hooks(before=part)},
    "before_stage": lambda part: {"hooks": Hooks(before_stage=part)},
    "after": lambda part: {"hooks": Hooks(after=part)},
    "on_event": lambda part: {"on_event": part},
    "settings": lambda part: {"settings": part},
    "pins": lambda part: {"pins": part},
    "count": lambda part: {"count": part},
    "clock": lambda part: {"clock": part},
    "trigger": lambda part: {"settings": Settings(trigger=part)},
    "stage": lambda part: {"preset": Preset("own", Strategy("own", (part,)), AtShare())},
    "view": lambda part: {"preset": Preset("own", Strategy("own", (), (part,)), AtShare())},
    "counter of a preset": lambda part: {"preset": replace(preset("summarize"), count=part)},
}


@pytest.mark.parametrize(
    ("name", "error"), pairs(BROKEN, [OSError("the host is broken"), Unspeakable()])
)
def test_a_part_of_the_host_that_raises_never_stops_the_agent(name: str, error: Exception) -> None:
    messages = openai(40)
    live = Compactor(**{**PLAIN, **BROKEN[name](Part(error))})
    for end in range(1, len(messages) + 1):
        sent = live.before_request(messages[:end])
        assert sent[-1] == messages[end - 1]
        live.report_usage({"prompt_tokens": live.tokens})
        if messages[end - 1]["role"] == "assistant":
            live.after_turn(messages[:end])
    assert live.on_error("prompt is too long: 21346 tokens > 2000 maximum") is not None
    assert live.original == messages
    assert live.tokens <= 3_000
    told = [
        event.why for event in live.events if isinstance(event, CallbackFailed | CompactionDropped)
    ]
    warnings = [
        event.warning
        for event in live.events
        if isinstance(event, CompactionEnded) and event.warning
    ]
    told += [
        warning.removeprefix("a note replaces the summary, since the model failed: ")
        for warning in warnings
    ]
    kind = type(error).__name__
    stage_raised = f"stage 'broken' raised {kind}"
    assert told and all(text.startswith((kind, stage_raised)) for text in told)
    if not isinstance(error, Unspeakable):
        assert all(text.endswith("OSError: the host is broken") for text in told)


@pytest.mark.parametrize("answer", [None, -1, "many"])
def test_a_counter_that_answers_no_number_is_passed_over_and_told_once(answer: object) -> None:
    live = Compactor("truncate", window=3_000, count=lambda message: answer)  # type: ignore[arg-type]  # no number
    live.before_request(openai(30))
    told = [(event.name, event.why) for event in live.events if isinstance(event, CallbackFailed)]
    assert told == [("count", f"it returned {answer!r}")]
    assert live.tokens < 3_000


def test_a_counter_that_fails_in_two_ways_is_told_of_each_once() -> None:
    live = Compactor("truncate", window=3_000, count=lambda message: len(message["content"]))
    live.before_request(openai(30))
    told = [event.why for event in live.events if isinstance(event, CallbackFailed)]
    assert len(told) == len(set(told)), "user's, agent's and tools' messages are different objects"


@pytest.mark.parametrize("report", [{"foo": 1}, "usage", 7])
def test_a_report_without_tokens_is_ignored_with_an_event(report: object) -> None:
    live = Compactor("truncate", window=3_000)
    live.before_request(openai(3))
    live.report_usage(report)
    ignored = [event for event in live.events if isinstance(event, UsageIgnored)]
    assert [event.why for event in ignored] == ["it names no tokens of a prompt"]


def test_events_hold_no_text_of_the_conversation_or_of_a_summary() -> None:
    model = Scripted(["The summary's own words."])
    live = Compactor("summarize", model=model, window=3_000)
    live.before_request(openai(30))
    written = repr(live.events)
    assert len(model.requests) == 1
    assert "compaction_ended" in written
    for text in ("own words", "keep its limit", "word_1"):
        assert text not in written


def test_settings_that_fail_later_stay_as_they_were() -> None:
    def settings() -> Settings:
        if broken:
            raise KeyError("configuration")
        return Settings(automatic=False)

    broken: list[bool] = []
    live = Compactor("truncate", window=3_000, settings=settings)
    broken.append(True)
    messages = openai(30)
    assert live.before_request(messages) == messages
    (event,) = live.events
    assert isinstance(event, CallbackFailed) and event.why == "KeyError: 'configuration'"


@pytest.mark.parametrize("report", [Part(), {"prompt_tokens": [3]}, 7, "many", object()])
def test_a_report_or_an_error_that_cannot_be_read_is_passed_over(report: object) -> None:
    live = Compactor("truncate", window=3_000)
    messages = openai(3)
    live.before_request(messages)
    assert live.report_usage(report, stop=["odd"]) is None  # type: ignore[arg-type]
    assert live.on_error(Unspeakable()) is None
    assert live.before_request([*messages, asked("go on")])[:-1] == messages


class Paid:
    """Every answer costs a cent."""

    name = "paid"
    reads_messages = True

    def __init__(self, *texts: str | Exception, usd: float | None = 0.01) -> None:
        self.texts, self.usd = list(texts), usd

    def complete(self, request: SummaryRequest, /) -> Completion:
        text = self.texts.pop(0) if self.texts else "It went well."
        if isinstance(text, Exception):
            raise text
        return Completion(text=text, model=self.name, usd=self.usd)


class Late:
    """A stage that fails after another one was paid."""

    name = "late"

    def plan(self, context: Context, budget: Budget, /) -> Any:
        raise OSError("too late")


def paid(live: Compactor) -> list[float | None]:
    return [
        event.usd for event in live.events if isinstance(event, CompactionEnded | CompactionDropped)
    ]


def test_an_answer_that_came_to_nothing_is_paid_all_the_same() -> None:
    stages = (*preset("summarize").strategy.stages[:2], Late())
    eager = AtShare(0.5, 0.0)
    live = Compactor(Preset("late", Strategy("late", stages), eager), model=Paid(), window=3_000)
    live.before_request(openai(15))
    assert [event.why for event in live.events if isinstance(event, CompactionDropped)] == [
        "OSError: too late"
    ]
    assert paid(live) == [0.01] and live.usd == 0.01


def test_an_empty_answer_is_paid_too() -> None:
    live = Compactor("operator_use", model=Paid(" "), window=128_000)
    history = openai(250)
    live.before_request(history)
    with pytest.raises(ModelError, match="empty"):
        live.compact(messages=history)
    assert paid(live) == [0.01] and live.usd == 0.01
    # two requests for a split turn
    assert live.compact() is not None and live.usd == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("price", "usd"), [(None, None), ("a cent", None), (Decimal("0.01"), 0.01)]
)
def test_what_cannot_be_priced_makes_the_total_unknown(price: Any, usd: float | None) -> None:
    live = Compactor("summarize", model=Paid(usd=price), window=3_000)
    live.before_request(openai(30))
    assert paid(live) == [usd] and live.usd == usd


def test_a_model_that_never_answers_is_given_up_and_its_cost_is_unknown() -> None:
    class Hanging(Part):
        def complete(self, request: SummaryRequest, /) -> Completion:
            Event().wait()
            raise AssertionError

    messages = openai(30)[:-1]
    settings = Settings(model_seconds=0.05, last_resort=False)
    live = Compactor(**{**STRICT, "model": Hanging()}, settings=settings)
    assert live.before_request(messages) == messages
    (failed,) = [event for event in live.events if isinstance(event, CompactionDropped)]
    assert failed.why == "the model gave no answer within 0.05 seconds" and live.usd is None
    with pytest.raises(ModelError, match="gave no answer"):
        live.compact()


def test_what_a_model_imports_first_is_no_part_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds_later = [0.0]
    monotonic = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + seconds_later[0])

    class LoadsLong(Paid):
        def load(self) -> None:
            seconds_later[0] = 120.0

    settings = Settings(model_seconds=60.0, last_resort=False)
    live = Compactor("summarize", model=LoadsLong("It went well."), window=3_000, settings=settings)
    live.before_request(openai(30))
    (ended,) = [event for event in live.events if isinstance(event, CompactionEnded)]
    assert (ended.outcome, ended.warning) == ("compacted", "")


@pytest.mark.parametrize("seconds", [None, 9.0])
def test_a_time_limit_changes_nothing_for_a_model_that_answers_or_raises_a_timeout_itself(
    seconds: float | None,
) -> None:
    settings = Settings(model_seconds=seconds, last_resort=False)
    live = Compactor(**PLAIN, settings=settings)
    assert len(live.before_request(openai(30)[:-1])) < 100 and live.usd == 0
    late = Compactor(**{**STRICT, "model": Part(TimeoutError("slow"))}, settings=settings)
    late.before_request(openai(30)[:-1])
    assert [event.why for event in late.events if isinstance(event, CompactionDropped)] == [
        "TimeoutError: slow"
    ]
    with pytest.raises(SettingError, match="model_seconds"):
        Settings(model_seconds=0)
