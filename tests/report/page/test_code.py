"""Code beside names: in the first table of the page, in the terminal and in the differences."""

from __future__ import annotations

from functools import cache

import pytest
from planted_run import PlantedRun
from report.page.made import made, report_of

from workbench import Report
from workbench.cli.headline import show
from workbench.cli.headline_table import headline
from workbench.evaluation.findings.tables import Tables


def with_code(sessions: int) -> PlantedRun:
    """A run in which some sessions need lines of code, of which contexts have half as much as of
    names.
    """
    run = made(9)
    names = [
        row
        for row in run.rows["scores"]
        if row["metric"] == "exam_recall" and row["value"] is not None
    ]
    chosen = sorted({row["session"] for row in names})[:sessions]
    for row in names:
        value = row["value"] / 2 if row["session"] in chosen else None
        run.rows["scores"].append(row | {"metric": "code", "value": value})
    return run


@cache
def report_with_code(sessions: int) -> Report:
    """The report of such a run, made once for all tests."""
    return Report(with_code(sessions))


def test_both_tables_have_code_beside_names_where_any_session_needs_code() -> None:
    html = report_with_code(9).headline.html
    assert html.index(">Names</th>") < html.index(">Code</th>")
    same_size = html.partition("all cut to the same size")[2]
    assert same_size.index(">Names</th>") < same_size.index(">Code</th>")
    assert "edits or quotes" in html


def test_without_needs_of_code_there_is_no_column_of_it() -> None:
    assert "Code" not in report_with_code(0).headline.html
    assert "Code" not in report_of(9).headline.html


def test_the_mean_is_over_the_sessions_that_need_code_and_none_counts_as_zero() -> None:
    rows = {row["strategy"]: row for row in headline(report_with_code(4).findings)}
    assert rows["summarize"]["code"] == pytest.approx(rows["summarize"]["names"] / 2, abs=0.1)
    assert rows["summarize"]["code_own"] is not None


def test_the_terminal_shows_it_and_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show(report_with_code(9).findings)
    text = capsys.readouterr().out
    assert "Names and code" in text and "edited or quoted" in " ".join(text.split())


def test_strategies_are_not_ranked_by_code_even_where_nothing_else_has_a_value() -> None:
    run = with_code(9)
    for row in run.rows["scores"]:
        if row["metric"] == "exam_recall":
            row["value"] = None
    assert Tables.of(run).first_half == "exam_recall"


def test_code_is_compared_with_the_baseline_too() -> None:
    assert "Code, all cut to the same size" in report_with_code(9).differences.html
