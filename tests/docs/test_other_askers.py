"""What questions of other askers say of the reader's level, and that its intervals hold this."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from docs.looks import auc

from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import PredictedContext, ReaderErrors
from workbench.evaluation.metrics.work_exam.text_kind import text_kind
from workbench.lab.judge.work_exam.fit import asker_errors, chances, fit
from workbench.lab.judge.work_exam.graded_answers import read_answers

REFERENCES = ("none", "null", "oracle", "soup", "index", "salad")

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "reports" / "studies"
PAGE = STUDIES / "other-askers" / "README.md"
BEGIN, END = "<!-- other-askers -->\n", "<!-- end of other-askers -->"
ASKERS = {
    "second-look": "those of the second look",
    "other-askers/first": "others",
    "other-askers/second": "others, told to ask what was really needed",
}
"""In the order in which `workbench lab judge fit` was given them."""
KINDS = ("model", "rule", "cut")


@cache
def fitted_to() -> pd.DataFrame:
    return read_answers([STUDIES / "real-readers"])


@cache
def predicted(asker: str) -> pd.DataFrame:
    """The answers to an asker's questions, with what a reader predicts that was fitted without
    their projects.
    """
    answers = read_answers([STUDIES / asker])
    of_others = fitted_to()[~fitted_to()["project"].isin(answers["project"])]
    return answers.assign(promised=chances(fit(of_others, {}), answers))


def table() -> str:
    lines = []
    for asker, words in ASKERS.items():
        answers = predicted(asker)
        errors = pd.DataFrame(asker_errors(fitted_to(), read_answers([STUDIES / asker]))).mean()
        text = " | ".join(f"{errors[kind]:+.2f}" for kind in KINDS)
        area = auc(answers["promised"].to_numpy(), answers["score"].to_numpy())
        lines.append(
            f"| {words} | {answers['project'].nunique()} | {len(answers)} | {area:.2f} | {text} |\n"
        )
    return "".join(lines)


@cache
def errors() -> ReaderErrors:
    check = shipped_reader().left_out
    assert check is not None
    return check.errors


def test_the_page_has_the_rows_of_the_answers() -> None:
    text = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert "".join(text.splitlines(keepends=True)[2:]) == table()


@pytest.mark.parametrize("number", range(3))
def test_the_reader_that_ships_keeps_these_errors(number: int) -> None:
    answers = read_answers([STUDIES / list(ASKERS)[number]])
    kept = asker_errors(fitted_to(), answers)
    assert errors().by_asker[number] == tuple(pytest.approx(error, abs=0.001) for error in kept)


def real_levels_held(asker: str, reader: ReaderErrors) -> list[bool]:
    """For each strategy whether the interval of its level holds what real readers gave."""
    strategies = predicted(asker)[~predicted(asker)["strategy"].isin(REFERENCES)]
    are_held = []
    for (_, writer), rows in strategies.groupby(["strategy", "writer"]):
        projects = rows.groupby("project")[["promised", "score"]].mean()
        kind = text_kind(str(writer))
        contexts = [
            PredictedContext(str(name), kind, chance)
            for name, chance in projects["promised"].items()
        ]
        level = reader.score(contexts)
        are_held.append(bool(level.low <= projects["score"].mean() <= level.high))
    return are_held


def test_the_intervals_of_levels_hold_an_askers_real_ones_by_the_errors_of_the_other_askers() -> (
    None
):
    are_held: list[bool] = []
    for number, asker in enumerate(ASKERS):
        others = errors().by_asker[:number] + errors().by_asker[number + 1 :]
        are_held += real_levels_held(asker, replace(errors(), by_asker=others))
    assert (sum(are_held), len(are_held)) == (26, 26)


def test_errors_of_projects_alone_did_not_hold_them() -> None:
    are_held = [
        held for asker in ASKERS for held in real_levels_held(asker, replace(errors(), by_asker=()))
    ]
    assert (sum(are_held), len(are_held)) == (18, 26)
