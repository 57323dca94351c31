"""Salads and telegrams, which no agent writes, read by a real model."""

from __future__ import annotations

import pandas as pd
import pytest
from docs.looks import look, measured_rows, shown_rows

WITHOUT_FIT = {"cipher-box", "nimbus", "pup-mcp", "rec"}
"""Projects of which the fit has no answer."""


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    return look("salads")


def too_high(answers: pd.DataFrame, strategy: str) -> float:
    of_strategy = answers[answers["strategy"] == strategy]
    return round(float((of_strategy["promised"] - of_strategy["score"]).mean()), 2)


def test_the_page_has_the_rows_of_the_answers(answers: pd.DataFrame) -> None:
    assert shown_rows("salads") == measured_rows(answers)


def test_a_salad_is_promised_little_more_than_real_readers_get(answers: pd.DataFrame) -> None:
    assert too_high(answers, "salad") == 0.02
    assert too_high(answers, "telegram") == 0.03
    assert abs(too_high(answers, "truncate")) <= 0.02


def test_on_sessions_outside_of_the_fit_a_salad_is_promised_little_too_little(
    answers: pd.DataFrame,
) -> None:
    outside = answers[answers["project"].isin(WITHOUT_FIT)]
    assert too_high(outside, "salad") == -0.02
    assert too_high(outside, "telegram") == 0.01
