"""How much is sent, on replays whose figures are known."""

from __future__ import annotations

import pytest

from builders import said, told
from workbench.metrics.index import Index
from workbench.metrics.metric import MetricInput
from workbench.metrics.size import over_window, peak_context
from workbench.replay.sizing import Sizing
from workbench.replay.step import Replay, Step
from workbench.transcript.session import Session
from workbench.transcript.tokens import chars_per_token


def metric_input(*sent: int, window: int) -> MetricInput:
    messages = [message for i in range(len(sent)) for message in (said("go on", f"u{i}"), told("ok", f"a{i}"))]
    steps = tuple(Step(i, 2 * i + 1, tokens, tokens, 0) for i, tokens in enumerate(sent))
    sizing = Sizing((0,) * len(messages), 0, chars_per_token)
    replay = Replay(Session.of(messages), "p", "natural", window, sizing, steps, (), ())
    return MetricInput(replay, Index(messages))


def test_requests_above_the_window_are_those_that_no_provider_would_take() -> None:
    made = metric_input(50, 100, 101, 400, window=100)
    assert over_window.score(made).value == pytest.approx(0.5) and over_window.score(made).n == 4
    assert over_window.score(metric_input(50, 100, window=100)).value == 0
    assert peak_context.score(made).value == 400


def test_a_replay_without_requests_has_no_such_figure() -> None:
    assert over_window.score(metric_input(window=100)).value is None
