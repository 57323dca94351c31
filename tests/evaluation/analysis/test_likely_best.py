"""How likely each strategy is to be best, for what a user gives for a tenth of the bill."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pandas as pd
import pytest

from workbench.evaluation.analysis.likely_best import likely_best

LIKELY = 0.8

POSSIBLE = 0.1

Best = TypeVar("Best")

DRAWS = 4_000


def no_error(
    strategies: Sequence[str], projects: int, random: np.random.Generator
) -> dict[str, np.ndarray]:
    return {name: np.zeros(DRAWS) for name in strategies}


def rows(told: dict[str, list[float]], saved: dict[str, float]) -> pd.DataFrame:
    """A session of $1 in each of some projects, with what each strategy tells and saves there."""
    table = []
    for name, shares in told.items():
        for number, share in enumerate(shares):
            row = {
                "session": f"session {number}",
                "project": f"project {number}",
                "candidate": name,
                "recall": share,
                "saved": saved[name],
                "plain": 1.0,
            }
            table.append(row)
    return pd.DataFrame(table)


def present(best: Best | None) -> Best:
    """What is said, where something is."""
    assert best is not None
    return best


def test_a_dear_strategy_that_always_tells_more_is_best_until_the_bill_is_worth_its_lead() -> None:
    table = rows({"dear": [0.8] * 8, "cheap": [0.5] * 8}, {"dear": 0.0, "cheap": 0.6})
    best = present(likely_best(table, no_error))
    assert best.chances["dear"][0.0] == 1.0 and best.chances["cheap"][10.0] == 1.0
    low, high = best.ranges("dear", 1.0)
    assert (low.use, high.use) == ("dear", "cheap")
    assert low.high == high.low == pytest.approx(5.0)  # 30 points for six tenths
    assert low.level > 0.95 and high.high is None


def test_chances_add_up_and_follow_how_often_a_strategy_leads() -> None:
    shares = {"even": [0.5] * 9, "uneven": [0.9, 0.1] * 4 + [0.5]}
    chances = present(likely_best(rows(shares, {"even": 0.0, "uneven": 0.0}), no_error)).chances
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert chances["uneven"][0.0] == pytest.approx(0.5, abs=0.05)


def test_strategies_that_nobody_can_tell_apart_make_one_range_whatever_the_price() -> None:
    table = rows({"one": [0.7] * 8, "other": [0.705] * 8}, {"one": 0.3, "other": 0.3})
    (only,) = present(likely_best(table, no_error)).ranges("one", 1.0)
    assert (only.use, only.low, only.high, only.level, only.loss) == ("one", 0.0, None, 1.0, 0.0)


def test_the_range_of_the_price_in_question_is_that_of_the_named_strategy() -> None:
    table = rows({"one": [0.7] * 8, "other": [0.715] * 8}, {"one": 0.3, "other": 0.2})
    for name in ("one", "other"):
        ranges = present(likely_best(table, no_error)).ranges(name, 1.0)
        (at_the_price,) = [r for r in ranges if r.low <= 1.0 and (r.high is None or r.high > 1.0)]
        assert at_the_price.use == name


def test_a_reader_who_may_be_wrong_makes_a_lead_less_sure() -> None:
    def may_promise_too_much(
        strategies: Sequence[str], projects: int, random: np.random.Generator
    ) -> dict[str, np.ndarray]:
        return {name: random.normal(size=DRAWS) * 0.1 for name in strategies}

    table = rows({"first": [0.7] * 8, "second": [0.65] * 8}, {"first": 0.0, "second": 0.0})
    unsure = present(likely_best(table, may_promise_too_much))
    assert present(likely_best(table, no_error)).chances["first"][0.0] == 1.0
    # .05 over a standard deviation of .1 * sqrt(2): the normal distribution has .638 below that
    assert unsure.chances["first"][0.0] == pytest.approx(0.638, abs=0.03)


def test_level_with_the_best_is_who_is_near_it_in_a_tenth_of_the_draws() -> None:
    shares = {
        "first": [0.7] * 8,
        "near": [0.69] * 8,
        "sometimes": [0.8, 0.45] * 4,
        "far": [0.5] * 8,
    }
    best = present(likely_best(rows(shares, dict.fromkeys(shares, 0.0)), no_error))
    assert best.likely() == ["first", "near"]
    assert best.level_with_best() == ["first", "near", "sometimes"]
    assert best.at()["far"] == 0.0
    assert POSSIBLE < best.at()["sometimes"] < LIKELY


def test_of_few_projects_only_the_reader_is_drawn_and_it_says_nothing_of_others() -> None:
    shares = {"first": [0.9, 0.1, 0.6], "second": [0.4, 0.5, 0.6]}
    of_few = present(likely_best(rows(shares, dict.fromkeys(shares, 0.0)), no_error))
    assert not of_few.is_general and of_few.at() == {"first": 1.0, "second": 0.0}
    assert present(likely_best(rows({"one": [0.5] * 6}, {"one": 0.0}), no_error)).is_general


def test_a_known_bias_of_the_reader_moves_the_points() -> None:
    def promises_one_too_much(
        strategies: Sequence[str], projects: int, random: np.random.Generator
    ) -> dict[str, np.ndarray]:
        return {name: np.full(DRAWS, 0.1 * (name == "first")) for name in strategies}

    table = rows({"first": [0.7] * 8, "second": [0.65] * 8}, {"first": 0.0, "second": 0.0})
    corrected = present(likely_best(table, promises_one_too_much))
    assert corrected.level_with_best() == ["second"]
    assert corrected.points.loc[1.0, "first"] == pytest.approx(60.0)


def test_nothing_is_said_where_nobody_knows_the_readers_error_or_no_session_counts() -> None:
    table = rows({"one": [0.7] * 8, "other": [0.5] * 8}, {"one": 0.0, "other": 0.0})
    assert likely_best(table, lambda strategies, projects, random: None) is None
    assert likely_best(table.assign(recall=np.nan), no_error) is None


def test_the_interval_of_a_lead_and_how_likely_the_rival_is_as_good_are_of_the_same_draws() -> None:
    def uncertain(
        strategies: Sequence[str], projects: int, random: np.random.Generator
    ) -> dict[str, np.ndarray]:
        return {name: random.normal(0, 0.03, DRAWS) for name in strategies}

    shares = {"first": [0.81, 0.79] * 4, "second": [0.79, 0.81] * 4}
    best = present(likely_best(rows(shares, {"first": 0.0, "second": 0.0}), uncertain))
    lead = best.lead("first", "second")
    assert lead.low is not None and lead.high is not None
    assert lead.low < lead.mean < lead.high
    # a rival that is 2 points behind in a quarter of the draws is so within the interval
    assert best.at()["second"] < 0.8 and lead.high > 2


def test_a_lead_over_too_few_projects_has_no_interval() -> None:
    table = rows({"first": [0.8] * 2, "second": [0.7] * 2}, {"first": 0.0, "second": 0.0})
    best = present(likely_best(table, no_error))
    lead = best.lead("first", "second")
    assert lead.mean == pytest.approx(10)
    assert lead.low is None


def test_a_session_that_one_strategy_has_no_figure_for_counts_for_none() -> None:
    shares = {"lacking": [0.5] * 8 + [float("nan")], "whole": [0.4] * 8 + [1.0]}
    best = present(likely_best(rows(shares, {"lacking": 0.0, "whole": 0.0}), no_error))
    assert (best.sessions, best.projects) == (8, 8)
    assert best.points["whole"][0.0] == pytest.approx(40.0)
