"""A plain chart of each table, and what a notebook shows of a run."""

from __future__ import annotations

import pytest
from report.page.made import report_of

from builders import remembering, rules, said
from workbench import Report, Results, Session, UnknownName, compare
from workbench.evaluation.experiment.table_columns import COLUMNS

RULE = "Never push to the main branch without review."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run whose user set a rule at the very beginning."""
    messages = [rules("be brief"), said(RULE, "rule"), *remembering(20)]
    return compare(
        [Session.of(messages, id="chat")],
        strategies=("truncate",),
        window=4_000,
        shares=(0.2,),
        out=tmp_path_factory.mktemp("run"),
        quiet=True,
    )


@pytest.mark.parametrize("table", COLUMNS)
def test_each_table_has_a_chart_in_one_line(run: Results, table: str) -> None:
    chart = Report(run).plot(table)
    assert "<svg" in chart.drawing()["image/svg+xml"]


def test_a_table_that_no_run_has_is_refused(run: Results) -> None:
    with pytest.raises(UnknownName, match="no table is named"):
        Report(run).plot("rows")


def test_tables_say_their_units(run: Results) -> None:
    units = run.compactions.attrs["units"]
    assert (units["tokens_before"], units["usd"], units["seconds"]) == ("tokens", "USD", "s")
    assert "stages" not in units


def test_a_notebook_shows_the_decision_of_a_run(run: Results) -> None:
    page = run._repr_html_()
    assert page is not None and "truncate" in page and "<table" in page


def test_a_rule_that_went_with_the_oldest_messages_is_lost(run: Results) -> None:
    last = run.rules[run.rules["mode"] == "natural"].iloc[-1]
    assert (last["rule"], last["outcome"]) == (RULE.lower().rstrip("."), "lost")
    table = Report(run).rules
    assert table.data is not None and table.data.loc[0, "lost"] == 1
    assert "never push to the main branch" in table.html


def test_where_nobody_set_a_rule_a_sentence_says_so() -> None:
    assert "set no rule" in report_of().rules.html
