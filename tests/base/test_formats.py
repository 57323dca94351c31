from typing import Any

import pytest

from workbench.base.formats import amount, count, decimal, dollars, joined, percent, some


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
    ("number", "told"),
    [(563, "563"), (5_184, "5,180"), (51_849, "51,800"), (1_234_567, "1.23 million"), (None, "–")],
)
def test_a_large_number_has_two_or_three_figures(number: Any, told: Any) -> None:
    assert amount(number) == told


def test_other_numbers_have_no_more_digits_than_mean_something() -> None:
    assert (count(3.0), count(2.666), decimal(0.8888), decimal(-0.001)) == (
        "3",
        "2.7",
        "0.89",
        "0.00",
    )


def test_words_are_put_together_as_people_do() -> None:
    assert (joined(["a"]), joined(["a", "b", "c"]), some(1, "session"), some(2, "session")) == (
        "a",
        "a, b and c",
        "1 session",
        "2 sessions",
    )


@pytest.mark.parametrize(
    ("usd", "told"),
    [
        (1_234.5, "$1,234"), (12.345, "$12.35"), (0.0421, "$0.042"), (0.0, "$0.00"), (0.0001, "< $0.001"),
        (-0.13, "−$0.13"), (-12.0, "−$12.00"), (None, "–"), (float("nan"), "–"),
    ],
)  # fmt: skip
def test_dollars_have_no_more_digits_than_mean_something(usd: float | None, told: str) -> None:
    assert dollars(usd) == told
