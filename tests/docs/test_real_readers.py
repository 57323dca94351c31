"""The tables about real readers say what the answers that ship say."""

from pathlib import Path

import pytest

from workbench.judge.work_exam.fit import chances, fit, fit_report, left_out_chances, read_answers, read_names
from workbench.metrics.work_exam.fitted_reader import shipped_reader

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "real-readers"
BEGIN, END = "<!-- real-readers -->\n", "<!-- end of real-readers -->"
WRITERS = {"extractive": "a rule", "folder:summaries": "a real model", "": ""}


def rows() -> str:
    """The table's rows, the contexts that tell most first."""
    answers = read_answers([STUDY])
    report = fit_report(answers, left_out_chances(answers))
    names = read_names([STUDY]).groupby(["share", "strategy", "writer"])["score"].mean()
    ordered = report.by_context.sort_values(["share", "real"], ascending=[True, False])
    lines = []
    for row in ordered.itertuples():
        name = names[row.share, row.strategy, row.writer]
        figures = f"{row.real:.2f} | {row.promised:.2f} | {name:.2f}"
        lines.append(f"| {row.share * 100:.0f} % | `{row.strategy}` | {WRITERS[row.writer]} | {figures} |\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def table() -> str:
    return rows()


@pytest.mark.parametrize("page", [STUDY / "README.md", ROOT / "docs" / "work-exam.md"], ids=["study", "docs"])
def test_a_page_has_the_rows_of_the_answers(page: Path, table: str) -> None:
    shown = page.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert "".join(shown.splitlines(keepends=True)[2:]) == table


def test_the_reader_that_ships_is_fitted_to_these_answers() -> None:
    answers = read_answers([STUDY])
    shipped, fitted = shipped_reader(), fit(answers, {})
    assert chances(shipped, answers) == pytest.approx(chances(fitted, answers), abs=0.01)
    assert shipped.fitted_on["answers"] == len(answers)
