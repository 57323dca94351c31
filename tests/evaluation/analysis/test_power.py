from itertools import pairwise

import pytest

from workbench.evaluation.analysis.power import (
    minimum_detectable,
    power,
    reporting_floor,
    sessions_needed,
)


def test_the_floor_is_where_a_unanimous_sign_flip_test_could_come_out() -> None:
    assert reporting_floor() == 6  # 2 / 2**6 = 0.03, 2 / 2**5 = 0.06
    assert reporting_floor(tests=7) == 9  # 7 * 2 / 2**9 = 0.03, 7 * 2 / 2**8 = 0.055
    assert reporting_floor(alpha=0.0625) == 5  # 2 / 2**5 is just small enough


@pytest.mark.parametrize(("effect", "sessions"), [(0.2, 199), (0.5, 34), (0.8, 15), (1.0, 10)])
def test_as_many_sessions_are_needed_as_the_textbooks_say(effect: float, sessions: int) -> None:
    # Cohen's effects for a paired t test, power 0.8, 5 % two-sided, as G*Power lists them.
    assert sessions_needed(effect, 1.0) == sessions


@pytest.mark.parametrize(
    ("points", "published"), [(3, (88, 197, 546)), (5, (32, 71, 197)), (10, (8, 18, 50))]
)
def test_the_published_table_by_the_normal_law_is_met_within_the_two_that_students_takes(
    points: int, published: tuple[int, ...]
) -> None:
    for deviation, normal in zip((0.10, 0.15, 0.25), published, strict=True):
        needed = sessions_needed(points / 100, deviation)
        assert needed is not None and 0 <= needed - normal <= 2


@pytest.mark.parametrize("sessions", [6, 8, 20, 60, 500])
def test_what_is_detectable_is_detected_four_times_in_five(sessions: int) -> None:
    assert power(minimum_detectable(0.2, sessions), 0.2, sessions) == pytest.approx(0.8)


def test_no_difference_is_found_as_often_as_alpha_says() -> None:
    assert power(0.0, 0.1, 20) == pytest.approx(0.05)


def test_a_huge_difference_is_sure_to_be_seen() -> None:
    assert power(50.0, 0.1, 9) == pytest.approx(1.0)
    assert sessions_needed(50.0, 0.1) == reporting_floor()


def test_a_tiny_difference_cannot_be_had() -> None:
    assert sessions_needed(1e-6, 0.1) is None


def test_differences_that_do_not_vary_show_all() -> None:
    assert minimum_detectable(0.0, 8) == 0.0
    assert sessions_needed(0.05, 0.0) == reporting_floor()


def test_a_family_needs_more() -> None:
    one, seven = sessions_needed(0.05, 0.1), sessions_needed(0.05, 0.1, alpha=0.05 / 7)
    assert one is not None and seven is not None and one < seven


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 30])
@pytest.mark.parametrize("sessions", [6, 8, 500, 100_000])
def test_power_only_grows_with_the_difference(sessions: int, alpha: float) -> None:
    steps = [power(2.0**step / 64, 1.0, sessions, alpha) for step in range(12)]
    assert all(0 <= one <= other + 1e-9 for one, other in pairwise(steps))
    assert steps[-1] == pytest.approx(1.0)
