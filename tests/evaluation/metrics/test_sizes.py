"""What is larger than the size that was set has no figure at that size."""

from __future__ import annotations

import pytest

from builders import remembering, rules
from workbench import MetricInput, Session, preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.experiment.replay_rows import natural_rows
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.matched import matched, stays_larger
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing

TOO_LARGE = "it stays larger than the size that was set"

MESSAGES = (rules("be brief"), *remembering(60))
SESSION = Session.of(MESSAGES)


def too_large(data: MetricInput) -> str:
    return stays_larger(data.replay, data.share)


def metric_input(name: str, share: float = 0.2, session: Session = SESSION) -> MetricInput:
    sizing = Sizing.of(session, [chars_per_token(m) for m in session.messages], chars_per_token)
    at = (len(session.messages) // 2, len(session.messages) * 3 // 4)
    replay = matched(
        session, preset(name), Extractive(), sizing, window=10_000, boundaries=at, shares=(share,)
    )
    return MetricInput(replay, Index(session.messages), share)


@pytest.mark.parametrize("name", ["truncate", "summarize", "null", "none"])
def test_a_strategy_that_gets_small_enough_may_be_compared_and_so_may_the_arm_that_is_never_cut(
    name: str,
) -> None:
    assert too_large(metric_input(name)) == ""


def test_one_that_does_not_says_where_and_by_how_much_and_has_no_figure_but_its_size() -> None:
    large = metric_input("observation_mask")
    assert too_large(large).startswith(f"{TOO_LARGE} at 2 of 2 boundaries, up to ")
    rows = {row["metric"]: row for row in natural_rows(large)["scores"]}
    assert rows["exam_recall"]["value"] is None and str(rows["exam_recall"]["why"]).startswith(
        TOO_LARGE
    )
    assert {name for name, row in rows.items() if row["value"] is not None} == {
        "tokens_kept",
        "violations",
    }
    value = rows["tokens_kept"]["value"]
    assert isinstance(value, float) and value > 0.22


def test_a_strategy_under_its_own_trigger_has_no_size_to_miss() -> None:
    sizing = Sizing.of(SESSION, [chars_per_token(m) for m in MESSAGES], chars_per_token)
    replay = natural(SESSION, preset("observation_mask"), Extractive(), sizing, window=1_000)
    assert too_large(MetricInput(replay, Index(MESSAGES))) == ""
