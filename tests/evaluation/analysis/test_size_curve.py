"""One number from recall over the size really used."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from planted_run import PlantedRun

from workbench import Findings

NONE = (None, None, None)


def area(sizes: Sequence[float], values: Sequence[float]) -> tuple[float | None, ...]:
    """The area that the headline has, and the sizes between which it is taken.

    Args:
        sizes: that a strategy really used, as shares of the history.
        values: what it tells at each of them.
    """
    rows = []
    for number, (size, value) in enumerate(zip(sizes, values, strict=True), 1):
        place = {"session": "s", "strategy": "mine", "mode": "matched", "share": number / 10}
        rows.append(place | {"metric": "exam_recall", "value": value, "better": "higher"})
        rows.append(place | {"metric": "tokens_kept", "value": size, "better": "lower"})
    run = PlantedRun({}, {"scores": rows, "replays": [{"session": "s", "strategy": "mine"}]})
    (line,) = Findings.of(run).figures.headline.to_dict("records")
    return line["area"], line["area_from"], line["area_to"]


def test_a_straight_line_has_the_mean_of_its_ends() -> None:
    assert area((0.05, 0.3), (0.2, 0.6)) == pytest.approx((0.4, 0.05, 0.3))


def test_points_outside_the_range_count_as_far_as_the_line_to_them_runs_inside() -> None:
    by_hand = (0.05 * (0.25 + 0.5) / 2 + 0.2 * (0.5 + 0.7) / 2) / 0.25
    mean, start, end = area((0.5, 0.1, 0.0), (0.9, 0.5, 0.0))
    assert mean == pytest.approx(by_hand)
    assert (start, end) == (0.05, 0.3)


def test_nothing_is_extrapolated_and_the_range_is_said() -> None:
    assert area((0.1, 0.2), (0.4, 0.6)) == pytest.approx((0.5, 0.1, 0.2))


def test_one_point_or_points_beyond_the_range_have_no_area() -> None:
    assert area((0.2,), (0.5,)) == NONE
    assert area((0.4, 0.5), (0.5, 0.6)) == NONE
