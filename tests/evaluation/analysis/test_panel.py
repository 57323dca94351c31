"""A rank is given where no metric of the panel contradicts it."""

from __future__ import annotations

import numpy as np
from planted_run import PlantedRun

from workbench import Findings

SESSIONS = 8


Levels = dict[str, dict[str, float]]


def planted(values: Levels, sessions: int = SESSIONS) -> PlantedRun:
    """By metric the level of each strategy, with a little noise; a metric whose name ends in
    `stale` is a fault.
    """
    dice = np.random.default_rng(1)
    rows = [
        {
            "session": f"s{number}",
            "strategy": name,
            "mode": "matched",
            "share": 0.1,
            "metric": metric,
            "value": level + dice.normal(0, 0.01),
            "better": "lower" if metric.endswith("stale") else "higher",
        }
        for metric, levels in values.items()
        for name, level in levels.items()
        for number in range(sessions)
    ]
    return PlantedRun({}, {"scores": rows})


def ranks(values: Levels, sessions: int = SESSIONS) -> dict[str, int]:
    """The rank of each strategy on which the panel agrees."""
    panel = Findings.of(planted(values, sessions)).figures.panel
    assert panel is not None
    return panel.rank


ORDER = {"good": 0.8, "fair": 0.6, "poor": 0.4}


def test_metrics_that_agree_give_a_rank() -> None:
    found = Findings.of(planted({"exam_recall": ORDER, "phrase_recall": ORDER})).figures.panel
    assert found is not None
    assert found.rank == {"good": 1, "fair": 2, "poor": 3}
    assert not found.disputed


def test_a_metric_that_says_the_opposite_is_a_dispute_and_takes_the_rank_of_both() -> None:
    code = {"good": 0.1, "fair": 0.5, "poor": 0.05}
    found = Findings.of(planted({"exam_recall": ORDER, "code": code})).figures.panel
    assert found is not None
    assert found.disputed == [("fair", "good")]
    assert found.ahead["good", "fair"] == ("exam_recall",)
    assert found.ahead["fair", "good"] == ("code",)
    assert "good" not in found.rank and "fair" not in found.rank


def test_of_a_fault_the_lower_value_is_ahead() -> None:
    stale = {"good": 0.0, "fair": 0.2, "poor": 0.4}
    assert ranks({"exam_recall": ORDER, "value_stale": stale}) == {"good": 1, "fair": 2, "poor": 3}


def test_equal_strategies_share_a_rank() -> None:
    levels = {"good": 0.8, "fair": 0.8, "poor": 0.4}
    assert ranks({"exam_recall": levels}) == {"good": 1, "fair": 1, "poor": 2}


def test_five_projects_rank_nobody() -> None:
    run = planted({"exam_recall": ORDER}, sessions=5)
    found = Findings.of(run).figures.panel
    assert found is not None
    assert found.rank == {} and "exam_recall" in found.silent
