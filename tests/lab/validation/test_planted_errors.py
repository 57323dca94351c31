from __future__ import annotations

import pandas as pd
import pytest

from workbench.lab.validation.answers.agreement import by_category
from workbench.lab.validation.answers.exams import verdicts
from workbench.lab.validation.planted_errors import planted_errors

ERRORS = ("stale", "reversed", "negated", "swapped")


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    return by_category(verdicts(planted_errors((7,)))).set_index("category")


def test_true_statements_in_other_words_are_known(found: pd.DataFrame) -> None:
    assert found.loc["intact", "exam"] >= 0.95


@pytest.mark.parametrize("error", ERRORS)
def test_each_kind_of_planted_error_is_found(found: pd.DataFrame, error: str) -> None:
    assert found.loc[error, "exam"] >= 0.9


def test_presence_finds_no_swapped_and_no_reversed_statement(found: pd.DataFrame) -> None:
    assert found.loc[["swapped", "reversed"], "presence"].max() == 0


def test_equal_seeds_plant_equal_errors() -> None:
    assert planted_errors((3,)) == planted_errors((3,))
