import numpy as np
import pytest
from scipy import stats

from workbench.analysis.gate import non_inferiority
from workbench.analysis.paired import interval

STRAIGHT = np.array([-0.2, -0.1, 0.0, 0.1, 0.1, 0.2, 0.3, 0.4])
"""Differences without skewness, whose tests are Student's; their mean is 0.1."""


def test_without_skewness_the_p_is_students() -> None:
    known = stats.ttest_1samp(STRAIGHT, -0.05, alternative="greater").pvalue
    assert non_inferiority(STRAIGHT, 0.05) == pytest.approx(known, rel=1e-6)


def test_a_loss_beyond_the_margin_has_a_p_above_a_half() -> None:
    known = stats.ttest_1samp(STRAIGHT - 0.4, -0.2, alternative="greater").pvalue
    assert non_inferiority(STRAIGHT - 0.4, 0.2) == pytest.approx(known, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_p_is_small_exactly_where_the_shown_interval_ends_above_the_margin(seed: int) -> None:
    values = np.random.default_rng(seed).exponential(size=9) - 1
    low, _ = interval(values)
    for margin in (0.2, 0.4, 0.6, 0.8):
        assert (non_inferiority(values, margin) <= 0.025) == (float(low) > -margin)


def test_equal_sessions_prove_nothing_about_others() -> None:
    assert non_inferiority([0.0] * 8, 0.05) == 1.0
