"""The table about chains of compactions says what the answers that ship say."""

from pathlib import Path

import pandas as pd
import pytest
from docs.looks import auc

from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.lab.judge.work_exam.fit import chances
from workbench.lab.judge.work_exam.graded_answers import read_answers

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "reports" / "studies"
PAGE = STUDIES / "chains" / "README.md"
BEGIN, END = "<!-- chains -->\n", "<!-- end of chains -->"
WRITERS = {"extractive": "a rule", "folder:summaries": "a real model", "": ""}
CONTEXT = ["strategy", "writer"]


@pytest.fixture(scope="module")
def in_chains() -> pd.DataFrame:
    """Answers from contexts of three compactions, with what the shipped reader predicts."""
    answers = read_answers([STUDIES / "chains"])
    return answers.assign(promised=chances(shipped_reader(), answers))


@pytest.fixture(scope="module")
def table(in_chains: pd.DataFrame) -> str:
    """The table's rows, the contexts that tell most first."""
    of_one = read_answers([STUDIES / "real-readers"])
    same_places = of_one["session"].isin(in_chains["session"]) & (of_one["share"] == 0.1)
    once = of_one[same_places].groupby(CONTEXT)["score"].mean()
    means = (
        in_chains.groupby(CONTEXT)[["score", "promised"]]
        .mean()
        .sort_values("score", ascending=False)
    )
    lines = []
    for (strategy, writer), row in means.iterrows():
        figures = f"{once[strategy, writer]:.2f} | {row['score']:.2f} | {row['promised']:.2f}"
        lines.append(f"| `{strategy}` | {WRITERS[writer]} | {figures} |\n")
    return "".join(lines)


def test_the_page_has_the_rows_of_the_answers(table: str) -> None:
    text = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert "".join(text.splitlines(keepends=True)[2:]) == table


def test_the_reader_predicts_answers_from_chains_which_it_was_not_fitted_to(
    in_chains: pd.DataFrame,
) -> None:
    assert set(in_chains["chain"]) == {3}
    assert auc(in_chains["promised"].to_numpy(), in_chains["score"].to_numpy()) > 0.95


def test_three_compactions_cost_a_real_model_less_than_a_rule(in_chains: pd.DataFrame) -> None:
    of_one = read_answers([STUDIES / "real-readers"])
    once = of_one[of_one["session"].isin(in_chains["session"]) & (of_one["share"] == 0.1)]
    lost = {}
    for writer in ("folder:summaries", "extractive"):
        summaries = once[
            (once["writer"] == writer) & once["strategy"].isin(["summarize", "claude_code"])
        ]
        lost[writer] = (
            summaries["score"].mean() - in_chains[in_chains["writer"] == writer]["score"].mean()
        )
    assert lost["folder:summaries"] < lost["extractive"]
