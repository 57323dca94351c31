from typing import Any

import pytest

from workbench.report.digits import amount, count, listed, percent, scale, some


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.444, "44 %"),
        (0, "0 %"),
        (1, "100 %"),
        (0.004, "0.4 %"),
        (-0.001, "-0.1 %"),
        (0.0002, "< 0.1 %"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_a_share_is_whole_percent(share: Any, told: Any) -> None:
    assert percent(share) == told


@pytest.mark.parametrize(
    ("number", "told"), [(563, "563"), (5_184, "5,180"), (51_849, "51,800"), (1_234_567, "1.23 million"), (None, "–")]
)
def test_a_large_number_has_two_or_three_figures(number: Any, told: Any) -> None:
    assert amount(number) == told


def test_other_numbers_have_no_more_digits_than_mean_something() -> None:
    assert (count(3.0), count(2.666), scale(0.8888), scale(-0.001)) == ("3", "2.7", "0.89", "0.00")


def test_words_are_put_together_as_people_do() -> None:
    assert (listed(["a"]), listed(["a", "b", "c"]), some(1, "session"), some(2, "session")) == (
        "a",
        "a, b and c",
        "1 session",
        "2 sessions",
    )
