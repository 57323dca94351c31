"""`exam_recall`: the exam as a metric of a run."""

from __future__ import annotations

import pytest

from builders import remembering
from workbench import MetricInput, Prepared, Score, Session, find_model, prepared, preset
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.replays.matched import matched


@pytest.fixture(scope="module")
def ready() -> Prepared:
    return prepared(Session.of(remembering(60, later=12), id="one"))


def score(ready: Prepared, strategy: str) -> Score:
    replay = matched(
        ready.session,
        preset(strategy),
        find_model("extractive"),
        ready.sizing,
        window=ready.window,
        boundaries=(120,),
        shares=(0.3,),
    )
    return BUILTIN["exam_recall"].score(MetricInput(replay, ready.index, 0.3))


def test_the_whole_history_knows_everything_and_the_floor_nothing(ready: Prepared) -> None:
    assert score(ready, "none").value == pytest.approx(1)
    floor = score(ready, "null").value
    assert floor is not None and floor <= 0


def test_a_strategy_stands_between_them(ready: Prepared) -> None:
    kept = score(ready, "summarize").value
    assert kept is not None and 0 < kept <= 1
