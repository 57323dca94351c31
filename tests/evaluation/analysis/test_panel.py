"""A rank is given where no metric of the panel contradicts it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.evaluation.analysis.panel import Panel, panel

SESSIONS = 8


def panel_of(values: dict[str, dict[str, float]], sessions: int = SESSIONS) -> Panel:
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
    return panel(pd.DataFrame(rows), ["good", "fair", "poor"], "matched")


ORDER = {"good": 0.8, "fair": 0.6, "poor": 0.4}


def test_metrics_that_agree_give_a_rank() -> None:
    found = panel_of({"exam_recall": ORDER, "phrase_recall": ORDER})
    assert found.rank == {"good": 1, "fair": 2, "poor": 3}
    assert not found.disputed


def test_a_metric_that_says_the_opposite_is_a_dispute_and_takes_the_rank_of_both() -> None:
    found = panel_of({"exam_recall": ORDER, "code": {"good": 0.1, "fair": 0.5, "poor": 0.05}})
    assert found.disputed == [("fair", "good")]
    assert found.ahead["good", "fair"] == ("exam_recall",) and found.ahead["fair", "good"] == (
        "code",
    )
    assert "good" not in found.rank and "fair" not in found.rank


def test_of_a_fault_the_lower_value_is_ahead() -> None:
    found = panel_of({"exam_recall": ORDER, "value_stale": {"good": 0.0, "fair": 0.2, "poor": 0.4}})
    assert found.rank == {"good": 1, "fair": 2, "poor": 3}


def test_equal_strategies_share_a_rank() -> None:
    assert panel_of({"exam_recall": {"good": 0.8, "fair": 0.8, "poor": 0.4}}).rank == {
        "good": 1,
        "fair": 1,
        "poor": 2,
    }


def test_five_projects_rank_nobody() -> None:
    found = panel_of({"exam_recall": ORDER}, sessions=5)
    assert found.rank == {} and "exam_recall" in found.silent
