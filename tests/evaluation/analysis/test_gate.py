"""A gate lets through what is not worse, stops what may be, and says where it cannot tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from workbench import SettingError, UnknownName
from workbench.evaluation.analysis.gate import Gate, gate, outcome


def scores(
    values: Sequence[float | None], strategy: str = "mine", better: str = "higher"
) -> pd.DataFrame:
    rows = [
        {
            "session": f"s{i}",
            "strategy": strategy,
            "mode": "natural",
            "share": None,
            "metric": "exam_recall",
            "value": value,
            "better": better,
        }
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows).astype({"value": "Float64", "share": "Float64"})


OLD = [0.50, 0.62, 0.71, 0.44, 0.58, 0.66, 0.49, 0.73]
ASKED = Gate("exam_recall", 0.05)


def moved(*by: float) -> list[float]:
    return [round(value + by[i % len(by)], 6) for i, value in enumerate(OLD)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (OLD, "passed"),
        (moved(0.01, 0.02), "passed"),
        (moved(-0.01, 0.0), "passed"),
        (moved(-0.10, -0.09), "failed"),
        (moved(-0.20, 0.18), "failed"),
        (moved(-0.06), "failed"),
        (moved(-0.04), "passed"),
    ],
)
def test_a_loss_within_the_margin_passes_and_what_may_be_more_does_not(
    values: list[float], expected: str
) -> None:
    assert outcome(gate(scores(values), scores(OLD), ASKED)) == expected


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize("seed", range(6))
def test_a_loss_passes_exactly_where_the_shown_interval_ends_within_the_margin(
    seed: int, better: str
) -> None:
    gaps = np.random.default_rng(seed).exponential(size=8) - 1
    for margin in (0.2, 0.4, 0.6, 0.8):
        new = scores([value + gap for value, gap in zip(OLD, gaps, strict=True)], better=better)
        gate_result = gate(new, scores(OLD, better=better), Gate("exam_recall", margin))[0]
        assert gate_result.low is not None and gate_result.high is not None
        inside = gate_result.low > -margin if better == "higher" else gate_result.high < margin
        assert (gate_result.outcome == "passed") == inside


def test_where_lower_is_better_a_gain_is_a_loss() -> None:
    up = scores(moved(0.10, 0.11), better="lower")
    assert outcome(gate(up, scores(OLD, better="lower"), ASKED)) == "failed"


def test_too_few_sessions_are_undecided_but_equal_ones_pass() -> None:
    verdict = gate(scores(moved(-0.01)[:3]), scores(OLD[:3]), ASKED)[0]
    assert verdict.outcome == "undecided" and "at least 6" in verdict.why
    assert gate(scores(OLD[:3]), scores(OLD[:3]), ASKED)[0].outcome == "passed"


@pytest.mark.parametrize(("lost", "expected"), [(0.04, "passed"), (0.06, "failed")])
def test_each_session_may_be_judged_by_itself(lost: float, expected: str) -> None:
    new = [OLD[0] - lost, *(value + 0.3 for value in OLD[1:3])]
    verdict = gate(scores(new), scores(OLD[:3]), Gate("exam_recall", 0.05, each=True))[0]
    assert (verdict.outcome, verdict.worst) == (expected, "s0")


def test_a_session_that_has_no_value_any_more_fails() -> None:
    verdict = gate(scores([None, *OLD[1:]]), scores(OLD), ASKED)[0]
    assert verdict.outcome == "failed" and "s0" in verdict.why
    assert gate(scores(OLD), scores([None, *OLD[1:]]), ASKED)[0].outcome == "passed"


def test_one_strategy_may_be_held_against_another_of_the_same_run() -> None:
    run = pd.concat([scores(OLD, "truncate"), scores(moved(0.1, 0.12), "mine")])
    verdict = gate(run, run, ASKED, {"mine": "truncate"})[0]
    assert verdict.outcome == "passed" and verdict.against == "truncate"
    assert outcome(gate(run, run, ASKED, {"truncate": "mine"})) == "failed"


def test_unknown_names_are_told_with_those_that_are_known() -> None:
    with pytest.raises(UnknownName, match="known are exam_recall"):
        gate(scores(OLD), scores(OLD), Gate("nonsense", 0.05))
    with pytest.raises(UnknownName, match="known are mine"):
        gate(scores(OLD), scores(OLD), ASKED, {"yours": "mine"})
    with pytest.raises(SettingError, match="above 0"):
        Gate("exam_recall", 0.0)


def test_the_arms_are_not_judged_unless_they_are_named() -> None:
    run = pd.concat([scores(OLD, "null"), scores(OLD, "mine")])
    assert [verdict.strategy for verdict in gate(run, run, ASKED)] == ["mine"]


def test_runs_that_compacted_nothing_pass_and_say_that_nothing_was_tested() -> None:
    unscored = scores([None] * 3)
    compactions = unscored.assign(metric="compactions", value=pd.array([0.0] * 3, dtype="Float64"))
    gate_result = gate(
        pd.concat([unscored, compactions]), pd.concat([unscored, compactions]), ASKED
    )[0]
    assert (gate_result.outcome, gate_result.why) == (
        "passed",
        "nothing was tested: neither run compacted anything",
    )
    some = pd.concat(
        [unscored, compactions.assign(value=pd.array([0.0, 1.0, 0.0], dtype="Float64"))]
    )
    assert gate(some, some, ASKED)[0].outcome == "undecided"


def test_a_project_with_many_sessions_decides_nothing_by_itself() -> None:
    one_project = {"project": ["one"] * 7 + ["two"]}
    new, old = scores(moved(-0.01)).assign(**one_project), scores(OLD).assign(**one_project)
    gate_result = gate(new, old, ASKED)[0]
    assert gate_result.outcome == "undecided" and "too few projects: 2" in gate_result.why
