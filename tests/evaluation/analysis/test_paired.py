from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workbench.evaluation.analysis.compared import compare_table
from workbench.evaluation.analysis.paired import interval, sign_flip


def scores(values: Mapping[str, Mapping[str, float | None]]) -> pd.DataFrame:
    """A table of scores: by strategy the value of each session."""
    rows = []
    for strategy, by_session in values.items():
        for session, value in by_session.items():
            row: dict[str, object] = {
                "session": session,
                "strategy": strategy,
                "mode": "natural",
                "share": None,
            }
            rows.append(row | {"metric": "recall", "value": value, "better": "higher"})
    return pd.DataFrame(rows).astype({"value": "Float64"})


def test_values_are_paired_by_session_and_a_missing_one_is_not_taken_for_zero() -> None:
    mine = {"a": 0.5, "b": None, "c": 0.9, "d": 0.2}
    reference = {"a": 0.25, "b": 0.5, "c": None, "e": 1.0}
    (row,) = compare_table(
        scores({"mine": mine, "truncate": reference}), "recall", "truncate"
    ).to_dict("records")
    assert (row["sessions"], row["mean"], row["difference"]) == (1, 0.5, 0.25)


def test_a_tie_is_a_tie_whatever_order_its_parts_were_added_in() -> None:
    table = scores({"mine": {"a": 0.1 + 0.2, "b": 0.4}, "truncate": {"a": 0.3, "b": 0.3}})
    (row,) = compare_table(table, "recall", "truncate").to_dict("records")
    assert (row["tied"], row["ahead"], row["behind"]) == (1, 1, 0)


def test_without_skewness_the_interval_is_students() -> None:
    values = [-0.2, -0.1, 0.0, 0.1, 0.1, 0.2, 0.3, 0.4]
    assert abs(float(stats.skew(values))) < 1e-9
    low, high = interval(values)
    known = stats.ttest_1samp(values, 0).confidence_interval()
    assert (float(low), float(high)) == pytest.approx((known.low, known.high))


def test_the_end_on_the_long_side_moves_out_by_half_of_halls_correction() -> None:
    values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.8]
    # by hand: the skewness of 1 among 8 is sqrt(8)
    mean, deviation, n, skew = 0.1, 0.8 / np.sqrt(8), 8, np.sqrt(8)
    reach = stats.t.ppf(0.975, 7) / np.sqrt(n)
    root = np.cbrt(1 + skew * (-reach - skew / (6 * n)))
    hall = mean - deviation * 3 * (root - 1) / skew
    student = mean + reach * deviation
    assert float(interval(values)[1]) == pytest.approx((student + hall) / 2)


def test_the_interval_mirrors_its_sample() -> None:
    values = np.random.default_rng(3).exponential(size=12)
    low, high = interval(values)
    mirrored = interval(-values)
    assert (float(mirrored[0]), float(mirrored[1])) == pytest.approx((-float(high), -float(low)))


def test_equal_differences_leave_no_width() -> None:
    low, high = interval([0.3] * 8)
    assert (float(low), float(high)) == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize("sessions", [8, 20, 60])
@pytest.mark.parametrize("shape", ["normal", "skewed", "bounded", "ties"])
def test_the_interval_holds_the_true_mean_as_often_as_it_says(shape: str, sessions: int) -> None:
    rng, size = np.random.default_rng(7), (6_000, sessions)
    values, mean = {
        "normal": (rng.normal(0.05, 0.1, size), 0.05),
        "skewed": (rng.gamma(2, 0.05, size), 0.1),
        "bounded": (rng.beta(20, 1, size) - rng.beta(9, 1.5, size), 20 / 21 - 9 / 10.5),
        "ties": (rng.choice([-0.5, 0.0, 0.5], p=[0.15, 0.5, 0.35], size=size), 0.1),
    }[shape]
    low, high = interval(values)
    shown = high - low > 1e-12
    assert 0.93 <= ((low <= mean) & (mean <= high))[shown].mean() <= 0.97


