"""What the window is taken to be: after an error stated a limit, and where nobody names it."""

from __future__ import annotations

import pytest
from live.talk import asked, openai

from workbench import Compactor, Settings
from workbench.live.events import CompactionEnded, WindowAssumed


def compactor(now: list[float]) -> Compactor:
    live = Compactor("truncate", window=200_000, clock=lambda: now[0])
    live.before_request([asked("hi")], model="gateway/m")
    return live


def test_a_limit_above_the_present_window_is_no_news() -> None:
    live = compactor([0.0])
    live.on_error("prompt is too long: 360000 tokens > 300000 maximum")
    live.on_error("prompt is too long")
    assert live.window == 200_000


def test_another_model_keeps_its_window() -> None:
    live = compactor([0.0])
    live.on_error("prompt is too long: 60000 tokens > 50000 maximum")
    live.before_request([asked("hi")], model="n")
    assert live.window == 200_000
    live.before_request([asked("hi")], model="gateway/m")
    assert live.window == 50_000


def compactions_after(pause: float, *, saved: bool = False) -> int:
    """Of an agent by price that goes on after a pause; the window is half full."""
    now = [0.0]
    live = Compactor("truncate+price", window=8_000, clock=lambda: now[0])
    talk = openai(10)
    for n in range(1, len(talk)):
        now[0] += 2.0
        if talk[n]["role"] == "assistant":
            live.before_request(talk[:n], model="claude-sonnet-4-5")
    if saved:
        live = Compactor.load(live.save(), clock=lambda: now[0])
    early = sum(isinstance(event, CompactionEnded) for event in live.events)
    now[0] += pause
    live.before_request([*talk, asked("Go on.")], model="claude-sonnet-4-5")
    return sum(isinstance(event, CompactionEnded) for event in live.events) - early


def test_by_price_a_long_pause_is_the_time_to_compact() -> None:
    assert compactions_after(20.0) == 0
    assert compactions_after(301.0) == 1


def test_a_compactor_that_was_loaded_knows_no_pause_before_it_was_saved() -> None:
    assert compactions_after(301.0, saved=True) == 0


def assumed(live: Compactor) -> list[WindowAssumed]:
    return [event for event in live.events if isinstance(event, WindowAssumed)]


def test_a_window_that_nobody_names_is_assumed_and_told_once_for_each_model() -> None:
    live = Compactor("truncate")
    for model in ("my-model", "my-model", "gpt-4.1", "other-model"):
        live.before_request([asked("so?")], model=model)
    assert [event.model for event in assumed(live)] == ["my-model", "other-model"]
    (first, _) = assumed(live)
    assert first.window == 128_000
    assert first.reason == (
        "no table knows the window of the model 'my-model', so 128,000 tokens are assumed: set"
        " `window` of the Compactor, or of its Settings"
    )


def test_without_a_model_the_assumed_window_is_told_too() -> None:
    live = Compactor("truncate")
    live.before_request([asked("so?")])
    assert assumed(live)[0].reason.startswith("neither a window nor a model is named, so 128,000 ")


@pytest.mark.parametrize(
    "live",
    [
        Compactor("truncate", window=8_000),
        Compactor("truncate", settings=Settings(window=8_000)),
    ],
)
def test_a_window_that_the_host_names_is_not_assumed(live: Compactor) -> None:
    live.before_request([asked("so?")], model="my-model")
    assert assumed(live) == []
