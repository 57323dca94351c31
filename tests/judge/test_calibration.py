import numpy as np
import pytest
from benchmarks.bench_judge import coverage, once

from workbench.judge.calibration import Labels, calibrate, corrected, design_effect


def test_without_labels_there_is_no_number_but_the_reason() -> None:
    found = corrected([30], [50], None)
    assert found.share is None and "not calibrated" in found.why
    few = corrected([30], [50], Labels(9, 0, 0, 40))
    assert few.share is None and "not calibrated" in few.why


def test_a_judge_no_better_than_chance_gives_no_number() -> None:
    found = corrected([30], [50], Labels(13, 12, 13, 12))
    assert found.share is None and "chance" in found.why


def test_a_faultless_judge_is_believed() -> None:
    found = corrected([600], [1000], Labels(500, 0, 0, 500))
    assert found.share is not None and found.share.value == pytest.approx(0.6, abs=0.01)
    assert found.share.low < 0.6 < found.share.high


def test_a_lenient_judge_is_corrected_downwards() -> None:
    labels = Labels(100, 40, 0, 60)  # it calls 40 of 100 wrong answers right
    found = corrected([700], [1000], labels)
    assert found.judged == 0.7
    assert found.share is not None and found.share.value == pytest.approx(0.5, abs=0.02)


def test_labels_chosen_by_verdict_are_weighed_by_how_often_the_verdict_is_given() -> None:
    plain, weighed = Labels(24, 1, 5, 20), Labels(24, 1, 5, 20, (20, 180))
    one, other = calibrate(plain), calibrate(weighed)
    assert one is not None and other is not None
    # wrong verdicts are nine times as frequent as right ones, so what is right and called wrong weighs more
    assert other.sensitivity.value < 0.4 < one.sensitivity.value


def test_planted_errors_are_corrected_to_within_the_interval() -> None:
    held, bias, silent = coverage(0.6, 0.5, 0.9, 0.85, 200)
    assert held >= 0.93 and abs(bias) < 0.02 and silent == 0


def test_the_judges_own_share_is_far_from_the_truth_where_the_corrected_one_is_not() -> None:
    found = [once(0.2, 0.5, 0.9, 0.7, seed) for seed in range(20)]
    assert sum(one.judged for one in found) / 20 > 0.35
    assert abs(sum(one.share.value for one in found if one.share) / 20 - 0.2) < 0.06


def test_sessions_that_differ_make_the_interval_wider() -> None:
    labels = Labels(50, 2, 2, 50)
    same, apart = corrected([10] * 10, [20] * 10, labels), corrected([20, 0] * 5, [20] * 10, labels)
    assert same.share is not None and apart.share is not None
    assert apart.share.high - apart.share.low > 1.5 * (same.share.high - same.share.low)
    assert design_effect(np.array([10.0] * 10), np.array([20.0] * 10)) == 1.0
