"""The third look: sessions from elsewhere, read once after the reader was frozen."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from workbench.judge.work_exam.fit import auc, chances, read_answers
from workbench.metrics.work_exam.fitted_reader import shipped_reader
from workbench.metrics.work_exam.reader_error import ForetoldContext, text_kind

STUDY = Path(__file__).parents[2] / "reports" / "studies" / "third-look"
BEGIN, END = "<!-- third-look -->\n", "<!-- end of third-look -->"
MODEL, RULE = "folder:summaries", "extractive"
WRITERS = {RULE: "a rule", MODEL: "a real model", "": ""}
CONTEXT = ["strategy", "writer"]
REFERENCES = ("null", "soup", "oracle", "index")
APART = 0.1
"""How far real readers hold two contexts apart that are to be ordered."""
SUMMARIES = [
    (strategy, writer) for strategy in ("summarize", "claude_code", "docker_agent") for writer in (MODEL, RULE)
]


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    """Answers about the work, with what the shipped reader foretells."""
    rows = read_answers([STUDY])
    return rows.assign(promised=chances(shipped_reader(), rows))


def test_the_page_has_the_rows_of_the_answers(answers: pd.DataFrame) -> None:
    means = answers.groupby(CONTEXT)[["score", "promised"]].mean().sort_values("score", ascending=False)
    rows = [
        f"| `{strategy}` | {WRITERS[writer]} | {row['score']:.2f} | {row['promised']:.2f} |\n"
        for (strategy, writer), row in means.iterrows()
    ]
    shown = (STUDY / "README.md").read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert shown.splitlines(keepends=True)[2:] == rows


def test_single_answers_are_foretold(answers: pd.DataFrame) -> None:
    assert round(auc(answers["promised"].to_numpy(), answers["score"].to_numpy()), 2) == 0.97


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
    assert (alike, pairs) == (114, 115)


def test_the_level_of_a_models_summaries_is_too_low_and_that_of_others_is_not(answers: pd.DataFrame) -> None:
    errors = (answers["promised"] - answers["score"]).groupby(answers["writer"]).mean()
    assert {writer: round(error, 2) for writer, error in errors.items()} == {MODEL: -0.09, RULE: 0.02, "": 0.03}


def foretold(answers: pd.DataFrame, strategy: str, writer: str) -> list[ForetoldContext]:
    """The contexts of a strategy by a writer, one a project."""
    rows = answers[(answers["strategy"] == strategy) & (answers["writer"] == writer)]
    means = rows.groupby("project")["promised"].mean()
    return [ForetoldContext(str(project), text_kind(writer), chance) for project, chance in means.items()]


def real_mean(answers: pd.DataFrame, strategy: str, writer: str) -> float:
    """What real readers knew, each project with the same weight."""
    rows = answers[(answers["strategy"] == strategy) & (answers["writer"] == writer)]
    return float(rows.groupby("project")["score"].mean().mean())


@pytest.mark.parametrize(("strategy", "writer"), [*SUMMARIES, ("learned", ""), ("truncate", "")])
def test_the_interval_of_a_level_holds_the_real_one(answers: pd.DataFrame, strategy: str, writer: str) -> None:
    errors = shipped_reader().left_out.errors  # type: ignore[union-attr]
    level = errors.score(foretold(answers, strategy, writer))
    assert level.low < real_mean(answers, strategy, writer) < level.high


@pytest.mark.parametrize(("strategy", "writer"), SUMMARIES)
def test_the_interval_of_a_lead_over_truncation_holds_the_real_lead(
    answers: pd.DataFrame, strategy: str, writer: str
) -> None:
    errors = shipped_reader().left_out.errors  # type: ignore[union-attr]
    lead = errors.lead(foretold(answers, strategy, writer), foretold(answers, "truncate", ""))
    real = real_mean(answers, strategy, writer) - real_mean(answers, "truncate", "")
    assert lead.low < real < lead.high
