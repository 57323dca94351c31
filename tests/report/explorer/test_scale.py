"""The scale of a picture of requests and their tokens."""

import pytest

from workbench.report.explorer.scale import Scale


@pytest.mark.parametrize("top", [900, 45_000, 990_000, 1_060_000, 3_400_000])
def test_a_picture_of_any_size_has_up_to_six_ticks_from_nothing_to_near_its_top(top: int) -> None:
    ticks = Scale(last_request=10, top=top, height=230).ticks()
    assert ticks[0] == (204.0, "0k")
    assert len(ticks) <= 6
    assert top < 1_000 or len(ticks) >= 3


def test_ticks_are_told_in_thousands_of_tokens() -> None:
    ticks = Scale(last_request=10, top=1_060_000, height=230).ticks()
    assert [words for _, words in ticks] == ["0k", "500k", "1,000k"]


def test_a_line_goes_from_the_left_edge_to_the_right_one() -> None:
    scale = Scale(last_request=10, top=100, height=230)
    assert scale.corners([(0, 0), (10, 100)]) == ["62.0,204.0", "988.0,14.0"]
