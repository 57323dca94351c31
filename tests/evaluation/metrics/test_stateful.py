from __future__ import annotations

from dataclasses import replace

import pytest
from real_parts import SNAPSHOT

from builders import called, result, said, told
from workbench import Context, MetricInput, Replay, Score, Session, Summary, find_model, preset
from workbench.engine.transcript.message import Message, chars_per_token
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.matched import matched
from workbench.evaluation.replays.sizing import Sizing

FILLER = [told(f"plain words about nothing {i}", f"f{i}") for i in range(30)]
MESSAGES: list[Message] = [
    said("Never touch the vendor folder.", "u0"),
    called("read", "c1", path="src/api/limits.py"),
    result("retryLimit is 3000 for the mailer, maybe maxDelay too", "c1"),
    called(
        "edit",
        "c2",
        path="src/api/limits.py",
        old_string="retryLimit = 3000",
        new_string="retryLimit = 5000",
    ),
    result("ok", "c2"),
    told("Left to do:\n- rename the legacy exporter", "a0"),
    *FILLER,
    said("go on", "u1"),
    told("retryLimit of the mailer stays in src/api/limits.py with maxDelay and 3000", "a1"),
    *[told(f"more {i}", f"g{i}") for i in range(12)],
]
SESSION = Session.of(MESSAGES)
AT = 37


def scored(name: str, strategy: str = "none") -> Score:
    sizes = [chars_per_token(message) for message in MESSAGES]
    sizing = Sizing.of(SESSION, sizes, chars_per_token)
    replay = matched(
        SESSION,
        preset(strategy),
        find_model("extractive"),
        sizing,
        window=100_000,
        boundaries=[AT],
        shares=[0.2],
    )
    return BUILTIN[name].score(MetricInput(replay, Index(MESSAGES), 0.2))


@pytest.mark.parametrize("strategy", ["none", "null"])
def test_a_context_with_both_values_or_none_has_no_stale_one(strategy: str) -> None:
    assert scored("value_stale", strategy) == Score(0.0, n=1)


def test_a_summary_with_the_old_value_alone_is_stale() -> None:
    context = Context.of([Summary(id="s", text="the mailer has retryLimit = 3000")])
    sizing = Sizing.of(SESSION, [chars_per_token(message) for message in MESSAGES], chars_per_token)
    replay = Replay(
        SESSION,
        "made",
        "natural",
        100_000,
        sizing,
        (),
        (),
        (replace(SNAPSHOT, at=AT, context=context),),
    )
    assert BUILTIN["value_stale"].score(MetricInput(replay, Index(MESSAGES))) == Score(1.0, n=1)


def test_a_metric_that_does_not_apply_says_why() -> None:
    score = scored("fabrication")
    assert score.value is None
    assert score.why
