from math import log

import numpy as np
import pytest
from scipy import stats

from workbench.analysis.survival import survival, survival_of


def test_the_curve_by_hand() -> None:
    # 5 at risk, 1 lost: 4/5; one leaves; 3 at risk, 2 lost: 4/5 * 1/3
    found = survival([1, 1, 2, 2, 3], [True, False, True, True, False], ["s"] * 5)
    assert [(one.number, one.at_risk, one.lost) for one in found.rounds] == [(1, 5, 1), (2, 3, 2), (3, 1, 0)]
    assert [one.surviving for one in found.rounds] == pytest.approx([0.8, 0.8 / 3, 0.8 / 3])
    assert found.cliff == 2


def test_the_curve_is_scipys() -> None:
    rng = np.random.default_rng(8)
    rounds, lost = rng.integers(1, 9, 200), rng.random(200) < 0.7
    found = survival(rounds.tolist(), lost.tolist(), [f"s{n % 10}" for n in range(200)])
    known = stats.ecdf(stats.CensoredData.right_censored(rounds, ~lost)).sf
    at = {int(q): p for q, p in zip(known.quantiles, known.probabilities, strict=True)}
    assert [one.surviving for one in found.rounds if one.number in at] == pytest.approx(list(at.values()))


def test_a_constant_rate_of_loss_has_the_half_life_of_its_law() -> None:
    rounds, lost = [], []
    for number, count in enumerate((200, 160, 128), start=1):  # a fifth of 1000, then of 800, of 640
        rounds += [number] * count
        lost += [True] * count
    rounds += [3] * 512
    lost += [False] * 512
    assert survival(rounds, lost, ["s"] * 1000).half_life is None
    rounds, lost = [1] * 200 + [2] * 160 + [3] * 128 + [4] * 512, [True] * 488 + [False] * 512
    lost[488:590] = [True] * 102
    found = survival(rounds, lost, ["s"] * 1000)
    assert found.half_life is not None
    assert found.half_life == pytest.approx(log(0.5) / log(0.8), abs=0.01)
    assert found.cliff == 4


def test_exactly_half_is_a_half_life_and_no_cliff_yet() -> None:
    found = survival([1, 2], [True, False], ["a", "b"])
    assert (found.half_life, found.cliff) == (1.0, None)


def test_a_round_that_loses_all_ends_the_life_there() -> None:
    found = survival([1, 1, 1], [True, True, True], ["a", "b", "c"])
    assert (found.half_life, found.cliff) == (1.0, 1)


def test_few_sessions_have_a_curve_and_no_interval_however_many_entities_they_hold() -> None:
    found = survival([1, 2] * 500, [True, False] * 500, ["a"] * 1000)
    assert found.sessions == 1
    assert [(one.low, one.high) for one in found.rounds] == [(None, None)] * 2


def test_the_interval_counts_sessions_not_entities() -> None:
    rng = np.random.default_rng(5)
    rates = rng.beta(2, 2, 12)
    rounds = [min(4, int(rng.geometric(rate))) for rate in rates for _ in range(50)]
    lost = [one < 4 for one in rounds]
    of = [n // 50 for n in range(600)]
    clustered = survival(rounds, lost, of).rounds[0]
    alone = survival(rounds, lost, range(600)).rounds[0]
    assert clustered.low is not None and clustered.high is not None and alone.low is not None and alone.high is not None
    assert clustered.low < clustered.surviving < clustered.high
    assert clustered.high - clustered.low > 3 * (alone.high - alone.low)


def test_no_entities_have_no_curve() -> None:
    found = survival([], [], [])
    assert (found.rounds, found.sessions, found.cliff, found.half_life) == ((), 0, None, None)


def test_columns_of_different_length_and_rounds_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="one each an entity"):
        survival([1], [], [])
    with pytest.raises(ValueError, match="round 0"):
        survival([0], [True], ["a"])


def test_counts_give_the_same_curve_as_single_entities() -> None:
    rounds, lost, sessions = [1, 2, 2, 1, 3, 2], [True, True, False, True, True, False], ["a", "a", "a", "b", "b", "b"]
    risk, gone = np.zeros((2, 5)), np.zeros((2, 5))
    for end, was_lost, name in zip(rounds, lost, sessions, strict=True):
        risk["ab".index(name), :end] += 1
        gone["ab".index(name), end - 1] += was_lost
    assert survival_of(risk, gone) == survival(rounds, lost, sessions)
    assert survival_of(np.zeros((3, 2)), np.zeros((3, 2))).rounds == ()
