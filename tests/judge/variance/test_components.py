import numpy as np
import pytest
from benchmarks.bench_variance import effects_of, found, found_nested

from workbench.judge.variance.components import RESIDUAL, advice, components

PLANTED = {"session": 0.04, "summariser": 0.01, "reader": 0.0025, "judge": 0.0, RESIDUAL: 0.02}


def test_planted_components_are_found_without_bias_and_lie_in_their_intervals() -> None:
    drawn = [effects_of(PLANTED, np.random.default_rng(seed)) for seed in range(60)]
    every = [found(PLANTED, seed) for seed in range(60)]
    for name, value in PLANTED.items():
        parts = [part for one in every if (part := one[name].variance) is not None]
        truth = value if name == RESIDUAL else np.mean([one[name].var(ddof=1) for one in drawn])
        assert np.mean([part.value for part in parts]) == pytest.approx(truth, rel=0.06, abs=0.0001), name
        assert sum(part.low <= value <= part.high for part in parts) >= 0.87 * 60, name


def test_the_shares_of_all_sources_are_the_whole() -> None:
    every = found(PLANTED, 3).values()
    assert sum(one.share or 0.0 for one in every) == pytest.approx(1.0)
    assert sum(one.of_mean or 0.0 for one in every) == pytest.approx(1.0)
    assert all(
        one.variance is not None and one.variance.low <= one.variance.value <= one.variance.high for one in every
    )


def test_a_factor_with_one_level_gives_the_reason_and_no_number() -> None:
    session = [i // 4 for i in range(40)]
    by = {one.factor: one for one in components(np.arange(40) % 7, {"session": session, "reader": ["one"] * 40})}
    assert by["reader"].variance is None and "nothing to compare" in by["reader"].why
    assert by["session"].variance is not None


def test_the_next_dollar_goes_where_the_mean_is_uncertain() -> None:
    rng = np.random.default_rng(2)
    reader = [i % 3 for i in range(120)]
    values = [0.5 * one + rng.normal(0, 0.05) for one in reader]
    session = [i // 6 for i in range(120)]
    assert "More readers" in advice(components(values, {"session": session, "reader": reader}))
    assert "do not vary" in advice(components([0.5] * 12, {"session": [i // 3 for i in range(12)]}))


def test_a_factor_of_another_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="'session'"):
        components([1.0, 2.0, 3.0], {"session": [1, 2]})


NESTED = {"session": 0.01, "question": 0.04, "reader": 0.0025, RESIDUAL: 0.02}


def test_questions_within_sessions_are_told_from_sessions_and_from_repetition() -> None:
    every = [found_nested(NESTED, seed) for seed in range(80)]
    for name, value in NESTED.items():
        parts = [part for one in every if (part := one[name].variance) is not None]
        error = 3 * np.std([part.value for part in parts]) / np.sqrt(len(parts))
        assert np.mean([part.value for part in parts]) == pytest.approx(value, abs=error), name
        assert sum(part.low <= value <= part.high for part in parts) >= 0.87 * 80, name


def test_questions_that_were_put_once_are_in_the_rest_and_the_advice_says_so() -> None:
    rng = np.random.default_rng(4)
    levels = {"session": [i // 10 for i in range(80)], "question": list(range(80))}
    every = components(rng.normal(0, 1, 80), levels, nested="question", inside="session")
    by = {one.factor: one for one in every}
    assert by["question"].variance is None and by["session"].variance is not None
    assert "More questions or replicates" in advice(every)


def test_a_factor_whose_levels_go_with_anothers_has_a_reason_and_the_others_their_numbers() -> None:
    rng = np.random.default_rng(5)
    session = [i // 10 for i in range(80)]
    by = {one.factor: one for one in components(rng.normal(0, 1, 80), {"session": session, "twin": session})}
    assert by["twin"].variance is None and "go with those of another" in by["twin"].why
    assert by[RESIDUAL].variance is not None and by[RESIDUAL].variance.value == pytest.approx(1.0, rel=0.4)
