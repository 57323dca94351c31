"""What a table of differences says of how much so many sessions can show."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import pairwise
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workbench.evaluation.analysis.compared import compare_table

WORTH = 0.05
"""The difference that `would_do` plans for."""


def row(gaps: np.ndarray, comparisons: int = 1) -> Mapping[Hashable, float | str]:
    """What is said of a strategy that differs from the baseline by so much in each session, beside
    others that differ as much.
    """
    values = {"truncate": np.zeros(len(gaps))}
    values |= {f"rival {number}": gaps for number in range(comparisons)}
    rows = []
    for strategy, of_sessions in values.items():
        for number, value in enumerate(of_sessions):
            at = {"session": f"s{number}", "strategy": strategy, "mode": "natural", "share": None}
            rows.append(at | {"metric": "recall", "value": value, "better": "higher"})
    first: Mapping[Hashable, float | str]
    first, *_ = compare_table(pd.DataFrame(rows), "recall", "truncate").to_dict("records")
    return first


def spread(sessions: int, deviation: float) -> np.ndarray:
    """Differences of this mean deviation."""
    steps = np.linspace(-1, 1, sessions)
    scaled: np.ndarray = deviation * steps / steps.std(ddof=1)
    return scaled


def would_do(effect: float, comparisons: int = 1) -> float:
    """How many sessions would show the difference worth detecting, in deviations."""
    return float(row(spread(12, WORTH / effect), comparisons)["would_do"])


def chance_to_see(difference: float, deviation: float, sessions: int, alpha: float) -> float:
    """Of a paired two-sided t test, as scipy's noncentral t has it."""
    bound = stats.t.ppf(1 - alpha / 2, sessions - 1)
    law = stats.nct(sessions - 1, difference / deviation * sqrt(sessions))
    return float(law.sf(bound) + law.cdf(-bound))


@pytest.mark.parametrize(("comparisons", "floor"), [(1, 6), (7, 9)])
def test_the_floor_is_where_a_unanimous_sign_flip_test_could_come_out(
    comparisons: int, floor: int
) -> None:
    # 2 / 2**6 = 0.03 and 2 / 2**5 = 0.06; 7 * 2 / 2**9 = 0.03 and 7 * 2 / 2**8 = 0.055
    below = row(0.5 + spread(floor - 1, 0.01), comparisons)
    assert below["verdict"] == "too few projects"
    assert f"at least {floor} would do" in str(below["why"])
    assert row(0.5 + spread(floor, 0.01), comparisons)["verdict"] == "better"


@pytest.mark.parametrize(("effect", "sessions"), [(0.2, 199), (0.5, 34), (0.8, 15), (1.0, 10)])
def test_as_many_sessions_are_needed_as_the_textbooks_say(effect: float, sessions: int) -> None:
    # Cohen's effects for a paired t test, power 0.8, 5 % two-sided, as G*Power lists them.
    assert would_do(effect) == sessions


@pytest.mark.parametrize(
    ("points", "published"), [(3, (88, 197, 546)), (5, (32, 71, 197)), (10, (8, 18, 50))]
)
def test_the_published_table_by_the_normal_law_is_met_within_the_two_that_students_takes(
    points: int, published: tuple[int, ...]
) -> None:
    for deviation, normal in zip((0.10, 0.15, 0.25), published, strict=True):
        assert 0 <= would_do(points / 100 / deviation) - normal <= 2


@pytest.mark.parametrize("comparisons", [1, 4])
@pytest.mark.parametrize("sessions", [8, 20, 60, 500])
def test_what_is_detectable_is_detected_four_times_in_five(sessions: int, comparisons: int) -> None:
    detectable = float(row(spread(sessions, 0.2), comparisons)["detectable"])
    chance = chance_to_see(detectable, 0.2, sessions, 0.05 / comparisons)
    assert chance == pytest.approx(0.8, abs=1e-7)


def test_with_the_fewest_sessions_the_wrong_side_counts_too() -> None:
    detectable = float(row(spread(6, 0.2))["detectable"])
    assert chance_to_see(detectable, 0.2, 6, 0.05) == pytest.approx(0.8, abs=1e-8)


def test_a_difference_that_hardly_varies_is_sure_to_be_seen() -> None:
    assert {would_do(effect) for effect in (5.0, 50.0, 500.0, 1e4, 1e6)} == {6}
    assert row(np.full(8, 0.25))["would_do"] == 6


def test_a_tiny_difference_cannot_be_had() -> None:
    assert pd.isna(row(spread(12, WORTH / 1e-5))["would_do"])


def test_a_family_needs_more() -> None:
    assert would_do(0.5) < would_do(0.5, comparisons=7)


@pytest.mark.parametrize("comparisons", [1, 9])
def test_fewer_sessions_would_do_the_larger_a_difference_is(comparisons: int) -> None:
    needed = [would_do(2.0**step / 64, comparisons) for step in range(0, 12, 3)]
    assert all(more >= fewer for more, fewer in pairwise(needed))
    assert needed[-1] == row(np.full(4, 0.25), comparisons)["would_do"]


@pytest.mark.parametrize("comparisons", [1, 4])
def test_the_more_sessions_there_are_the_smaller_a_difference_they_detect(comparisons: int) -> None:
    sizes = (12, 16, 100, 400)
    found = [float(row(spread(size, 1.0), comparisons)["detectable"]) for size in sizes]
    assert all(more > fewer > 0 for more, fewer in pairwise(found))
    assert found[-1] < 0.2
