"""Statements that are there and false: which measures find them."""

from __future__ import annotations

from typing import Any

import pytest
from command import answer

ERRORS = ("stale", "reversed", "negated", "swapped")


def shares() -> dict[str, dict[str, Any]]:
    """The rows of `workbench lab validate errors` of one history, by category."""
    rows = answer("lab", "validate", "errors", "--seeds", 1)["rows"]
    return {row["category"]: row for row in rows}


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    return shares()


def test_true_statements_in_other_words_are_known(found: dict[str, dict[str, Any]]) -> None:
    assert found["intact"]["exam"] >= 0.95


@pytest.mark.parametrize("error", ERRORS)
def test_each_kind_of_planted_error_is_found(found: dict[str, dict[str, Any]], error: str) -> None:
    assert found[error]["exam"] >= 0.9


def test_presence_finds_no_swapped_and_no_reversed_statement(
    found: dict[str, dict[str, Any]],
) -> None:
    assert found["swapped"]["presence"] == found["reversed"]["presence"] == 0


def test_equal_seeds_plant_equal_errors(found: dict[str, dict[str, Any]]) -> None:
    assert shares() == found
