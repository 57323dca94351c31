"""The table of all presets with a real model's summaries says what the answers that ship say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest
from docs.looks import auc

from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.lab.judge.work_exam.fit import chances
from workbench.lab.judge.work_exam.graded_answers import read_answers, read_names

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "presets"
PAGES = {"study": STUDY / "README.md", "readme": ROOT / "README.md"}
COLUMNS = {"study": range(8), "readme": (0, 1, 3, 7)}
"""The columns that a page shows: the README leaves out what is not needed to choose."""
BEGIN, END = "<!-- presets -->\n", "<!-- end of presets -->"
READ_USD, WRITTEN_USD = 3.0, 15.0
"""Dollars for a million tokens, as providers list them for a model of the middle."""


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    """Answers about the work, with what the shipped reader predicts."""
    rows = read_answers([STUDY])
    return rows.assign(promised=chances(shipped_reader(), rows))


def table(answers: pd.DataFrame, columns: Iterable[int]) -> str:
    """The table's rows with these columns, the presets that tell most of the work first."""
    requests = pd.read_csv(STUDY / "requests.csv", index_col="preset")
    names = read_names([STUDY]).groupby("strategy")["score"].mean()
    means = (
        answers.groupby("strategy")[["score", "promised"]]
        .mean()
        .sort_values("score", ascending=False)
    )
    lines = []
    for preset, row in means.iterrows():
        request = requests.loc[preset]
        tokens_read = request["tokens_read"] / request["recordings"]
        tokens_written = request["tokens_written"] / request["recordings"]
        usd = (tokens_read * READ_USD + tokens_written * WRITTEN_USD) / 1e6
        known = (f"{row['score']:.2f}", f"{row['promised']:.2f}", f"{names[preset]:.2f}")
        asked = (
            f"{request['size_used']:.1%}",
            f"{tokens_read:,.0f}",
            f"{tokens_written:,.0f}",
            f"${usd:.3f}",
        )
        cells = (f"`{preset}`", *known, *asked)
        lines.append(f"| {' | '.join(cells[column] for column in columns)} |\n")
    return "".join(lines)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_rows_of_the_answers(page: str, answers: pd.DataFrame) -> None:
    text = PAGES[page].read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert "".join(text.splitlines(keepends=True)[2:]) == table(answers, COLUMNS[page])


def test_each_preset_was_read_in_ten_recordings(answers: pd.DataFrame) -> None:
    recordings = answers.groupby("strategy")["session"].nunique()
    assert len(recordings) >= 16
    assert (recordings == 10).all()


def test_the_reader_predicts_answers_that_it_was_not_fitted_to(answers: pd.DataFrame) -> None:
    assert auc(answers["promised"].to_numpy(), answers["score"].to_numpy()) > 0.8
