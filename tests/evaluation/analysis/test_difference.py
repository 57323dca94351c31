"""What changed between two runs, the worst first."""

from __future__ import annotations

import pandas as pd

from workbench.evaluation.analysis.difference import changed_entities, changed_values
from workbench.evaluation.experiment.table_columns import frame


def scores(**values: float | None) -> pd.DataFrame:
    place = {"strategy": "mine", "mode": "natural", "share": None, "better": "higher"}
    return frame(
        "scores",
        [
            {**place, "session": n.split("_")[0], "metric": n.split("_")[1], "value": v}
            for n, v in values.items()
        ],
    )


def losses(**weights: float) -> pd.DataFrame:
    place = {"session": "s", "strategy": "mine", "mode": "matched", "share": 0.2, "kind": "path"}
    return frame(
        "losses",
        [
            {**place, "entity": n, "weight": v, "evidence": f"line of {n}"}
            for n, v in weights.items()
        ],
    )


def test_the_largest_regression_stands_first_and_what_is_equal_is_left_out() -> None:
    found = changed_values(
        scores(a_recall=0.5, b_recall=0.6, c_recall=0.7, d_recall=0.8),
        scores(a_recall=0.4, b_recall=0.2, c_recall=0.7, d_recall=0.9),
    )
    assert found["session"].tolist() == ["b", "a", "d"]
    assert found["difference"].round(6).tolist() == [-0.4, -0.1, 0.1]


def test_a_value_that_is_gone_is_a_regression() -> None:
    found = changed_values(scores(a_recall=0.5, b_recall=0.6), scores(a_recall=None, b_recall=0.5))
    assert found["session"].tolist() == ["a", "b"] and found["worse_by"].iloc[0] == 1.0


def test_new_losses_come_before_mended_ones_each_with_its_evidence() -> None:
    found = changed_entities(
        losses(old=1.0, both=0.5, faded=0.75), losses(new=0.5, worst=1.0, both=0.5, faded=1.0)
    )
    assert list(zip(found["entity"], found["change"], strict=True)) == [
        ("worst", "lost"),
        ("new", "lost"),
        ("faded", "worse"),
        ("old", "mended"),
    ]
    assert found["evidence"].tolist() == [
        "line of worst",
        "line of new",
        "line of faded",
        "line of old",
    ]
    assert found["share"].tolist() == [0.2] * 4


def test_equal_runs_differ_in_nothing() -> None:
    assert changed_values(scores(a_recall=0.5), scores(a_recall=0.5)).empty
    assert changed_entities(losses(a=1.0), losses(a=1.0)).empty
    assert changed_entities(losses(), losses()).empty
