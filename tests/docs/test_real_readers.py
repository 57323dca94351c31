"""The tables about real readers say what the answers that ship say."""

from functools import cache
from pathlib import Path

import pytest

from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import PredictedContext, ReaderErrors
from workbench.evaluation.metrics.work_exam.text_kind import text_kind
from workbench.lab.judge.work_exam.fit import chances, fit, fit_report, left_out_chances
from workbench.lab.judge.work_exam.graded_answers import read_answers, read_names

REFERENCES = ("none", "null", "oracle", "soup", "index", "salad")

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "real-readers"
PAGE = STUDY / "README.md"
BEGIN, END = "<!-- real-readers -->\n", "<!-- end of real-readers -->"
WRITERS = {"extractive": "a rule", "folder:summaries": "a real model", "": ""}


graded_answers = cache(lambda: read_answers([STUDY]))
report = cache(lambda: fit_report(graded_answers(), left_out_chances(graded_answers())))
"""How the reader does on projects that were left out of the fit."""


def bias(strategy: str, share: float) -> float:
    rows = report().by_context
    row = rows[(rows["strategy"] == strategy) & (rows["share"] == share)].iloc[0]
    return float(row["promised"] - row["real"])


def rows() -> str:
    """The table's rows, the contexts that tell most first."""
    names = read_names([STUDY]).groupby(["share", "strategy", "writer"])["score"].mean()
    ordered = report().by_context.sort_values(["share", "real"], ascending=[True, False])
    lines = []
    for row in ordered.itertuples():
        name = names[row.share, row.strategy, row.writer]
        figures = f"{row.real:.2f} | {row.promised:.2f} | {name:.2f}"
        lines.append(
            f"| {row.share * 100:.0f} % | `{row.strategy}` | {WRITERS[row.writer]} | {figures} |\n"
        )
    return "".join(lines)


@pytest.fixture(scope="module")
def table() -> str:
    return rows()


def test_the_page_has_the_rows_of_the_answers(table: str) -> None:
    text = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert "".join(text.splitlines(keepends=True)[2:]) == table


def test_the_reader_that_ships_is_fitted_to_these_answers() -> None:
    answers = read_answers([STUDY])
    shipped, fitted = shipped_reader(), fit(answers, {})
    assert chances(shipped, answers) == pytest.approx(chances(fitted, answers), abs=0.01)
    assert shipped.fitted_on["answers"] == len(answers)
    assert shipped.left_out is not None
    assert shipped.left_out.auc == pytest.approx(report().auc, abs=0.001)
    assert shipped.left_out.errors.by_project == tuple(
        pytest.approx(errors, abs=0.001) for errors in report().errors.by_project
    )


def test_left_out_answers_are_predicted_about_as_well_as_a_second_reader_would() -> None:
    assert report().auc > 0.95
    assert report().order > 0.85
    assert report().largest_error < 0.05


def test_a_model_s_text_and_a_rule_s_are_read_alike() -> None:
    kinds = report().left_out.kinds
    assert all(abs(calibration.bias) < 0.05 for calibration in kinds.values())
    assert abs(kinds["model"].bias - kinds["rule"].bias) < 0.03


@pytest.mark.parametrize("gamer", ["soup", "index"])
def test_a_gamer_gets_at_most_five_points_more_than_from_real_readers(gamer: str) -> None:
    assert bias(gamer, 0.1) < 0.05


def test_the_interval_of_a_project_that_was_left_out_holds_what_real_readers_gave() -> None:
    """Of 168 scores of one project each, by the errors of the other 20 projects."""
    answers = read_answers([STUDY])
    rows = answers.assign(promised=left_out_chances(answers), kind=answers["writer"].map(text_kind))
    strategies = rows[(rows["share"] == 0.1) & ~rows["strategy"].isin(REFERENCES)]
    projects = sorted(rows["project"].unique())
    covered = []
    for project, errors in zip(projects, report().errors.by_project, strict=True):
        others = tuple(other for other in report().errors.by_project if other is not errors)
        reader = ReaderErrors(others, report().errors.context)
        of_project = strategies[strategies["project"] == project]
        for _, group in of_project.groupby(["strategy", "writer"]):
            contexts = group.groupby(["session", "kind"])[["promised", "score"]].mean()
            predicted = [
                PredictedContext(project, kind, row.promised)
                for (_, kind), row in contexts.iterrows()
            ]
            interval = reader.score(predicted)
            covered.append(interval.low <= contexts["score"].mean() <= interval.high)
    assert len(covered) == 168
    assert 0.9 <= sum(covered) / len(covered) <= 0.99
