"""The second look: recordings that the reader was neither fitted nor tried on, read once after all was frozen."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from workbench.judge.work_exam.fit import auc, chances, read_answers
from workbench.metrics.work_exam.fitted_reader import shipped_reader

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "second-look"
PAGES = [STUDY / "README.md", ROOT / "docs" / "work-exam.md"]
BEGIN, END = "<!-- second-look -->\n", "<!-- end of second-look -->"
WRITERS = {"extractive": "a rule", "folder:summaries": "a real model", "": ""}
CONTEXT = ["strategy", "writer"]
REFERENCES = ("null", "soup", "oracle", "index")
APART = 0.1
"""How far real readers hold two contexts apart that are to be ordered."""


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    """Answers about the work, with what the shipped reader foretells."""
    rows = read_answers([STUDY])
    return rows.assign(promised=chances(shipped_reader(), rows))


def table(answers: pd.DataFrame) -> str:
    """The table's rows, the contexts that tell most first."""
    means = answers.groupby(CONTEXT)[["score", "promised"]].mean().sort_values("score", ascending=False)
    lines = []
    for (strategy, writer), row in means.iterrows():
        lines.append(f"| `{strategy}` | {WRITERS[writer]} | {row['score']:.2f} | {row['promised']:.2f} |\n")
    return "".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=["study", "docs"])
def test_a_page_has_the_rows_of_the_answers(page: Path, answers: pd.DataFrame) -> None:
    shown = page.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert "".join(shown.splitlines(keepends=True)[2:]) == table(answers)


def test_single_answers_are_foretold(answers: pd.DataFrame) -> None:
    assert round(auc(answers["promised"].to_numpy(), answers["score"].to_numpy()), 2) == 0.96


def test_strategies_are_ordered_as_real_readers_order_them(answers: pd.DataFrame) -> None:
    strategies = answers[~answers["strategy"].isin(REFERENCES)]
    pairs = alike = 0
    for _, rows in strategies.groupby("session"):
        means = rows.groupby(CONTEXT)[["score", "promised"]].mean()
        for first, second in combinations(means.to_dict("records"), 2):
            lead = first["score"] - second["score"]
            if abs(lead) >= APART:
                pairs += 1
                alike += lead * (first["promised"] - second["promised"]) > 0
    assert (alike, pairs) == (98, 102)


def test_the_level_is_too_low_and_the_page_says_by_how_much(answers: pd.DataFrame) -> None:
    errors = (answers["promised"] - answers["score"]).groupby(answers["writer"]).mean()
    assert round(errors["folder:summaries"], 2) == -0.20
    assert round(errors["extractive"], 2) == -0.15
