"""How metrics order strategies against success and simulated detours, and where the order is the
other way round.
"""

import pandas as pd
import pytest

from workbench.lab.agreement.measured import COLUMNS
from workbench.lab.agreement.orders import Agreement


def rows(values: dict[str, tuple[float, float, float]], over: float = 0.0) -> pd.DataFrame:
    """By strategy: the exam, look-ups and dollars saved in each of two families, two sessions of
    each.
    """
    made = [
        {
            "session": f"{family}{number}",
            "family": family,
            "strategy": name,
            "over": over if name == "large" else 0.0,
            "exam": exam,
            "bound": 0.5,
            "stale": 0.0,
            "look_ups": looks + number,
            "blind": 0.0,
            "saved": saved,
        }
        for name, (exam, looks, saved) in values.items()
        for family in "ab"
        for number in (0, 10)
    ]
    return pd.DataFrame(made, columns=list(COLUMNS)).astype(COLUMNS)


def succeeded(**shares: float) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"strategy": name, "family": family, "success": share}
            for name, share in shares.items()
            for family in "ab"
        ]
    )


def rank(
    found: Agreement, target: str, metric: str = "exam", family: str = "all", column: str = "rank"
) -> float:
    one = found.ranks.set_index(["target", "metric", "family"])
    return float(one.loc[(target, metric, family), column])


ORDERED = {"pi": (0.9, 1.0, 0.1), "opal": (0.6, 2.0, 0.2), "truncate": (0.2, 3.0, 0.3)}


def test_a_metric_that_orders_as_success_and_look_ups_do_has_rank_one() -> None:
    agreement = Agreement.of(rows(ORDERED), succeeded(pi=1.0, opal=0.5, truncate=0.0))
    assert rank(agreement, "success") == rank(agreement, "success", family="b") == pytest.approx(1)
    assert rank(agreement, "look_ups") == pytest.approx(1)


def test_what_costs_more_where_more_is_kept_is_ordered_the_other_way_round_and_each_pair_is_named() -> (
    None
):
    agreement = Agreement.of(rows(ORDERED), succeeded(pi=1.0, opal=0.5, truncate=0.0))
    assert rank(agreement, "saved") == pytest.approx(-1)
    assert (
        rank(agreement, "saved", column="pairs"),
        rank(agreement, "saved", column="contradictions"),
    ) == (3, 3)
    case = agreement.disputes().iloc[0]
    assert (case["target"], case["better"], case["worse"], case["against"]) == (
        "saved",
        "truncate",
        "pi",
        ["the exam"],
    )
    cases, more = agreement.told(limit=1)["dollars saved, with look-ups"]
    assert (cases, more) == (["truncate (1.00) before pi (0.00), against the exam"], 2)


def test_where_a_metric_or_what_came_is_the_same_for_all_there_is_no_rank() -> None:
    agreement = Agreement.of(rows(ORDERED))
    assert pd.isna(rank(agreement, "blind")) and pd.isna(rank(agreement, "look_ups", "bound"))
    assert "success" not in set(agreement.ranks["target"])


def test_one_session_with_many_look_ups_counts_as_any_other() -> None:
    measured = rows(ORDERED)
    spiral = (measured["session"] == "a0") & (measured["strategy"] == "pi")
    measured.loc[spiral, "look_ups"] = 1000.0
    assert rank(Agreement.of(measured), "look_ups") == pytest.approx(1)


def test_what_is_over_the_window_or_has_recall_is_not_compared_but_counted_over_all() -> None:
    others = {
        "large": (1.0, 0.0, 0.0),
        "truncate+recall": (0.2, 0.0, 0.0),
        "none": (1.0, 0.0, 0.0),
    }
    measured = rows(ORDERED | others, over=0.5)
    success = succeeded(
        pi=0.9, opal=0.5, truncate=0.0, large=0.0, **{"truncate+recall": 1.0}, none=1.0
    )
    agreement = Agreement.of(measured, success)
    assert (agreement.over, agreement.recall) == (("large",), ("truncate+recall",))
    assert (
        rank(agreement, "success", column="strategies"),
        rank(agreement, "success", column="strategies_all"),
    ) == (3, 5)
    assert rank(agreement, "success", column="rank_all") < rank(agreement, "success")


def test_a_judge_that_read_for_some_strategies_is_ordered_over_these_and_named() -> None:
    measured = rows(ORDERED)
    few = measured["strategy"] != "opal"
    measured.loc[few, "read"] = measured["exam"]
    measured.loc[few, "reader"] = "small, not admitted"
    agreement = Agreement.of(measured)
    assert rank(agreement, "look_ups", "read") == pytest.approx(1)
    assert rank(agreement, "look_ups", "read", column="strategies") == 2
    assert "the exam, read by small, not admitted" in set(agreement.by_target()["metric"])
