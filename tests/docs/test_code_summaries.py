"""The study of real summaries beside people's labels of needed code says what its rows say."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

STUDY = Path(__file__).parents[2] / "reports" / "studies" / "code-summaries"


@pytest.fixture(scope="module")
def study() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(STUDY / "code_summaries.py")))


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return pd.read_csv(STUDY / "rows" / "passages.csv")


def test_the_page_has_the_table_of_the_rows(study: SimpleNamespace) -> None:
    assert study.run(study.PARTS, study.PAGE, ["passages", "--check"]) == 0


def test_each_trajectory_has_all_contexts_at_its_boundary(
    study: SimpleNamespace, rows: pd.DataFrame
) -> None:
    places = rows.groupby(["session", "at"])["context"].apply(tuple).to_dict()
    assert places == dict.fromkeys(study.BOUNDARIES.items(), study.CONTEXTS)


@pytest.mark.parametrize("label", ["gold", "pairs"])
@pytest.mark.parametrize("preset", ["summarize", "claude_code"])
def test_labels_and_code_have_the_same_sign_for_a_models_summaries(
    study: SimpleNamespace, rows: pd.DataFrame, preset: str, label: str
) -> None:
    name = preset + study.BY_A_MODEL
    for measure in (label, "code"):
        assert study.leads_over_truncate(rows, name, measure).mean() > 0.05


@pytest.mark.parametrize(
    ("preset", "label", "alike", "told_apart"),
    [
        ("summarize", "gold", 6, 9),
        ("summarize", "pairs", 5, 9),
        ("claude_code", "gold", 5, 11),
        ("claude_code", "pairs", 5, 11),
    ],
)
def test_at_a_single_boundary_code_says_little(
    study: SimpleNamespace,
    rows: pd.DataFrame,
    preset: str,
    label: str,
    alike: int,
    told_apart: int,
) -> None:
    name = preset + study.BY_A_MODEL
    assert study.same_sign(rows, name, "code", label) == (alike, told_apart)


@pytest.mark.parametrize(
    ("preset", "measure", "interval"),
    [
        ("summarize", "gold", (0.00, 0.19)),
        ("summarize", "code", (-0.13, 0.31)),
        ("claude_code", "gold", (0.07, 0.29)),
        ("claude_code", "code", (-0.08, 0.42)),
    ],
)
def test_the_page_has_the_intervals_of_the_rows(
    study: SimpleNamespace,
    rows: pd.DataFrame,
    preset: str,
    measure: str,
    interval: tuple[float, float],
) -> None:
    assert study.lead_interval(rows, preset + study.BY_A_MODEL, measure) == interval


@pytest.mark.parametrize(
    ("measure", "label", "correlation"),
    [
        ("code", "gold", 0.44),
        ("code", "pairs", 0.50),
        ("exam", "gold", -0.20),
        ("presence", "gold", 0.02),
        ("bm25", "gold", -0.24),
    ],
)
def test_code_orders_contexts_more_like_the_labels_than_other_measures(
    study: SimpleNamespace, rows: pd.DataFrame, measure: str, label: str, correlation: float
) -> None:
    assert round(study.order_within_boundary(rows, measure, label), 2) == correlation
