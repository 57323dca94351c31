from collections.abc import Hashable, Sequence
from math import log

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workbench.evaluation.analysis.survival import half_life, survival


def survived(
    rounds: Sequence[int], lost: Sequence[bool], sessions: Sequence[Hashable]
) -> pd.DataFrame:
    """The curve of entities that each lived so many rounds and were lost then, or not."""
    names = list(dict.fromkeys(sessions))
    risk, gone = np.zeros((2, len(names), max(rounds, default=0)))
    for last, was_lost, name in zip(rounds, lost, sessions, strict=True):
        risk[names.index(name), :last] += 1
        gone[names.index(name), last - 1] += was_lost
    return survival(risk, gone)


def test_the_curve_by_hand() -> None:
    # 5 at risk, 1 lost: 4/5; one leaves; 3 at risk, 2 lost: 4/5 * 1/3
    found = survived([1, 1, 2, 2, 3], [True, False, True, True, False], ["s"] * 5)
    assert found[["round", "at_risk", "lost"]].to_numpy().tolist() == [
        [1, 5, 1],
        [2, 3, 2],
        [3, 1, 0],
    ]
    assert found["surviving"].tolist() == pytest.approx([0.8, 0.8 / 3, 0.8 / 3])


def test_the_curve_is_scipys() -> None:
    rng = np.random.default_rng(8)
    rounds, lost = rng.integers(1, 9, 200), rng.random(200) < 0.7
    found = survived(rounds.tolist(), lost.tolist(), [f"s{n % 10}" for n in range(200)])
    known = stats.ecdf(stats.CensoredData.right_censored(rounds, ~lost)).sf
    at = {int(q): p for q, p in zip(known.quantiles, known.probabilities, strict=True)}
    assert found[found["round"].isin(at)]["surviving"].tolist() == pytest.approx(list(at.values()))


def test_a_constant_rate_of_loss_has_the_half_life_of_its_law() -> None:
    rounds, lost = [], []
    # a fifth of 1000, then of 800, of 640
    for number, count in enumerate((200, 160, 128), start=1):
        rounds += [number] * count
        lost += [True] * count
    rounds += [3] * 512
    lost += [False] * 512
    assert half_life(survived(rounds, lost, ["s"] * 1000)) is None
    rounds, lost = [1] * 200 + [2] * 160 + [3] * 128 + [4] * 512, [True] * 488 + [False] * 512
    lost[488:590] = [True] * 102
    assert half_life(survived(rounds, lost, ["s"] * 1000)) == pytest.approx(
        log(0.5) / log(0.8), abs=0.01
    )


def test_exactly_half_is_a_half_life() -> None:
    found = survived([1, 2], [True, False], ["a", "b"])
    assert half_life(found) == 1.0


def test_a_round_that_loses_all_ends_the_life_there() -> None:
    found = survived([1, 1, 1], [True, True, True], ["a", "b", "c"])
    assert half_life(found) == 1.0


def test_few_sessions_have_a_curve_and_no_interval_however_many_entities_they_hold() -> None:
    found = survived([1, 2] * 500, [True, False] * 500, ["a"] * 1000)
    assert len(found) == 2 and found[["low", "high"]].isna().all(axis=None)


def test_the_interval_counts_sessions_not_entities() -> None:
    rng = np.random.default_rng(5)
    rates = rng.beta(2, 2, 12)
    rounds = [min(4, int(rng.geometric(rate))) for rate in rates for _ in range(50)]
    lost = [one < 4 for one in rounds]
    of = [n // 50 for n in range(600)]
    clustered = survived(rounds, lost, of).iloc[0]
    alone = survived(rounds, lost, range(600)).iloc[0]
    assert clustered.low < clustered.surviving < clustered.high
    assert clustered.high - clustered.low > 3 * (alone.high - alone.low)


def test_no_entities_have_no_curve() -> None:
    found = survived([], [], [])
    assert found.empty and half_life(found) is None
