from workbench.analysis.bootstrap import FEWEST, estimate


def test_few_sessions_have_a_mean_and_no_interval() -> None:
    found = estimate([0.2, 0.4])
    assert found is not None
    assert (round(found.mean, 6), found.n, found.low, found.high, found.sure) == (0.3, 2, None, None, False)


def test_no_session_has_no_estimate() -> None:
    assert estimate([]) is None


def test_the_interval_holds_the_mean_and_is_the_same_twice() -> None:
    values = [0.1, 0.5, 0.4, 0.9, 0.3, 0.6]
    found = estimate(values)
    assert found is not None and found.low is not None and found.high is not None
    assert found.low < found.mean < found.high
    assert found == estimate(values)


def test_equal_sessions_leave_no_doubt() -> None:
    found = estimate([0.5] * FEWEST)
    assert found is not None and (found.low, found.high) == (0.5, 0.5)
