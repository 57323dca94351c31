"""One number from recall over the size really used."""

from __future__ import annotations

import pytest

from workbench.evaluation.analysis.equal_size import curve_area


def test_a_straight_line_has_the_mean_of_its_ends() -> None:
    found = curve_area((0.05, 0.3), (0.2, 0.6))
    assert found is not None and found == pytest.approx((0.4, 0.05, 0.3))


def test_points_outside_the_range_count_as_far_as_the_line_to_them_runs_inside() -> None:
    found = curve_area((0.5, 0.1, 0.0), (0.9, 0.5, 0.0))
    assert found is not None and (found.start, found.end) == (0.05, 0.3)
    by_hand = (0.05 * (0.25 + 0.5) / 2 + 0.2 * (0.5 + 0.7) / 2) / 0.25
    assert found.mean == pytest.approx(by_hand)


def test_nothing_is_extrapolated_and_the_range_is_said() -> None:
    found = curve_area((0.1, 0.2), (0.4, 0.6))
    assert found is not None and found == pytest.approx((0.5, 0.1, 0.2))


def test_one_point_or_points_beyond_the_range_have_no_area() -> None:
    assert curve_area((0.2,), (0.5,)) is None
    assert curve_area((0.4, 0.5), (0.5, 0.6)) is None
    assert curve_area((), ()) is None
