"""The second look: recordings that the reader was neither fitted nor tried on, read once after all was frozen."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from workbench.judge.work_exam.fit import auc, chances, read_answers
from workbench.metrics.work_exam.fitted_reader import shipped_reader
from workbench.metrics.work_exam.reader_error import ForetoldContext, text_kind
from workbench.report.readers import LEVEL_ERROR

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "second-look"
PAGE = STUDY / "README.md"
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


def test_the_page_has_the_rows_of_the_answers(answers: pd.DataFrame) -> None:
    shown = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
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
    assert round(errors.abs().max(), 2) == LEVEL_ERROR


def foretold(answers: pd.DataFrame, strategy: str, writer: str) -> list[ForetoldContext]:
    """The contexts of a strategy by a writer, one a project."""
    rows = answers[(answers["strategy"] == strategy) & (answers["writer"] == writer)]
    kind = text_kind(writer)
    return [
        ForetoldContext(str(project), kind, chance)
        for project, chance in rows.groupby("project")["promised"].mean().items()
    ]


def mean_score(answers: pd.DataFrame, strategy: str, writer: str) -> float:
    """What real readers knew, each project with the same weight."""
    rows = answers[(answers["strategy"] == strategy) & (answers["writer"] == writer)]
    return float(rows.groupby("project")["score"].mean().mean())


STRATEGIES = [
    ("claude_code", "folder:summaries"),
    ("summarize", "folder:summaries"),
    ("docker_agent", "folder:summaries"),
    ("claude_code", "extractive"),
    ("summarize", "extractive"),
    ("docker_agent", "extractive"),
    ("learned", ""),
    ("truncate", ""),
]


@pytest.mark.parametrize(("strategy", "writer"), STRATEGIES)
def test_the_interval_of_a_level_holds_the_real_one_without_these_answers_in_it(
    answers: pd.DataFrame, strategy: str, writer: str
) -> None:
    """The errors of other askers alone: this study's own are left out."""
    errors = shipped_reader().left_out.errors  # type: ignore[union-attr]
    without_these = replace(errors, by_asker=errors.by_asker[1:])
    level = without_these.score(foretold(answers, strategy, writer))
    assert level.low < mean_score(answers, strategy, writer) < level.high


@pytest.mark.parametrize("writer", ["folder:summaries", "extractive"])
@pytest.mark.parametrize("strategy", ["summarize", "claude_code", "docker_agent"])
def test_the_interval_of_a_lead_over_truncation_holds_the_real_lead(
    answers: pd.DataFrame, strategy: str, writer: str
) -> None:
    errors = shipped_reader().left_out.errors  # type: ignore[union-attr]
    lead = errors.lead(foretold(answers, strategy, writer), foretold(answers, "truncate", ""))
    real = mean_score(answers, strategy, writer) - mean_score(answers, "truncate", "")
    assert lead.low < real < lead.high


@pytest.mark.parametrize("strategy", ["summarize", "claude_code", "docker_agent"])
def test_the_interval_of_a_models_lead_over_a_rule_holds_the_real_lead(answers: pd.DataFrame, strategy: str) -> None:
    errors = shipped_reader().left_out.errors  # type: ignore[union-attr]
    lead = errors.lead(foretold(answers, strategy, "folder:summaries"), foretold(answers, strategy, "extractive"))
    real = mean_score(answers, strategy, "folder:summaries") - mean_score(answers, strategy, "extractive")
    assert lead.low < real < lead.high
