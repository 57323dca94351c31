"""The study of all real answers together says what the answers say."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

STUDY = Path(__file__).parents[2] / "reports" / "studies" / "reader-pooled"


@pytest.fixture(scope="module")
def study() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(STUDY / "reader_pooled.py")))


@pytest.fixture(scope="module")
def answers(study: SimpleNamespace) -> pd.DataFrame:
    table: pd.DataFrame = study.answers()
    return table


@pytest.mark.parametrize("part", ["reader-level-pooled", "reader-refit"])
def test_the_page_has_the_tables_of_the_answers(study: SimpleNamespace, part: str) -> None:
    assert study.run(study.PARTS, study.PAGE, [part, "--check"]) == 0


def test_the_page_says_how_much_was_pooled(study: SimpleNamespace, answers: pd.DataFrame) -> None:
    contexts = answers.groupby(["session", "at", "share", "strategy", "writer", "chain"]).ngroups
    text = f"{len(answers):,} answers from {contexts} contexts"
    assert text in study.PAGE.read_text("utf-8")


def test_the_level_of_the_third_look_could_be_luck_and_the_distance_from_a_rule_not(
    study: SimpleNamespace,
) -> None:
    assert round(study.chance_of_a_look("model"), 2) == 0.09
    assert study.chance_of_a_look("gap") < 0.001


def test_presets_that_were_written_by_both_have_the_same_distance(
    study: SimpleNamespace, answers: pd.DataFrame
) -> None:
    is_by_both = answers["strategy"].isin(["summarize", "claude_code", "docker_agent"])
    rows = answers[is_by_both & (answers["study"] != "presets")]
    distance = study.errors_by_project(rows, "fitted")["gap"]
    assert study.with_interval(distance) == "-0.05 (-0.07 to -0.02)"


def test_a_refit_predicts_left_out_projects_hardly_better(
    study: SimpleNamespace, answers: pd.DataFrame
) -> None:
    gains = study.gain_by_project(answers, "fitted", "pooled")
    assert study.with_interval(gains, 4) == "+0.0016 (+0.0002 to +0.0032)"
    assert (int((gains > 0).sum()), len(gains)) == (17, 31)


def test_a_refit_predicts_the_third_look_no_better(
    study: SimpleNamespace, answers: pd.DataFrame
) -> None:
    look = answers[answers["study"] == "third-look"]
    errors = [study.squared_errors(look, reader).mean() for reader in ("fitted", "pooled")]
    assert [round(error, 4) for error in errors] == [0.0705, 0.0710]


def test_a_bonus_for_a_models_summaries_predicts_left_out_projects_a_little_better(
    study: SimpleNamespace, answers: pd.DataFrame
) -> None:
    gains = study.gain_by_project(answers, "pooled", "bonus")
    assert study.with_interval(gains, 4) == "+0.0016 (+0.0002 to +0.0033)"
    assert (int((gains > 0).sum()), len(gains)) == (22, 31)


@pytest.mark.parametrize(
    ("strategy", "too_much"), [("soup", 0.12), ("index", 0.08), ("null", 0.08)]
)
def test_with_the_bonus_a_context_that_is_said_to_be_a_models_is_promised_too_much(
    answers: pd.DataFrame, strategy: str, too_much: float
) -> None:
    rows = answers[answers["strategy"] == strategy]
    assert round(float((rows["claimed"] - rows["score"]).mean()), 2) == too_much


def test_with_the_bonus_others_questions_have_a_larger_distance(
    study: SimpleNamespace, answers: pd.DataFrame
) -> None:
    for questions, before, after in (("first", 0.08, 0.15), ("second", -0.0, 0.09)):
        rows = answers[answers["study"] == f"other-askers/{questions}"]
        assert round(study.errors_by_project(rows, "fitted")["gap"].mean(), 2) == before
        assert round(study.errors_by_project(rows, "bonus")["gap"].mean(), 2) == after
