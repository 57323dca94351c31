"""Jumbled lines, and the level of what is predicted: the tables of reports/studies/reader-guard."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from docs.looks import auc
from docs.test_reader_meaning import BY_A_MODEL, FITTED, HELD_OUT
from docs.test_reader_meaning import answers as studied_answers
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES
from workbench.lab.judge.work_exam.fit import logistic
from workbench.lab.judge.work_exam.graded_answers import read_answers

STUDIES = Path(__file__).parents[2] / "reports" / "studies"
STUDY = STUDIES / "reader-guard"
ORDERLY = [f"orderly_{name}" for name in FEATURES]
"""The features without the jumbled lines."""
JUMBLES = ("salad", "telegram")
READERS = ("as it ships", "means of the sheet", "who was the writer")
BY_A_RULE = "extractive"


def neg_log_likelihood(margins: np.ndarray, scores: np.ndarray) -> float:
    return float((np.logaddexp(0, margins) - scores * margins).mean())


@cache
def salads() -> pd.DataFrame:
    """The answers of the study of salads, with the margins of a reader that was fitted without
    their project: of all lines, and without the jumbled ones.
    """
    rows = pd.read_csv(STUDY / "salads.csv.gz", keep_default_na=False)
    fitted = read_answers([STUDIES / FITTED])
    rows["margin"] = rows["orderly"] = 0.0
    for project in rows["project"].unique():
        others = fitted[fitted["project"] != project]
        values = others[list(FEATURES)].to_numpy(dtype=np.float64)
        weights, bias = logistic(values, others["score"].to_numpy(dtype=np.float64))
        is_project = rows["project"] == project
        rows.loc[is_project, "margin"] = rows.loc[is_project, list(FEATURES)] @ weights + bias
        rows.loc[is_project, "orderly"] = rows.loc[is_project, ORDERLY].to_numpy() @ weights + bias
    return rows.assign(is_fitted=rows["project"].isin(fitted["project"]))


def factor(rows: pd.DataFrame) -> float:
    """What jumbled lines count for, by some answers."""
    orderly, margins = rows["orderly"].to_numpy(), rows["margin"].to_numpy()
    scores = rows["score"].to_numpy()

    def loss(share: float) -> float:
        return neg_log_likelihood(orderly + share * (margins - orderly), scores)

    return float(minimize_scalar(loss, bounds=(0, 1.2), method="bounded").x)


def jumbles() -> pd.DataFrame:
    rows = salads()
    return rows[rows["strategy"].isin(JUMBLES) & rows["is_fitted"]]


@cache
def with_guard() -> pd.DataFrame:
    """The same with chances by a factor that was fitted without the project as well."""
    rows = salads().copy()
    rows["chance"] = expit(rows["margin"])
    rows["guarded"] = 0.0
    for project in rows["project"].unique():
        share = factor(jumbles()[jumbles()["project"] != project])
        of_project = rows[rows["project"] == project]
        mixed = of_project["orderly"] + share * (of_project["margin"] - of_project["orderly"])
        rows.loc[of_project.index, "guarded"] = expit(mixed)
    return rows


def salad_rows() -> list[str]:
    lines = []
    for (strategy, is_fitted), rows in with_guard().groupby(["strategy", "is_fitted"]):
        cells = [
            f"`{strategy}`",
            "the fit's ten" if is_fitted else "six others",
            f"{rows['score'].mean():.2f}",
            f"{rows['chance'].mean() - rows['score'].mean():+.2f}",
            f"{rows['guarded'].mean() - rows['score'].mean():+.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def added_columns(reader: str) -> pd.DataFrame:
    """What a reader looks at beside today's features."""
    rows = studied_answers()
    context = [rows[name] for name in ("study", "session", "share", "strategy", "writer")]
    added: dict[str, pd.Series] = {}
    if "sheet" in reader:
        for name in FEATURES:
            added[f"sheet_{name}"] = rows[name].groupby(context).transform("mean")
    if "writer" in reader:
        added["by_a_model"] = (rows["writer"] == BY_A_MODEL).astype(float)
        added["by_a_rule"] = (rows["writer"] == BY_A_RULE).astype(float)
    return pd.DataFrame(added, index=rows.index)


@cache
def levels(reader: str) -> pd.DataFrame:
    """All answers of the studies with their chances, by a reader that was fitted without the
    answer's project.
    """
    rows = studied_answers()
    values = pd.concat([rows[list(FEATURES)], added_columns(reader)], axis=1)
    values = values.to_numpy(dtype=np.float64)
    scores = rows["score"].to_numpy(dtype=np.float64)
    is_fitted = (rows["study"] == FITTED).to_numpy()
    chances = np.zeros(len(rows))
    groups = rows["project"].where(rows["project"].isin(rows["project"][is_fitted]), "of no fit")
    for group in groups.unique():
        is_left_out = (groups == group).to_numpy()
        is_used = is_fitted & ~is_left_out
        weights, bias = logistic(values[is_used], scores[is_used])
        chances[is_left_out] = expit(values[is_left_out] @ weights + bias)
    return rows.assign(chance=chances)


def loss(reader: str, *studies: str) -> float:
    rows = levels(reader)
    rows = rows[rows["study"].isin(studies)]
    return neg_log_likelihood(logit(rows["chance"].to_numpy()), rows["score"].to_numpy())


def too_high(reader: str, study: str, writer: str) -> float:
    rows = levels(reader)
    rows = rows[(rows["study"] == study) & (rows["writer"] == writer)]
    return float((rows["chance"] - rows["score"]).mean())


def level_rows() -> list[str]:
    lines = []
    for reader in READERS:
        fitted = levels(reader)
        fitted = fitted[fitted["study"] == FITTED]
        cells = [
            reader,
            f"{auc(fitted['chance'].to_numpy(), fitted['score'].to_numpy()):.3f}",
            f"{loss(reader, FITTED):.4f}",
            f"{loss(reader, *HELD_OUT):.4f}",
        ]
        for study in (FITTED, *HELD_OUT):
            biases = [too_high(reader, study, writer) for writer in (BY_A_MODEL, BY_A_RULE)]
            cells.append(", ".join(f"{bias:+.2f}" for bias in biases))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


@pytest.mark.parametrize(
    ("table", "rows"), [("reader-guard", salad_rows), ("reader-level", level_rows)]
)
def test_the_page_has_the_rows_of_the_answers(table: str, rows: object) -> None:
    assert callable(rows)
    page = (STUDY / "README.md").read_text("utf-8")
    text = page.partition(f"<!-- {table} -->\n")[2].partition(f"<!-- end of {table} -->")[0]
    assert text.splitlines()[2:] == rows()


def test_the_factor_that_ships_is_that_of_the_ten_projects() -> None:
    assert round(factor(jumbles()), 2) == 0.64


def test_salads_and_telegrams_are_promised_little_too_much() -> None:
    rows = with_guard()
    for _, group in rows[rows["strategy"].isin(JUMBLES)].groupby(["strategy", "is_fitted"]):
        assert abs((group["guarded"] - group["score"]).mean()) <= 0.05


def test_no_such_column_predicts_better_by_more_than_the_choice_of_recordings_does() -> None:
    for reader in READERS[1:]:
        assert loss(reader, FITTED) > 0.99 * loss(READERS[0], FITTED)
        assert loss(reader, *HELD_OUT) > 0.985 * loss(READERS[0], *HELD_OUT)


@pytest.mark.parametrize("reader", READERS)
def test_no_such_column_brings_a_models_summaries_of_the_third_look_within_the_bar(
    reader: str,
) -> None:
    assert too_high(reader, "third-look", BY_A_MODEL) < -0.05
