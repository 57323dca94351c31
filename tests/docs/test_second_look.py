"""The second look: recordings that the reader was neither fitted nor tried on, read once after
all was frozen.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from docs.looks import (
    MODEL,
    PRESETS,
    RULE,
    STRATEGIES,
    SUMMARIES,
    auc,
    level_errors,
    look,
    measured_rows,
    pairs_alike,
    predicted,
    real_mean,
    shipped_errors,
    shown_rows,
)


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    return look("second-look")


def test_the_page_has_the_rows_of_the_answers(answers: pd.DataFrame) -> None:
    assert shown_rows("second-look") == measured_rows(answers)


def test_single_answers_are_predicted(answers: pd.DataFrame) -> None:
    assert round(auc(answers["promised"].to_numpy(), answers["score"].to_numpy()), 2) == 0.96


def test_strategies_are_ordered_as_real_readers_order_them(answers: pd.DataFrame) -> None:
    assert pairs_alike(answers) == (98, 102)


def test_the_level_is_too_low_and_the_page_says_by_how_much(answers: pd.DataFrame) -> None:
    errors = level_errors(answers)
    assert (errors[MODEL], errors[RULE]) == (-0.20, -0.15)
    assert max(map(abs, errors.values())) == 0.2


@pytest.mark.parametrize(("strategy", "writer"), STRATEGIES)
def test_the_interval_of_a_level_holds_the_real_one_without_these_answers_in_it(
    answers: pd.DataFrame, strategy: str, writer: str
) -> None:
    """The errors of other askers alone: this study's own are left out."""
    errors = shipped_errors()
    without_these = replace(errors, by_asker=errors.by_asker[1:])
    level = without_these.score(predicted(answers, strategy, writer))
    assert level.low < real_mean(answers, strategy, writer) < level.high


@pytest.mark.parametrize(("strategy", "writer"), SUMMARIES)
def test_the_interval_of_a_lead_over_truncation_holds_the_real_lead(
    answers: pd.DataFrame, strategy: str, writer: str
) -> None:
    errors = shipped_errors()
    lead = errors.lead(predicted(answers, strategy, writer), predicted(answers, "truncate", ""))
    real = real_mean(answers, strategy, writer) - real_mean(answers, "truncate", "")
    assert lead.low < real < lead.high


@pytest.mark.parametrize("strategy", PRESETS)
def test_the_interval_of_a_models_lead_over_a_rule_holds_the_real_lead(
    answers: pd.DataFrame, strategy: str
) -> None:
    errors = shipped_errors()
    lead = errors.lead(predicted(answers, strategy, MODEL), predicted(answers, strategy, RULE))
    real = real_mean(answers, strategy, MODEL) - real_mean(answers, strategy, RULE)
    assert lead.low < real < lead.high
