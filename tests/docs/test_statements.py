"""How far a recording's own statements stand in for written questions: the table is that of the
rows that ship.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "statements"
PAGE = STUDY / "README.md"
BEGIN, END = "<!-- statements -->\n", "<!-- end of statements -->"
APART = 0.1
"""How far real readers hold two contexts apart that are to be ordered."""
REFERENCES = ("null", "soup", "oracle", "index")


@pytest.fixture(scope="module")
def contexts() -> pd.DataFrame:
    """A row a context of a strategy: what real readers knew, and what was predicted from both
    kinds of questions.
    """
    rows = pd.read_csv(STUDY / "contexts.csv", keep_default_na=False)
    return rows[~rows["strategy"].isin(REFERENCES)]


def ordered_alike(contexts: pd.DataFrame, measure: str) -> tuple[int, float]:
    """How many pairs of a boundary real readers hold apart, and which share of them a measure
    orders alike.
    """
    pairs = alike = 0
    for _, rows in contexts.groupby(["session", "at"]):
        for first, second in combinations(rows.to_dict("records"), 2):
            lead = first["real"] - second["real"]
            if abs(lead) >= APART:
                pairs += 1
                alike += lead * (first[measure] - second[measure]) > 0
    return pairs, alike / pairs


def table(contexts: pd.DataFrame) -> str:
    """The table's rows."""
    without_model = contexts[contexts["writer"] != "model"]
    lines = []
    for words, rows in {"cut, or written by a rule": without_model, "all": contexts}.items():
        pairs, statements = ordered_alike(rows, "statements")
        _, written = ordered_alike(rows, "written")
        lines.append(f"| {words} | {pairs} | {statements:.2f} | {written:.2f} |\n")
    return "".join(lines)


def test_the_page_has_the_rows_of_the_contexts(contexts: pd.DataFrame) -> None:
    text = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert "".join(text.splitlines(keepends=True)[2:]) == table(contexts)


def test_statements_give_a_models_own_words_too_little_and_copied_lines_too_much(
    contexts: pd.DataFrame,
) -> None:
    errors = (contexts["statements"] - contexts["real"]).groupby(contexts["writer"]).mean()
    assert errors["extractive"] > 0.05
    assert errors["model"] < -0.05
