from collections.abc import Hashable, Sequence
from math import log

import numpy as np
import pandas as pd
import pytest
from planted_run import PlantedRun
from scipy import stats

from workbench import Report
from workbench.evaluation.analysis.survival import survival


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


def half_life(*rounds: tuple[int, int]) -> str:
    """What the report says of the half-life where so many were at risk in each round, and lost."""
    rows = []
    for number, (at_risk, gone) in enumerate(rounds, start=1):
        row = {"session": "s", "strategy": "mine", "kind": "path", "round": number}
        rows.append(row | {"at_risk": at_risk, "lost": gone})
    replays = [{"session": "s", "strategy": "mine", "status": "ok"}]
    return Report(PlantedRun({}, {"survival": rows, "replays": replays})).half_lives.html


def test_a_constant_rate_of_loss_has_the_half_life_of_its_law() -> None:
    # a fifth of 1000, then of 800, of 640, of 512
    rounds = [(1000, 200), (800, 160), (640, 128), (512, 102)]
    assert "mine more than 3 compactions (51 % are left then)" in half_life(*rounds[:3])
    assert round(log(0.5) / log(0.8), 1) == 3.1
    assert "mine 3.1 compactions" in half_life(*rounds)


def test_exactly_half_is_a_half_life() -> None:
    assert "mine 1.0 compactions" in half_life((2, 1), (1, 0))


def test_a_round_that_loses_all_ends_the_life_there() -> None:
    assert "mine 1.0 compactions" in half_life((3, 3))


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
    assert found.empty
    assert half_life() == ""
