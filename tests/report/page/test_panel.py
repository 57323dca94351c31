"""The panel in words: the disagreement first, then the rank."""

from __future__ import annotations

import pandas as pd
import pytest
from planted_run import PlantedRun
from report.page.made import made, report_of, with_recorded

from workbench import Findings, Report


def with_phrases(turned: bool) -> PlantedRun:
    """A run in which another metric says what the exam says, or the opposite."""
    run = made(9)
    for row in [row for row in run.rows["scores"] if row["metric"] == "exam_recall"]:
        run.rows["scores"].append(
            row | {"metric": "phrase_recall", "value": abs(turned - row["value"])}
        )
    return run


def panel_table(report: Report) -> pd.DataFrame:
    table = report.panel.data
    assert table is not None
    return table


def test_a_panel_that_agrees_gives_the_rank() -> None:
    report = Report(with_phrases(turned=False))
    ranks = panel_table(report).set_index("strategy")["rank"].to_dict()
    assert ranks == {
        "summarize": 1,
        "pipeline": 2,
        "truncate": 3,
    }
    words = report.findings.panel_words
    assert "rank summarize before pipeline before truncate" in words and "level" not in words


def test_a_rank_among_strategies_that_the_verdict_calls_level_says_so_and_by_what() -> None:
    made_run = with_phrases(turned=False)
    exam = {
        (row["session"], row["mode"], row["share"]): row["value"]
        for row in made_run.rows["scores"]
        if row["metric"] == "exam_recall" and row["strategy"] == "summarize"
    }
    for row in made_run.rows["scores"]:
        if row["metric"] == "exam_recall" and row["strategy"] == "pipeline":
            odd = int(row["session"][-1]) % 2
            row["value"] = exam[row["session"], row["mode"], row["share"]] + (
                0.02 if odd else -0.02
            )
    findings = Findings.of(made_run)
    assert "do not differ significantly" in str(findings.verdict)
    panel = findings.figures.panel
    assert panel is not None and panel.rank["summarize"] < panel.rank["pipeline"]
    words = findings.panel_words
    assert "In names summarize and pipeline are level, as said above" in words
    assert "What ranks them here is phrases (summarize before pipeline), not corrected" in words


def test_a_panel_that_disagrees_says_so_first_and_ranks_nobody_that_it_disputes() -> None:
    report = Report(with_phrases(turned=True))
    assert panel_table(report)["rank"].isna().all()
    html = report.panel.html
    text = html[html.index("<p>") :]
    assert (
        text.startswith("<p>The measures disagree about 3 pairs: ")
        and "in names" in text
        and "in phrases" in text
    )


def test_the_panels_means_are_the_headlines_figures() -> None:
    report = Report(with_phrases(turned=False))
    names = panel_table(report).set_index("strategy")["exam_recall"]
    for strategy, mean in names.items():
        headline = report.findings.tables.best_recall(str(strategy), "exam_recall")
        assert headline is not None and mean == pytest.approx(headline.mean)
    assert "plain mean" not in report.panel.html


def test_the_agents_own_compaction_is_at_no_common_size_and_has_no_rank() -> None:
    report = Report(with_recorded(9))
    figures = report.figures
    assert "recorded" in figures.strategies
    assert "recorded" not in set(panel_table(report)["strategy"])
    assert "recorded" not in {*figures.integrity["strategy"], *figures.by_session["strategy"]}
    assert "recorded" not in report.by_session.html


def test_three_sessions_are_too_few_for_a_rank() -> None:
    assert "to rank the strategies" in report_of(3).panel.html
    assert report_of(3, strategies=("none", "null", "truncate")).panel.html == ""
