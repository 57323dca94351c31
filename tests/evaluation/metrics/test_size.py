"""How much is sent, on replays whose figures are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from real_parts import STAGE, with_steps

from builders import said, told
from workbench import Budget, Compaction, Completion, Context, MetricInput, Replay, Session
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.sizing import Sizing
from workbench.evaluation.replays.step import CompactionEvent


def metric_input(*sent: int, window: int) -> MetricInput:
    messages = [
        message
        for i in range(len(sent))
        for message in (said("go on", f"u{i}"), told("ok", f"a{i}"))
    ]
    sizing = Sizing((0,) * len(messages), 0, chars_per_token)
    empty = Replay(Session.of(messages), "p", "natural", window, sizing, (), (), ())
    replay = with_steps(empty, *((tokens, tokens, 0) for tokens in sent))
    return MetricInput(replay, Index(messages))


def test_requests_above_the_window_are_those_that_no_provider_would_take() -> None:
    made = metric_input(50, 100, 101, 400, window=100)
    assert (
        BUILTIN["over_window"].score(made).value == pytest.approx(0.5)
        and BUILTIN["over_window"].score(made).n == 4
    )
    assert BUILTIN["over_window"].score(metric_input(50, 100, window=100)).value == 0
    assert BUILTIN["peak_context"].score(made).value == 400


def test_what_summaries_cost_counts_as_sent() -> None:
    made = metric_input(60, 40, window=100)
    steps = tuple(replace(step, tokens_recorded=100) for step in made.replay.steps)
    saved = replace(made, replay=replace(made.replay, steps=steps))
    assert BUILTIN["tokens_saved"].score(saved).value == pytest.approx(0.5)
    completion = Completion(text="so far", model="m", input_tokens=30, output_tokens=20)
    stage = replace(STAGE, tokens_before=100, tokens_after=60, completions=(completion,))
    context = Context((), ())
    compaction = Compaction(
        context, context, context, Budget(target=1, window=100), (stage,), "compacted"
    )
    asked = replace(
        saved, replay=replace(saved.replay, events=(CompactionEvent(0, 1, compaction),))
    )
    assert BUILTIN["tokens_saved"].score(asked).value == pytest.approx(0.25)


def test_a_replay_without_requests_has_no_such_figure() -> None:
    assert BUILTIN["over_window"].score(metric_input(window=100)).value is None
