"""What the looks at new recordings have in common: what the reader predicts beside what real
readers knew.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import PredictedContext, ReaderErrors
from workbench.evaluation.metrics.work_exam.text_kind import text_kind
from workbench.lab.judge.work_exam.fit import chances
from workbench.lab.judge.work_exam.graded_answers import read_answers

STUDIES = Path(__file__).parents[2] / "reports" / "studies"
MODEL, RULE = "folder:summaries", "extractive"
WRITERS = {RULE: "a rule", MODEL: "a real model", "": ""}
CONTEXT = ["strategy", "writer"]
PRESETS = ("summarize", "claude_code", "docker_agent")
SUMMARIES = [(strategy, writer) for writer in (MODEL, RULE) for strategy in PRESETS]
STRATEGIES = [*SUMMARIES, ("learned", ""), ("truncate", "")]
REFERENCES = ("null", "soup", "oracle", "index")
APART = 0.1
"""How far real readers hold two contexts apart that are to be ordered."""


def auc(promised: np.ndarray, scores: np.ndarray) -> float:
    """How often a right answer has a higher chance than a wrong one; a tie counts a half."""
    right, wrong = promised[scores > 0.5], promised[scores < 0.5]
    wins = mannwhitneyu(right, wrong, method="asymptotic").statistic
    return float(wins / (len(right) * len(wrong)))


def look(name: str) -> pd.DataFrame:
    """The answers about the work in a study, with what the shipped reader predicts of them."""
    rows = read_answers([STUDIES / name])
    return rows.assign(promised=chances(shipped_reader(), rows))


def shipped_errors() -> ReaderErrors:
    """The errors that the shipped reader made on left-out projects."""
    left_out = shipped_reader().left_out
    assert left_out is not None
    return left_out.errors


def shown_rows(name: str) -> list[str]:
    """The rows of the table on the study's page."""
    page = (STUDIES / name / "README.md").read_text("utf-8")
    table = page.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end of {name} -->")[0]
    return table.splitlines()[2:]


def measured_rows(answers: pd.DataFrame) -> list[str]:
    """The same rows from the answers, the contexts that tell most first."""
    means = (
        answers.groupby(CONTEXT)[["score", "promised"]].mean().sort_values("score", ascending=False)
    )
    return [
        f"| `{strategy}` | {WRITERS[writer]} | {row['score']:.2f} | {row['promised']:.2f} |"
        for (strategy, writer), row in means.iterrows()
    ]


def pairs_alike(answers: pd.DataFrame) -> tuple[int, int]:
    """Of the pairs of strategies in a session that real readers hold apart: how many are
    predicted so, and how many.
    """
    strategies = answers[~answers["strategy"].isin(REFERENCES)]
    pairs = alike = 0
    for _, rows in strategies.groupby("session"):
        means = rows.groupby(CONTEXT)[["score", "promised"]].mean()
        for first, second in combinations(means.to_dict("records"), 2):
            lead = first["score"] - second["score"]
            if abs(lead) >= APART:
                pairs += 1
                alike += lead * (first["promised"] - second["promised"]) > 0
    return alike, pairs


def level_errors(answers: pd.DataFrame) -> dict[str, float]:
    """What is promised less what is real, by who wrote the summaries."""
    return dict((answers["promised"] - answers["score"]).groupby(answers["writer"]).mean().round(2))


def predicted(answers: pd.DataFrame, strategy: str, writer: str) -> list[PredictedContext]:
    """The contexts of a strategy by a writer, one a project."""
    means = _of(answers, strategy, writer).groupby("project")["promised"].mean()
    return [
        PredictedContext(str(project), text_kind(writer), chance)
        for project, chance in means.items()
    ]


def real_mean(answers: pd.DataFrame, strategy: str, writer: str) -> float:
    """What real readers knew, each project with the same weight."""
    return float(_of(answers, strategy, writer).groupby("project")["score"].mean().mean())


def _of(answers: pd.DataFrame, strategy: str, writer: str) -> pd.DataFrame:
    return answers[(answers["strategy"] == strategy) & (answers["writer"] == writer)]