def test_sign_flips_by_hand() -> None:
    # Of the 8 sums of +-1 +-2 +-3 four are at least 4 from zero: 6, 4 and their mirrors.
    assert float(sign_flip([1.0, 2.0, -3.0 + 4.0])) == pytest.approx(0.5 / 2)
    assert float(sign_flip([1.0, -2.0, -3.0])) == pytest.approx(4 / 8)


def test_sign_flips_are_scipys_permutation_test() -> None:
    values = np.random.default_rng(5).normal(0.5, 1, 9)
    known = stats.permutation_test(
        (values, np.zeros(9)),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
    )
    assert float(sign_flip(values)) == pytest.approx(known.pvalue)


def test_with_few_sessions_that_all_agree_the_p_is_a_power_of_two() -> None:
    # evaluators that see four wins of four cannot go below 1/8 two-sided, whatever their size
    assert [float(sign_flip(range(1, n + 1))) for n in (4, 5, 6)] == pytest.approx(
        [1 / 8, 1 / 16, 1 / 32]
    )


def test_all_ties_prove_nothing() -> None:
    assert float(sign_flip([0.0] * 7)) == 1.0
    assert float(sign_flip([0.0] * 40)) == 1.0


def test_many_sessions_are_drawn_the_same_for_a_seed_and_come_near_the_exact_p() -> None:
    values = np.random.default_rng(11).normal(0.3, 1, 16)
    signs = np.array(list(product([1.0, -1.0], repeat=len(values) - 1)))
    sums = np.abs(values[0] + signs @ values[1:])
    exact = float((sums >= abs(values.sum()) - 1e-9).mean())
    found = float(sign_flip(values))
    assert found == float(sign_flip(values))
    assert found != exact
    assert found == pytest.approx(exact, abs=0.015)
    assert found != float(sign_flip(values, seed=21))


def test_many_samples_at_once_give_what_each_gives() -> None:
    values = np.random.default_rng(2).normal(0.2, 1, (3, 8))
    assert sign_flip(values).tolist() == [float(sign_flip(one)) for one in values]
    low, _ = interval(values)
    assert low.tolist() == pytest.approx([float(interval(one)[0]) for one in values])


def chances(*gains: Sequence[float]) -> list[tuple[float, float]]:
    """The chance of each strategy, ahead of the baseline by so much in each session, alone and
    as one of all; the smallest first.
    """
    values = {f"rival {number}": by_session(gain) for number, gain in enumerate(gains)}
    table = compare_table(
        scores(values | {"truncate": by_session([0.0] * 12)}), "recall", "truncate"
    )
    pairs = zip(table["p"].astype(float), table["p_holm"].astype(float), strict=True)
    return sorted(pairs)


def by_session(values: Sequence[float]) -> dict[str, float | None]:
    return {f"s{number:02}": value for number, value in enumerate(values)}


def agreeing(count: int) -> list[float]:
    """Gains of twelve sessions that go one way in all but some of the last."""
    return [1.0] * count + [-1.0] * (12 - count)


def test_holm_by_hand_with_a_test_that_was_not_made() -> None:
    (first, mine), (second, yours), (third, theirs), untested = chances(
        agreeing(12), agreeing(10), agreeing(11), [0.1, 0.2]
    )
    assert (mine, yours, theirs) == pytest.approx((3 * first, 2 * second, third))
    assert np.isnan(untested).all()


def test_a_later_chance_of_a_family_is_no_smaller_than_an_earlier_one() -> None:
    (first, mine), (second, yours) = chances(agreeing(11), agreeing(11))
    assert first == second
    assert mine == yours == pytest.approx(2 * first)


def test_a_chance_of_a_family_is_at_most_one() -> None:
    assert [of_all for _, of_all in chances(agreeing(6), agreeing(7))] == [1.0, 1.0]
