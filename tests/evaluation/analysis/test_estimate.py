import numpy as np
import pytest

from workbench.evaluation.analysis.paired import estimate, interval


def test_few_sessions_have_a_mean_and_no_interval() -> None:
    found = estimate([0.2, 0.4, 0.1, 0.3, 0.5])
    assert found is not None
    assert (round(found.mean, 6), found.n, found.low, found.high) == (0.3, 5, None, None)


def test_no_session_has_no_estimate() -> None:
    assert estimate([]) is None


def test_the_interval_is_the_skew_corrected_one() -> None:
    values = [0.1, 0.5, 0.4, 0.9, 0.3, 0.6]
    found = estimate(values)
    assert found is not None and (found.low, found.high) == tuple(map(float, interval(values)))


def test_a_share_is_never_said_to_reach_beyond_one() -> None:
    found = estimate([1.0, 1.0, 1.0, 0.7, 1.0, 0.9], least=0, most=1)
    assert found is not None and found.high == 1.0 and found.low is not None and 0 < found.low < 0.9


def test_equal_sessions_say_nothing_of_others() -> None:
    found = estimate([0.5] * 9)
    assert found is not None and found.low is None and found.n == 9


@pytest.mark.parametrize("n", (8, 20))
def test_the_interval_is_wider_than_a_percentile_bootstraps(n: int) -> None:
    """Which holds the truth in 85 to 90 % of samples of 8 where it says 95."""
    values = np.random.default_rng(n).normal(0.5, 0.1, n)
    drawn = np.random.default_rng(1).choice(values, size=(4_000, n)).mean(axis=1)
    found = estimate(values.tolist())
    assert found is not None and found.low is not None and found.low < np.percentile(drawn, 2.5)
