"""What the window is taken to be after an error stated a limit."""

from __future__ import annotations

from live.talk import asked

from workbench.live.compactor import Compactor


def compactor(now: list[float]) -> Compactor:
    live = Compactor("truncate", window=200_000, clock=lambda: now[0])
    live.before_request([asked("hi")], model="gateway/m")
    return live


def test_a_stated_limit_is_used_until_it_expires() -> None:
    now = [100.0]
    live = compactor(now)
    live.on_error("prompt is too long: 60000 tokens > 50000 maximum")
    now[0] = 3_699.0
    assert live.window == 50_000
    now[0] = 3_700.0
    assert live.window == 200_000


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
