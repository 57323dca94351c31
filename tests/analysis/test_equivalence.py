import numpy as np
import pytest
from scipy import stats

from workbench.analysis.equivalence import not_worse, same
from workbench.analysis.paired import interval

STRAIGHT = np.array([-0.2, -0.1, 0.0, 0.1, 0.1, 0.2, 0.3, 0.4])
"""Differences without skewness, whose tests are Student's; their mean is 0.1."""


def test_without_skewness_the_p_is_students() -> None:
    known = stats.ttest_1samp(STRAIGHT, -0.05, alternative="greater").pvalue
    assert not_worse(STRAIGHT, 0.05).p == pytest.approx(known, rel=1e-6)


def test_tost_takes_the_worse_of_the_two_sides() -> None:
    known = stats.ttest_1samp(STRAIGHT, 0.25, alternative="less").pvalue
    assert same(STRAIGHT, 0.25).p == pytest.approx(known, rel=1e-6)


def test_a_loss_beyond_the_margin_has_a_p_above_a_half() -> None:
    known = stats.ttest_1samp(STRAIGHT - 0.4, -0.2, alternative="greater").pvalue
    assert not_worse(STRAIGHT - 0.4, 0.2).p == pytest.approx(known, rel=1e-6)


def test_lower_is_better_turns_the_side() -> None:
    assert not_worse(-STRAIGHT, 0.05, better="lower").p == pytest.approx(not_worse(STRAIGHT, 0.05).p)


@pytest.mark.parametrize("seed", range(6))
def test_not_worse_holds_exactly_where_the_shown_interval_ends_above_the_margin(seed: int) -> None:
    values = np.random.default_rng(seed).exponential(size=9) - 1
    low, high = interval(values)
    for margin in (0.2, 0.4, 0.6, 0.8):
        assert not_worse(values, margin).holds == (float(low) > -margin)
        assert same(values, margin).holds == (float(low) > -margin and float(high) < margin)


def test_equal_sessions_prove_nothing_about_others() -> None:
    assert not not_worse([0.0] * 8, 0.05).holds


@pytest.mark.parametrize("margin", [0.0, -0.1, float("nan")])
def test_a_margin_must_allow_some_loss(margin: float) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        same(STRAIGHT, margin)
